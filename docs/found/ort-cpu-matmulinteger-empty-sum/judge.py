# ONNX, MatMulInteger: the matrix product of numpy.matmul, here with an inner extent of 0. A sum of no terms is 0.
import numpy as np

y = np.matmul(np.zeros((2, 0), np.int32), np.zeros((0, 2), np.int32))
print("expected", list(y.shape), *y.ravel())
