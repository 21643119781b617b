# ONNX, Cast: to E4M3FN it rounds to nearest, ties to even. Three bits of fraction: the neighbours are 1 and 1.125, with
# the middle at 1 + 2^-4. The value lies above the middle.
from fractions import Fraction

x = Fraction(1) + Fraction(1, 2**4) + Fraction(1, 2**40)
low, high = Fraction(1), Fraction(9, 8)
print("expected [1]", float(high if x - low > high - x else low))
