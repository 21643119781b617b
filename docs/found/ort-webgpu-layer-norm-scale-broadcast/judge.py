"""LayerNormalization as ONNX defines it; scale is broadcast to the shape of x."""
import numpy as np

x = np.array([0, 2, 2, 0, 0, 2, 2, 0], np.float64).reshape(2, 2, 2)
mean = x.mean(axis=(1, 2), keepdims=True)
deviation = x.std(axis=(1, 2), keepdims=True)
print("expected", ((x - mean) / deviation * np.array([1, 2])).ravel().tolist())
