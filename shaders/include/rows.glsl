// Rows shared by teams: `team` invocations walk one row together and fold their parts through shared memory.
//
// Included after storage.glsl, this declares the work group (constant 0), the team (constant 1), a power of two that
// divides it, and the elements per pass of a loop (constant 2); vulkan::RowTeam chooses them. With a team of 1 the folds
// cost nothing.
//
//   const uint row = teamRow();             // may be >= rows: such a team takes part in the folds and stores nothing
//   const uint extent = row < push.rows ? push.extent : 0u;
//   float part = 0.0;
//   EACH_OF_ROW(i, extent) part += LOAD(x, first + i); END_OF_ROW
//   const float total = teamSum(part);      // in every invocation of the team
//
// Every invocation of the work group must reach every fold, so no `return` and no condition may precede one. The part
// that follows EACH_OF_ROW may be a block; it is copied rowSteps times, which keeps loops short.
//
// Sums of floats go through blocks, so that their error does not grow with the length of the row:
//
//   vec2 sum = kNoBlocks;
//   float part = 0.0;
//   BLOCKS_OF_ROW(i, extent) part += LOAD(x, first + i); END_OF_BLOCK addBlock(sum, part); END_OF_BLOCKS
//   const float total = teamSum(sumOfBlocks(sum));
#ifndef OPKIT_ROWS_GLSL
#define OPKIT_ROWS_GLSL
#include "common.glsl"
#include "math.glsl"

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 1) const uint team = 1;
layout(constant_id = 2) const uint rowSteps = 4;

const uint kRowBlock = 64;   // RowTeam::kBlock
const uint kMaxTeam = 1024;  // RowTeam::kMost

#define teamRow() (linearIndex() / team)
#define teamLane() (gl_LocalInvocationIndex % team)

#define EACH_OF_ROW(i, extent)                                                          \
  for (uint i##Base = teamLane(); i##Base < (extent); i##Base += rowSteps * team)       \
    [[unroll]] for (uint i##Step = 0u; i##Step < rowSteps; ++i##Step) {                 \
      const uint i = i##Base + i##Step * team;                                          \
      if (rowSteps == 1u || i < (extent)) {
#define END_OF_ROW \
  }                \
  }

// As EACH_OF_ROW, in blocks of kRowBlock elements of an invocation. The part after END_OF_BLOCK runs once a block.
#define BLOCKS_OF_ROW(i, extent)                                                        \
  for (uint i##Block = teamLane(); i##Block < (extent); i##Block += kRowBlock * team) { \
    const uint i##End = min(extent, i##Block + kRowBlock * team);                       \
    for (uint i##Base = i##Block; i##Base < i##End; i##Base += rowSteps * team)         \
      [[unroll]] for (uint i##Step = 0u; i##Step < rowSteps; ++i##Step) {               \
        const uint i = i##Base + i##Step * team;                                        \
        if (rowSteps == 1u || i < i##End) {
#define END_OF_BLOCK \
  }                  \
  }
#define END_OF_BLOCKS }

// Declares `Type name(Type part)`: the fold of the team's parts by COMBINE(a, b), in lane order. `Type` is the part of
// one invocation.
#define TEAM_FOLD(name, Type, COMBINE)                                                  \
  shared Type name##Parts[gl_WorkGroupSize.x];                                          \
  Type name(Type part) {                                                                \
    if (team == 1u) return part;                                                        \
    const uint at = gl_LocalInvocationIndex, lane = teamLane();                         \
    barrier(); /* the parts of the fold before were read */                             \
    name##Parts[at] = part;                                                             \
    barrier();                                                                          \
    for (uint width = team / 2u; width > 0u; width /= 2u) {                             \
      if (lane < width) name##Parts[at] = COMBINE(name##Parts[at], name##Parts[at + width]); \
      barrier();                                                                        \
    }                                                                                   \
    return name##Parts[at - lane];                                                      \
  }

// Declares `Type name(Type part, out Type all)`: the fold of the parts of the lanes before this one, or NONE for the first;
// `all` gets the fold of the whole team. Hillis and Steele's scan. One per shader.
#define TEAM_SCAN(name, Type, COMBINE, NONE)                                            \
  shared Type name##Parts[gl_WorkGroupSize.x];                                          \
  Type name(Type part, out Type all) {                                                  \
    all = part;                                                                         \
    if (team == 1u) return NONE;                                                        \
    const uint at = gl_LocalInvocationIndex, lane = teamLane();                         \
    barrier(); /* the parts of the scan before were read */                             \
    name##Parts[at] = part;                                                             \
    barrier();                                                                          \
    [[unroll]] for (uint width = 1u; width < kMaxTeam; width *= 2u) {                   \
      if (width < team) {                                                               \
        Type before = NONE;                                                             \
        if (lane >= width) before = name##Parts[at - width];                            \
        barrier();                                                                      \
        if (lane >= width) name##Parts[at] = COMBINE(before, name##Parts[at]);          \
        barrier();                                                                      \
      }                                                                                 \
    }                                                                                   \
    all = name##Parts[at - lane + team - 1u];                                           \
    if (lane == 0u) return NONE;                                                        \
    return name##Parts[at - 1u];                                                        \
  }

#define ROW_ADD(a, b) ((a) + (b))
const vec2 kNoBlocks = vec2(0.0);
/// Moves the sum of a block, `part`, to `sum`: x is the sum, y its rounding error (Kahan).
void addBlock(inout vec2 sum, inout float part) {
  precise float added = part - sum.y;
  precise float next = sum.x + added;
  precise float lost = (next - sum.x) - added;
  sum = vec2(next, isNan(lost) ? 0.0 : lost);  // an infinite sum has no error
  part = 0.0;
}
float sumOfBlocks(vec2 sum) { return sum.x - sum.y; }
float largerOf(float a, float b) { return isNan(a) ? a : isNan(b) ? b : max(a, b); }

#endif
