# ONNX, Max: the elementwise maximum, in the type of the inputs (here int64).
print("expected [2]", *(max(a, b) for a, b in zip([3000000000] * 2, [7] * 2)))
