"""numpy.tile, which ONNX's Tile follows."""
import numpy as np

print("expected", [float(np.tile(np.float32(3), ()))])
