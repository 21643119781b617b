"""BatchNormalization as ONNX defines it: (x - mean) / sqrt(variance + epsilon) * scale + bias of the one channel."""
import numpy as np

x = np.array([1, 2, 3], np.float32)
print("expected", ((x - 0) / np.sqrt(1.0) * 2 + 1).tolist())
