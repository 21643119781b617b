# ONNX, DFT: with inverse and onesided the values of k beyond those given follow from X[k] = conj(X[n - k]); a shorter
# input is padded with zeros; x[n] = 1/N * sum of exp(2 pi j k n / N) * X[k].
import numpy as np

given, n = [2, 4, 6], 8
half = given + [0] * (n // 2 + 1 - len(given))
full = np.array(half + [np.conj(half[n - k]) for k in range(n // 2 + 1, n)])
k = np.arange(n)
y = np.array([np.sum(np.exp(2j * np.pi * k * i / n) * full) / n for i in range(n)])
assert np.allclose(y, np.fft.irfft(given, n))
print(f"expected [1,{n},1]", *(f"{v:.3f}" for v in y.real))
