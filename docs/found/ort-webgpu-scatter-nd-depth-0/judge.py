"""ScatterND as ONNX defines it: an index of depth k names a slice of rank r - k; with k = 0 that is all of data."""
import numpy as np

data = np.array([1, 2], np.float32)
indices = np.zeros((1, 0), np.int64)
updates = np.array([[10, 20]], np.float32)
output = data.copy()
for place in np.ndindex(indices.shape[:-1]):
    output[tuple(indices[place])] += updates[place]
print("expected", output.tolist())
