# ONNX ML, TreeEnsembleClassifier: the votes of the leaf that an input reaches are added up for each class; the first
# output has the label of the class with the most.
import numpy as np

votes = np.array([[7, 3] if x <= 1 else [2, 8] for x in (0, 2)])
labels = np.array([5, 6])[votes.argmax(axis=1)]
print(f"expected [{len(labels)}]", *labels, end=", scores ")
print(*votes.ravel())
