# ONNX, Unique: all unique values, with sorted 0 in the order of their first occurrence, and the count of each. Whatever
# NaN equals, 1 and 2 differ from each other and from NaN.
import numpy as np

values, first, counts = np.unique(np.array([np.nan, 1, 2], np.float32), return_index=True, return_counts=True)
order = np.argsort(first)
text = ("NaN" if np.isnan(v) else str(int(v)) for v in values[order])
print(f"expected [{len(values)}]", *text, end=", counts ")
print(*counts[order])
