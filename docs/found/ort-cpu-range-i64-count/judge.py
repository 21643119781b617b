# ONNX, Range: max(ceil((limit - start) / delta), 0) elements; output[i] = start + (i * delta).
start, limit, delta = 2**60, 2**60 + 3, 1
n = max(-((start - limit) // delta), 0)
print(f"expected [{n}]", *(start + i * delta for i in range(n)))
