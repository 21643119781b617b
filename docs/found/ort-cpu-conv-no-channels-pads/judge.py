# ONNX, Conv: the output has floor((input + pads - kernel) / stride) + 1 elements along an axis. That there are no
# channels does not matter for the shape.
size, kernel, begin, end = (5, 4), (3, 2), (1, 0), (1, 2)
extents = [s + b + e - k + 1 for s, k, b, e in zip(size, kernel, begin, end)]
print("expected", str([1, 5, *extents]).replace(" ", ""))
