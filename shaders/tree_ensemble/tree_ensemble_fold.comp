// TreeEnsemble: folds the votes of all groups of trees, in order, one invocation per element of the result. Driven by
// ops/tree_ensemble/tree_ensemble_vulkan.cpp.
//! variant STORAGE: f32 f64
#version 450
#include "common.glsl"
#include "shaders/tree_ensemble/votes.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer Partials { STORAGE partials[]; };  // [groups, count]
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint groups;
  uint trees;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint groups = push.groups;
  ARITH result = noVote();
  for (uint group = 0u; group < groups; ++group) result = withVote(result, LOAD(partials, group * push.count + i));
  if (aggregate == kAverage) result /= ARITH(push.trees);
  if (isExtreme() && isNan(result)) result = ARITH(0);
  STORE(y, i, result);
}
