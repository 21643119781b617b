"""The result has the shape of x, [0, 2]."""
import numpy as np

print("expected", np.zeros((0, 2)).ravel().tolist())
