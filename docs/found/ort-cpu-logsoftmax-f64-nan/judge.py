# ONNX, LogSoftmax: Log(Softmax(input)). Softmax divides each exp by the sum of the row's, which is NaN here.
import numpy as np

x = np.array([[0, np.nan, 1]])
y = np.log(np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))
assert np.isnan(y).all()
print("expected [1,3]", *("NaN" if np.isnan(v) else v for v in y[0]))
