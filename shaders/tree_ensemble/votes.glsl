// The fold of votes for a target: sums, or the least or the largest, where NaN stands for no vote. Included by the
// shaders of tree_ensemble/.
#ifndef OPKIT_TREE_ENSEMBLE_VOTES_GLSL
#define OPKIT_TREE_ENSEMBLE_VOTES_GLSL
#include "storage.glsl"
#ifdef STORAGE_F64
#include "double.glsl"
#else
#include "math.glsl"
#endif

// As in tree_ensemble.fbs.
const uint kAverage = 1u, kMin = 2u, kMax = 3u;  // 0: the sum
layout(constant_id = 0) const uint aggregate = 0u;

bool isExtreme() { return aggregate == kMin || aggregate == kMax; }

ARITH noVote() {
#ifdef STORAGE_F64
  return isExtreme() ? packDouble2x32(uvec2(0u, 0x7FF80000u)) : 0.0lf;
#else
  return isExtreme() ? uintBitsToFloat(0x7FC00000u) : 0.0;
#endif
}

ARITH withVote(ARITH fold, ARITH vote) {
  if (!isExtreme()) return fold + vote;
  if (isNan(vote)) return fold;
  return isNan(fold) || (aggregate == kMin ? vote < fold : vote > fold) ? vote : fold;
}

#endif
