# ONNX, Gemm: Y = alpha * A * B + beta * C. The product of [2, 0] and [0, 3] is all zeros, so Y = beta * C.
import numpy as np

y = np.matmul(np.zeros((2, 0)), np.zeros((0, 3))) + 0.5 * np.array([2, 4, 6])
print("expected", list(y.shape), *y.ravel().astype(int))
