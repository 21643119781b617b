"""Conv as ONNX defines it: each group of output channels reads its own group of input channels."""
import numpy as np

x = np.array([1, 10], np.float32)  # [1, 2, 1, 1]
weights = np.arange(1, 11, dtype=np.float32)  # [10, 1, 1, 1]
groups = 2
outputs_per_group = len(weights) // groups
print("expected", [float(weights[m] * x[m // outputs_per_group]) for m in range(len(weights))])
