"""numpy.matmul, which ONNX's MatMul follows."""
import numpy as np

print("expected", np.matmul(np.zeros((2, 0)), np.zeros((0, 3))).ravel().tolist())
