"""Softmax of opsets below 13: x is taken as a matrix of 1 row and 2 * 3 columns."""
import numpy as np

x = np.zeros((1, 6))
print("expected", (np.exp(x) / np.exp(x).sum(axis=1)).ravel().tolist())
