# ONNX, DFT: x[n] = 1/N * sum of exp(2 pi j k n / N) * X[k]. Only X[0] = 3 is not 0, so x[0] = 3 / 3.
from fractions import Fraction

print(f"expected [1,3,2] {float(Fraction(1, 3) * 3):.10f}")
