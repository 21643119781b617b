# ONNX, GlobalMaxPool: the maximum of the values in a channel. The maximum of -Infinity alone is -Infinity.
import numpy as np

y = np.max(np.array([[[-np.inf, -np.inf]]], np.float32), axis=2, keepdims=True)
print("expected [1,1,1]", "-Infinity" if y[0, 0, 0] == -np.inf else y)
