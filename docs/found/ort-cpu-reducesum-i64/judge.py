# ONNX, ReduceSum: the sum of the elements, in the type of the input (here int64). Python's integers do not round.
y = sum([2**53, 1])
print("expected []", y)
