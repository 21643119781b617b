# ONNX, Einsum: the output has the extents of its indices: b is 0.
import numpy as np

y = np.einsum("bij,bkj->bik", np.zeros((0, 3, 3)), np.zeros((0, 3, 3)))
print(f"expected [{','.join(map(str, y.shape))}]")
