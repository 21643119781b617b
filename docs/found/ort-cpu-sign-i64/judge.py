# ONNX, Sign: 1 above 0, -1 below 0, 0 at 0.
print("expected [2]", *((x > 0) - (x < 0) for x in [3000000000] * 2))
