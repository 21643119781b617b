"""ONNX, ReduceSumSquare-18, noop_with_empty_axes: without axes nothing is reduced; the square of each element remains."""
import numpy as np

x = np.array([-1, 2, 3], np.float32)
print("expected", np.square(x).tolist())
