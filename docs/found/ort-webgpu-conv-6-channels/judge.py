"""Conv as ONNX defines it, with a kernel of one element and stride 2: the first element of each channel counts."""
import numpy as np

x = np.arange(1, 25, dtype=np.float32).reshape(6, 2, 2)
weights = np.ones((4, 6), np.float32)
print("expected", (weights @ x[:, 0, 0]).tolist())
