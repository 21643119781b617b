"""numpy.einsum, whose notation ONNX's Einsum takes: the axes of the dots are broadcast."""
import numpy as np

a = np.array([[1, 2], [3, 4]], np.float32)
b = np.array([[1, 10]], np.float32)
print("expected", np.einsum("...i,...i->...", a, b).tolist())
