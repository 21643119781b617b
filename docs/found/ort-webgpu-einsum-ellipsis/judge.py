"""numpy.einsum, whose notation ONNX's Einsum takes."""
import numpy as np

x = np.arange(1, 9, dtype=np.float32).reshape(2, 2, 2)
print("expected", np.einsum("a...->a...", x).ravel().tolist())
