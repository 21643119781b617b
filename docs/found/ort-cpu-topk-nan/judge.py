# ONNX, TopK: with `sorted` 1 (the default) the elements that are returned are sorted. Where NaN stands is open, so only
# the numbers are judged.
import numpy as np

x = np.array([1, np.nan, 3, 5, np.nan, 2, 4, 7, 0], np.float32)
print("expected", *(int(v) for v in -np.sort(-x[~np.isnan(x)])))
