"""numpy.where, which ONNX's Where follows."""
import numpy as np

print("expected", np.where([True, False, True], [True], [True, True, False]).astype(int).tolist())
