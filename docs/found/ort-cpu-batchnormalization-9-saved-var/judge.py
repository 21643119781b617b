# ONNX, BatchNormalization-9: saved_var is the variance that training keeps to speed up the gradient. The variance of 1
# and 5 is 4.
import numpy as np

print("expected [1]", int(np.var([1, 5])))
