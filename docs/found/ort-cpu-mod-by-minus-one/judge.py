# ONNX, Mod: with fmod 0 the semantics of Python's % operator.
print("expected [1]", -(2**31) % -1)
