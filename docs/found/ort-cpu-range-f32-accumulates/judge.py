# ONNX, Range: max(ceil((limit - start) / delta), 0) elements; output[i] = start + (i * delta).
import numpy as np

start, limit, delta = np.float32(16777216), np.float32(16777222), np.float32(1)
n = max(int(np.ceil((limit - start) / delta)), 0)
y = [start + np.float32(i) * delta for i in range(n)]
print(f"expected [{n}]", *(int(v) for v in y))
