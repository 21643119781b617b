# ONNX, GridSample: with padding_mode border a location outside takes the values of the border. (1e7, 1e7) lies beyond
# the last row and column, so it takes their corner.
import numpy as np

image, (x, y) = np.arange(1, 17).reshape(4, 4), (1e7, 1e7)
column, row = (np.clip(((v + 1) * 4 - 1) / 2, 0, 3) for v in (x, y))  # align_corners 0
print("expected [1,1,1,1]", image[int(row), int(column)])
