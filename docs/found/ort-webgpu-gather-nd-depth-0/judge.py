"""GatherND as ONNX defines it: an index of depth k names a slice of rank r - k; with k = 0 that is all of the data."""
import numpy as np

data = np.array([1, 2], np.float32)
indices = np.zeros((1, 0), np.int64)
print("expected", np.stack([data[tuple(index)] for index in indices]).ravel().tolist())
