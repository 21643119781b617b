"""Resize of axis 1 by 2, coordinates half_pixel, as ONNX defines it: x = (y + 0.5) / scale - 0.5, edges repeated."""
import numpy as np

x = np.array([[1, 2], [3, 4]], np.float32)  # [1, 2, 1, 2] without its axes of extent 1


def linear(at):
    low = int(np.floor(at))
    weight = at - low
    return (1 - weight) * x[max(low, 0)] + weight * x[min(low + 1, 1)]


print("expected", np.concatenate([linear((y + 0.5) / 2 - 0.5) for y in range(4)]).tolist())
