"""ConvTranspose as ONNX defines it, with a kernel of one element: each group sums its own input channels."""
import numpy as np

x = np.array([1, 10, 100, 1000], np.float32)  # [1, 4, 1, 1]
weights = np.ones(4, np.float32)  # [4, 1, 1, 1]
print("expected", (x * weights).reshape(2, 2).sum(axis=1).tolist())
