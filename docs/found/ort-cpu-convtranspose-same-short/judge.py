# ONNX, ConvTranspose: with SAME_UPPER the output has input * stride elements. The total of the pads is
# stride * (input - 1) + kernel - output = -1, half of it (0) at the begin; so one element is added at the end.
import numpy as np

x, w, stride = [1, 2], [1, 10], 3
y = np.zeros(len(x) * stride, int)
for i, value in enumerate(x):
    y[i * stride : i * stride + len(w)] += value * np.array(w)
print(f"expected [1,1,{len(y)}]", *y)
