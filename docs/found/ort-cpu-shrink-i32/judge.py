# ONNX, Shrink: y = x + bias below -lambd, x - bias above lambd, else 0. Bias 0 leaves x.
bias, lambd = 0, 0.5
y = [x + bias if x < -lambd else x - bias if x > lambd else 0 for x in (16777219, -16777219)]
print("expected [2]", *y)
