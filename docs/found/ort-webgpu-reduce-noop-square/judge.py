"""ONNX, ReduceSumSquare-18, noop_with_empty_axes: without axes nothing is summed; each element is squared."""
import numpy as np

x = np.array([-1, 2, 3], np.float32)
print("expected", np.square(x).tolist())
