"""numpy.einsum, whose notation ONNX's Einsum takes."""
import numpy as np

x = np.arange(1, 9, dtype=np.float32).reshape(1, 2, 2, 2)
print("expected", np.einsum("a...c->c...a", x).ravel().tolist())
