"""Resize of axis 1 by 2, coordinates half_pixel, as ONNX defines it: x = (y + 0.5) / scale - 0.5, edges repeated."""
import numpy as np

x = np.array([[1, 2], [3, 4]], np.float32)  # [1, 2, 1, 2] without its axes of extent 1


def cubic(at):
    low = int(np.floor(at))
    sums = np.zeros(2)
    for tap in range(low - 1, low + 3):
        d = abs(at - tap)
        a = -0.75  # cubic_coeff_a
        near = (a + 2) * d**3 - (a + 3) * d**2 + 1
        far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
        sums += (near if d <= 1 else far) * x[min(max(tap, 0), 1)]
    return sums


print("expected", np.concatenate([cubic((y + 0.5) / 2 - 0.5) for y in range(4)]).tolist())
