# ONNX, QLinearMatMul: y = saturate(product of the dequantised matrices / y_scale + y_zero_point). Sums of no terms are
# 0, so each element is the zero point.
import numpy as np

scale, zeroPoint = np.float32(1), 100
product = np.matmul(np.zeros((2, 0)), np.zeros((0, 2)))
y = np.clip(np.rint(product / scale) + zeroPoint, 0, 255).astype(np.uint8)
print("expected", list(y.shape), *y.ravel())
