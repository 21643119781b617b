# ONNX, GridSample: with padding_mode zeros a location outside is 0. (1e20, 1e20) lies outside [-1, 1].
x, y = 1e20, 1e20
inside = all(0 <= round(((v + 1) * 2 - 1) / 2) <= 1 for v in (x, y))  # align_corners 0
print("expected [1,1,1,1]", 1 if inside else 0)
