# ONNX, Einsum: an index that is missing in the output is summed over, in the type of the inputs (here int64).
import numpy as np

y = np.einsum("i->", np.array([2**53, 1], np.int64))
assert y == sum([2**53, 1])
print("expected []", y)
