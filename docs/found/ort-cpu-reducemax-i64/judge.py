# ONNX, ReduceMax: the maximum of the elements, in the type of the input (here int64).
print("expected []", max(3000000000, 7, 1, 2))
