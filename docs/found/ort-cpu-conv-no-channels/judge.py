# ONNX, Conv: each output is the sum over the input channels and the kernel, plus the bias of its output channel.
# Without channels the sum is 0, so the output is the bias.
import numpy as np

image, kernel, bias = np.zeros((1, 0, 2, 2)), np.zeros((3, 0, 1, 1)), np.array([5, 6, 7])
y = np.einsum("nchw,mc->nmhw", image, kernel[:, :, 0, 0]) + bias[None, :, None, None]
print("expected", list(y.shape), *y.ravel().astype(int))
