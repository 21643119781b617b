"""numpy.einsum, whose notation ONNX's Einsum takes: an axis of extent 1 is broadcast."""
import numpy as np

a = np.array([[1], [2]], np.float32)
b = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
print("expected", np.einsum("ij,ij->i", a, b).tolist())
