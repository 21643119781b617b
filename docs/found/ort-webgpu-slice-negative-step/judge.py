"""NumPy's slices, which ONNX's Slice follows."""
import numpy as np

print("expected", np.arange(6, dtype=np.float32)[4:0:-2].tolist())
