"""log(exp(100) + exp(100)) in double, where exp(100) fits."""
import numpy as np

print("expected", float(np.log(np.exp([100.0, 100.0]).sum())))
