// The determinant of each matrix of a batch: elimination with the largest pivot of each column, in f32. A team takes one
// matrix; the matrices of a work group lie in shared memory if they fit, else in `space`. The product of the pivots carries its
// exponent along. Driven by ops/det/det_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "math.glsl"
#include "factors.glsl"

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 1) const uint team = 64;
layout(constant_id = 2) const uint tileElements = 1;  // of shared memory; 1 if matrices lie in `space`

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };
layout(binding = 2) coherent buffer Space { float space[]; };

layout(push_constant) uniform Push {
  uint matrices;
  uint extent;
  uint distance;  // of the matrices of a work group in shared memory
} push;

shared float tile[tileElements];
shared float bestValues[gl_WorkGroupSize.x];
shared uint bestRows[gl_WorkGroupSize.x];

#define hasTile() (tileElements > 1u)
#define matricesOfGroup() (gl_WorkGroupSize.x / team)

void meet() {
  memoryBarrierBuffer();
  barrier();
}

/// Rows of the team's matrix; 0 for a team without one.
uint rowsOf(uint matrix) { return matrix < push.matrices ? push.extent : 0u; }

float at(uint base, uint row, uint column) {
  const uint i = base + row * push.extent + column;
  return hasTile() ? tile[i] : space[i];
}
void setAt(uint base, uint row, uint column, float value) {
  const uint i = base + row * push.extent + column;
  if (hasTile())
    tile[i] = value;
  else
    space[i] = value;
}

/// Neighbours read neighbours: all matrices of the group.
void load(uint firstMatrix) {
  const uint size = push.extent * push.extent, first = firstMatrix * size;
  const uint end = min(firstMatrix + matricesOfGroup(), push.matrices) * size;
  for (uint i = first + gl_LocalInvocationIndex; i < end; i += gl_WorkGroupSize.x)
    if (hasTile())
      tile[(i - first) / size * push.distance + (i - first) % size] = LOAD(x, i);
    else
      space[i] = LOAD(x, i);
  meet();
}

/// The row from k on with the largest element of column k. A NaN in row k stays there.
uint pivotOf(uint base, uint n, uint k, uint lane) {
  const uint own = gl_LocalInvocationIndex, first = own - lane;
  float best = 0.0;
  uint bestRow = k;
  for (uint row = k + lane; row < n; row += team) {
    const float value = abs(at(base, row, k));
    if (value > best || isNan(value)) {
      best = isNan(value) ? kInfinity : value;
      bestRow = row;
    }
  }
  if (team == 1u) return bestRow;
  bestValues[own] = best;
  bestRows[own] = bestRow;
  barrier();
  uint chosen = first;  // in the same order in every lane
  for (uint other = first; other < first + team; ++other)
    if (bestValues[other] > bestValues[chosen]) chosen = other;
  return bestRows[chosen];
}

void swapRows(uint base, uint n, uint k, uint pivot, uint lane) {
  for (uint column = k + lane; column < n; column += team) {
    const float upper = at(base, k, column);
    setAt(base, k, column, at(base, pivot, column));
    setAt(base, pivot, column, upper);
  }
}

/// Columns are shared among the lanes; the factors of column k stay as they are.
void eliminate(uint base, uint n, uint k, float pivot, uint lane) {
  for (uint row = k + 1u; row < n; ++row) {
    const float below = at(base, row, k), factor = pivot == 0.0 ? below : below / pivot;
    for (uint column = k + 1u + lane; column < n; column += team)
      setAt(base, row, column, at(base, row, column) - factor * at(base, k, column));
  }
}

void main() {
  const uint matrix = linearIndex() / team, lane = gl_LocalInvocationIndex % team;
  const uint firstMatrix = linearGroup() * matricesOfGroup(), size = push.extent * push.extent;
  const uint base = hasTile() ? gl_LocalInvocationIndex / team * push.distance : matrix * size;
  const uint n = rowsOf(matrix);
  load(firstMatrix);
  vec2 product = vec2(1.0, 0.0);
  for (uint k = 0u; k < push.extent; ++k) {
    const uint pivotRow = pivotOf(base, n, k, lane);
    meet();
    swapRows(base, n, k, pivotRow, lane);
    meet();
    const float pivot = n > 0u ? at(base, k, k) : 1.0;
    product = times(product, factorOf(pivotRow == k ? pivot : -pivot));
    eliminate(base, n, k, pivot, lane);
    meet();
  }
  if (lane == 0u && matrix < push.matrices) STORE(y, matrix, valueOfFactor(product));
}
