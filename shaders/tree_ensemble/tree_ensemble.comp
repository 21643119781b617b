// TreeEnsemble: the votes of a group of trees for a row, one invocation each; neighbours have neighbouring rows and the
// same trees. A slot below nodeCount is a node, the others are leaves. Driven by
// ops/tree_ensemble/tree_ensemble_vulkan.cpp.
//! variant STORAGE: f32 f64
#version 450
#include "common.glsl"
#include "shaders/tree_ensemble/votes.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };       // [rows, features]
layout(binding = 1) readonly buffer Nodes { uvec4 nodes[]; };  // test, child if it holds, child if not, 0
layout(binding = 2) readonly buffer Splits { STORAGE splits[]; };
layout(binding = 3) readonly buffer Targets { int targets[]; };  // [leaves, votes], -1 for no vote
layout(binding = 4) readonly buffer Weights { STORAGE weights[]; };
layout(binding = 5) buffer Partials { STORAGE partials[]; };  // [groups, rows, targetCount]

layout(push_constant) uniform Push {
  uint rows;
  uint features;
  uint nodeCount;
  uint trees;
  uint perGroup;  // trees of a group
  uint votes;     // of a leaf
  uint targetCount;
  uint count;  // groups * rows
} push;

// Bits of a test, below the feature.
const uint kLess = 1u, kEqual = 2u, kGreater = 4u, kMissing = 8u, kOutcomeBits = 4u;

uint outcomeOf(ARITH value, ARITH split) {
  if (isNan(value)) return kMissing;
  if (isNan(split)) return kGreater;
  return value < split ? kLess : value == split ? kEqual : kGreater;
}

/// The leaf that a tree has for the row whose features begin at `first`.
uint leafOf(uint tree, uint first) {
  const uint nodeCount = push.nodeCount;
  uint slot = tree;
  while (slot < nodeCount) {
    const uvec4 node = nodes[slot];
    const ARITH value = LOAD(x, first + (node.x >> kOutcomeBits));
    slot = (node.x & outcomeOf(value, LOAD(splits, slot))) != 0u ? node.y : node.z;
  }
  return slot - nodeCount;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint group = i / push.rows, row = i % push.rows;
  const uint targetCount = push.targetCount, votes = push.votes, results = i * targetCount;
  const uint begin = group * push.perGroup, last = min(begin + push.perGroup, push.trees);
  ARITH only = noVote();  // the fold of the only target stays in a register
  if (targetCount > 1u)
    for (uint target = 0u; target < targetCount; ++target) STORE(partials, results + target, noVote());
  for (uint tree = begin; tree < last; ++tree) {
    const uint first = leafOf(tree, row * push.features) * votes;
    for (uint vote = first; vote < first + votes; ++vote) {
      const int target = targets[vote];
      if (target < 0) continue;
      const ARITH weight = LOAD(weights, vote);
      if (targetCount == 1u) {
        only = withVote(only, weight);
      } else {
        STORE(partials, results + uint(target), withVote(LOAD(partials, results + uint(target)), weight));
      }
    }
  }
  if (targetCount == 1u) STORE(partials, results, only);
}
