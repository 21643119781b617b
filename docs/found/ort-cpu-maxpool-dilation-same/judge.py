# ONNX, MaxPool: auto_pad SAME_UPPER gives ceil(input / stride) outputs. The total of the pads is
# (outputs - 1) * stride + (kernel - 1) * dilation + 1 - input, half of it before; what is odd goes to the end.
import numpy as np

x, kernel, stride, dilation = [1, 2, 3, 4], 2, 1, 2
outputs = -(-len(x) // stride)
before = max((outputs - 1) * stride + (kernel - 1) * dilation + 1 - len(x), 0) // 2
places = [[o * stride + k * dilation - before for k in range(kernel)] for o in range(outputs)]
y = [np.max([x[i] for i in row if 0 <= i < len(x)]) for row in places]
print(f"expected [1,1,{outputs}]", *(f"{v:g}" for v in y))
