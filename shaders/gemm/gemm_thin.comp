// Products of a matrix with up to 8 vectors, for MatMul and Gemm on devices with fast shared memory: y[vector, row] = sum
// over k of matrix[row, k] * vectors[vector, k]. The matrix is read once, along its contiguous axis. A slice of the
// vectors lies in shared memory as [vector][k].
//
// ALONG depth: k is contiguous. A team of kTeam invocations walks kRows rows together and folds their sums through shared
// memory. ALONG outer: rows are contiguous. Invocations own VECTOR rows each; kTeam of them are neighbours, and the others
// of the work group take every (kGroup / kTeam)-th k. In both cases neighbouring invocations store neighbouring results.
//
// The grid is blocks of rows (x and y) * slices of k * images * groups (z). With one slice, results go to y; else sums go
// to partial [slice][results of y], and gemm_sum.comp adds them. Driven by ops/gemm/gemm_thin_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant ALONG: depth outer
//! variant VECTOR: 1 4
#version 450
#include "common.glsl"
#include "storage.glsl"

const uint kGroup = 128u, kMost = 8u;
const uint kShared = 2048u;                     // elements of the vectors of a slice: kThinShared of the driver
layout(local_size_x = 128) in;
layout(constant_id = 0) const uint vectors = 8;  // 1, 2, 4 or 8: as many as there are, or more

#if VECTOR == 4
#define UNIT vec4
#ifdef STORAGE_F16
#define ELEMENT f16vec4
#else
#define ELEMENT vec4
#endif
#else
#define UNIT float
#define ELEMENT STORAGE
#endif

layout(binding = 0) readonly buffer Matrix { ELEMENT matrix[]; };
layout(binding = 1) readonly buffer Few { STORAGE few[]; };
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };
layout(binding = 4) writeonly buffer Partial { float partial[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint count;  // of vectors
  uint depth;
  uint slices;
  uint sliceDepth;  // a multiple of 16; times `vectors` at most kShared
  uint sliceStride;
  uint first;  // of this dispatch, counted in slices * images * groups
  uint groups;
  uint matrixBase;  // offsets and strides count elements
  uint matrixStride;  // between rows (ALONG depth) or k (ALONG outer)
  uint matrixImage;
  uint matrixGroup;
  uint fewBase;
  uint fewStride;  // between vectors
  uint fewDepth;
  uint fewImage;
  uint fewGroup;
  uint yBase;
  uint yRow;
  uint yVector;
  uint hasBias;
  uint biasRow;
  uint biasVector;
  uint biasGroup;
  float alpha;
  float beta;
  float low;  // results are clamped to [low, high]
  float high;
} push;

// Vectors are kShared / vectors + 32 / vectors apart, so that neighbours in one of them and in all of them lie in
// different banks.
shared vec4 part[kShared / 4u + 8u];
const uint kPitch = (kShared + 32u) / vectors;

uint layer() { return gl_WorkGroupID.z + push.first; }

// Puts k = begin .. end - 1 of the vectors into shared memory; absent vectors are zero.
void loadVectors(uint begin, uint end) {
  const uint group = layer() / push.slices % push.groups, image = layer() / push.slices / push.groups;
  const uint base = push.fewBase + image * push.fewImage + group * push.fewGroup, depth = end - begin;
  for (uint i = gl_LocalInvocationIndex; i < depth * vectors; i += kGroup) {
    const bool alongDepth = push.fewDepth == 1u;
    const uint vector = alongDepth ? i / depth : i % vectors, k = alongDepth ? i % depth : i / vectors;
    float value = 0.0;
    if (vector < push.count) value = LOAD(few, base + vector * push.fewStride + (begin + k) * push.fewDepth);
    part[(vector * kPitch + k) / 4u][k & 3u] = value;
  }
  barrier();
}

void keepSum(uint row, uint vector, float sum) {
  const uint made = layer() / push.slices, at = push.yBase + made * push.rows * push.count + row * push.yRow +
                                                vector * push.yVector;
  if (push.slices > 1u) {
    partial[layer() % push.slices * push.sliceStride + at] = sum;
    return;
  }
  float value = push.alpha * sum;
  if (push.hasBias != 0u)
    value += push.beta * LOAD(bias, made % push.groups * push.biasGroup + row * push.biasRow + vector * push.biasVector);
  STORE(y, at, value < push.low ? push.low : value > push.high ? push.high : value);  // a NaN stays
}

#ifdef ALONG_DEPTH
const uint kTeam = 16u, kRows = 4u, kBlock = kGroup / kTeam * kRows;
const uint kDonePitch = kBlock + 32u / vectors;  // as kPitch
shared float done[kMost * kBlock + 32u];         // sums by [vector][row]
const uint kFoldPitch = kGroup + 1u;
shared float fold[kMost * kFoldPitch];

void multiply(uint base, uint begin, uint end) {
  const uint lane = gl_LocalInvocationIndex % kTeam, here = gl_LocalInvocationIndex;
  const uint block = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  const uint first = block * kBlock + here / kTeam * kRows;
  UNIT sum[kRows][kMost];
  [[unroll]] for (uint r = 0u; r < kRows; ++r)
    [[unroll]] for (uint v = 0u; v < kMost; ++v) sum[r][v] = UNIT(0.0);
  for (uint k = lane * VECTOR; k < end - begin; k += kTeam * VECTOR) {
    [[unroll]] for (uint r = 0u; r < kRows; ++r) {
      UNIT value = UNIT(0.0);
      if (first + r < push.rows) value = UNIT(matrix[(base + (first + r) * push.matrixStride + begin + k) / VECTOR]);
      [[unroll]] for (uint v = 0u; v < vectors; ++v) {
#if VECTOR == 4
        sum[r][v] += value * part[(v * kPitch + k) / 4u];
#else
        sum[r][v] += value * part[(v * kPitch + k) / 4u][k & 3u];
#endif
      }
    }
  }
  [[unroll]] for (uint r = 0u; r < kRows; ++r) {
    [[unroll]] for (uint v = 0u; v < vectors; ++v) {
#if VECTOR == 4
      fold[v * kFoldPitch + here] = (sum[r][v].x + sum[r][v].y) + (sum[r][v].z + sum[r][v].w);
#else
      fold[v * kFoldPitch + here] = sum[r][v];
#endif
    }
    barrier();
    for (uint width = kTeam / 2u; width > 0u; width /= 2u) {
      if (lane < width)
        [[unroll]] for (uint v = 0u; v < vectors; ++v)
          fold[v * kFoldPitch + here] += fold[v * kFoldPitch + here + width];
      barrier();
    }
    if (lane < vectors) done[lane * kDonePitch + here / kTeam * kRows + r] = fold[lane * kFoldPitch + here - lane];
    barrier();  // the sums were read
  }
  for (uint i = here; i < kBlock * vectors; i += kGroup) {
    const bool byVectors = push.yVector == 1u;
    const uint r = byVectors ? i / vectors : i % kBlock, v = byVectors ? i % vectors : i / kBlock;
    if (block * kBlock + r < push.rows && v < push.count) keepSum(block * kBlock + r, v, done[v * kDonePitch + r]);
  }
}
#else
const uint kTeam = 32u;
shared UNIT fold[kGroup];

void multiply(uint base, uint begin, uint end) {
  const uint here = gl_LocalInvocationIndex, lane = here % kTeam, layers = kGroup / kTeam;
  const uint row = ((gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * kTeam + lane) * VECTOR;
  UNIT sum[kMost];
  [[unroll]] for (uint v = 0u; v < kMost; ++v) sum[v] = UNIT(0.0);
  if (row < push.rows)
    for (uint k = here / kTeam; k < end - begin; k += layers) {
      const UNIT value = UNIT(matrix[(base + (begin + k) * push.matrixStride + row) / VECTOR]);
      [[unroll]] for (uint v = 0u; v < vectors; ++v) sum[v] += value * part[(v * kPitch + k) / 4u][k & 3u];
    }
  [[unroll]] for (uint v = 0u; v < vectors; ++v) {
    barrier();  // the sums of the vector before were read
    fold[here] = sum[v];
    barrier();
#if VECTOR == 4
    const uint mine = row / (kTeam * VECTOR) * (kTeam * VECTOR) + here;
    float all = 0.0;
    [[unroll]] for (uint other = 0u; other < layers; ++other) all += fold[other * kTeam + here / 4u][here & 3u];
    if (v < push.count && mine < push.rows) keepSum(mine, v, all);
#else
    if (here / kTeam == v % layers && v < push.count && row < push.rows) {
      float all = fold[lane];
      [[unroll]] for (uint other = 1u; other < layers; ++other) all += fold[other * kTeam + lane];
      keepSum(row, v, all);
    }
#endif
  }
}
#endif

void main() {
  const uint slice = layer() % push.slices, made = layer() / push.slices;
  const uint begin = slice * push.sliceDepth, end = min(begin + push.sliceDepth, push.depth);
  loadVectors(begin, end);
  multiply(push.matrixBase + made / push.groups * push.matrixImage + made % push.groups * push.matrixGroup, begin, end);
}
