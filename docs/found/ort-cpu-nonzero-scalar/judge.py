# ONNX, NonZero: as numpy.nonzero, but a scalar gives the shape (0, N) where NumPy gives (1, N). N is 1 here.
import numpy as np

x = np.float32(1)
n = int(x != 0)
print(f"expected [{np.ndim(x)},{n}]")
