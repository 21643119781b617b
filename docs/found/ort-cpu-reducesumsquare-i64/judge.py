# ONNX, ReduceSumSquare: the sum of the squares, in the type of the input (here int64). Python's integers do not round.
print("expected []", 94906267**2)
