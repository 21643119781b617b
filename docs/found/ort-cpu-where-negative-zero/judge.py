# ONNX, Where: the elements of X or Y, depending on the condition. Selecting changes no bits.
import numpy as np

y = np.where([True, False], np.array([-0.0, 1], np.float32), np.array([2, 3], np.float32))
print("expected [2]", *("-0" if v == 0 and np.signbit(v) else int(v) for v in y))
