"""The two largest of each row, of which there are none."""
import numpy as np

print("expected", np.sort(np.zeros((0, 5)), axis=1)[:, :2].ravel().tolist())
