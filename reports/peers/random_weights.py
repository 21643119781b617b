#!/usr/bin/python3
"""Gives a network without weights random ones.

Usage: random_weights.py MODEL.onnx OUTPUT.onnx [SEED]   (Debian: python3-onnx)

The light forms of published networks make each weight with a ConstantOfShape. Each becomes an initializer: kernels are
normal with variance 2 / fan-in, vectors are uniform in [0.2, 0.4], so that activations neither vanish nor overflow.
"""
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def weights(shape, random):
    if len(shape) < 2:
        return random.uniform(0.2, 0.4, shape)
    return random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))


def main(source, target, seed=1):
    model = onnx.load(source)
    graph = model.graph
    random = np.random.default_rng(int(seed))
    known = {tensor.name: tensor for tensor in graph.initializer}
    made = [node for node in graph.node if node.op_type == 'ConstantOfShape' and node.input[0] in known]
    if not made:
        sys.exit(f"random_weights: '{source}' has no weights made by ConstantOfShape")
    shapes = {node.input[0] for node in made}
    kept = [node for node in graph.node if node not in made]
    initializers = [tensor for tensor in graph.initializer if tensor.name not in shapes]
    for node in made:
        values = weights(numpy_helper.to_array(known[node.input[0]]).astype(int), random)
        initializers.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    constant = {tensor.name for tensor in initializers} | shapes
    inputs = [value for value in graph.input if value.name not in constant]
    for field, values in ((graph.node, kept), (graph.initializer, initializers), (graph.input, inputs)):
        del field[:]
        field.extend(values)
    model.ir_version = max(model.ir_version, 4)  # initializers need not be inputs
    onnx.save(model, target)


if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
main(*sys.argv[1:])
