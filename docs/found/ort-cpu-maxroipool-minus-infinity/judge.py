# ONNX, MaxRoiPool: the maximum of the values in each part of a region. The maximum of -Infinity alone is -Infinity.
import numpy as np

y = np.max(np.full((2, 2), -np.inf, np.float32))
print("expected [1,1,1,1]", "-Infinity" if y == -np.inf else y)
