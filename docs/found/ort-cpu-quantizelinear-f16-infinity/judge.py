# ONNX, QuantizeLinear: y = saturate(x / y_scale + y_zero_point); int8 saturates to [-128, 127].
import numpy as np

x = np.array([np.inf, -np.inf, 2], np.float16)
y = np.clip(np.rint(x / np.float16(1)), -128, 127).astype(np.int8)
print("expected [3]", *y)
