# ONNX, QuantizeLinear: `precision` is the precision of the division of x by y_scale; 10 is float16.
import numpy as np

x = np.array([2049, -2051], np.float32)
quotient = x.astype(np.float16) / np.float16(1)
assert (quotient == (x / np.float32(1)).astype(np.float16)).all()  # rounding before or after: the same
print("expected [2]", *np.clip(np.rint(quotient), -32768, 32767).astype(np.int16))
