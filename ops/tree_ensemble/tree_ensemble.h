// The form of a forest that the kernels of TreeEnsemble read.
//
// A slot is a node or a leaf: slots [0, nodes) are nodes, slots [nodes, nodes + leaves) are leaves. The first `trees`
// slots are the roots. Children have larger slots than their node, so every walk ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/op/op_def.h"

namespace opkit::ops::tree_ensemble {

enum Input : size_t { kX, kTests, kSplits, kChildren, kTargets, kWeights };

/// How the feature compares with the split; a test holds a set of them.
enum Outcome : uint32_t { kLess = 1, kEqual = 2, kGreater = 4, kMissing = 8 };
constexpr int kOutcomeBits = 4;

/// Extents of a node's tensors.
struct ForestShape {
  int64_t rows, features, nodes, leaves, votes;  // votes: of each leaf
};
ForestShape forestShapeOf(std::span<const TensorDesc* const> inputs);

/// Nodes on the longest path of the forest. `children`: i32[nodes, 2], each the child's slot less `trees`.
int64_t depthOf(std::span<const int32_t> children, int64_t trees);

}  // namespace opkit::ops::tree_ensemble
