# ONNX, ReduceProd: the product of the elements, in the type of the input (here int64). Python's integers do not round.
print("expected []", 3 * 3002399751580331)
