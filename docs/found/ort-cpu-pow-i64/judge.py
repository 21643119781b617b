# ONNX, Pow: f(x) = x^exponent in the type of X (here int64). Both powers fit. Python's integers do not round.
y = [3**39, 7**22]
assert max(y) < 2**63
print("expected [2]", *y)
