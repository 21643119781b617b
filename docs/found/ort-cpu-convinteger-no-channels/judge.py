# ONNX, ConvInteger: a convolution with sums in 32 bits. Without channels each sum is 0.
import numpy as np

y = np.einsum("nchw,mc->nmhw", np.zeros((1, 0, 2, 2), np.int32), np.zeros((2, 0), np.int32))
print("expected", list(y.shape), *y.ravel())
