# ONNX, Pad: mode "wrap" pads as if the data lay on a torus, so output i is input (i - pads_begin) mod length.
import numpy as np

x, begin, end = np.array([1, 2, 3]), 4, 0
i = np.arange(begin + len(x) + end)
y = x[(i - begin) % len(x)]
print("expected", list(y.shape), *y)
