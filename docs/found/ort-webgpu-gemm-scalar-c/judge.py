"""A * B + C as ONNX's Gemm defines it; A and B are zeros, and C is broadcast."""
import numpy as np

zeros = np.zeros((64, 64))
print("expected", np.unique(zeros @ zeros + 5).tolist(), "in each of the 4,096 elements")
