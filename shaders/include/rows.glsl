// Rows shared by teams: `team` invocations walk one row together and fold their parts through shared memory.
//
// Included after storage.glsl, this declares the work group (constant 0), the team (constant 1), a power of two that
// divides it, and how teams walk (constant 2); vulkan::RowTeam chooses them. With a team of 1 the folds cost nothing.
//
//   const uint row = teamRow();             // may be >= rows: such a team takes part in the folds and stores nothing
//   const uint extent = row < push.rows ? push.extent : 0u;
//   float part = 0.0;
//   EACH_OF_ROW(i, extent) part += LOAD(x, first + i); END_OF_ROW
//   const float total = teamSum(part);      // in every invocation of the team
//
// Every invocation of the work group must reach every fold, so no `return` and no condition may precede one. The part
// that follows EACH_OF_ROW may be a block; it is copied several times, which keeps loops short.
//
// A kernel that walks its rows more than once, or rows along any axis, declares KEEP_ROWS(float, x) after the buffers
// and dispatches work.keeping(): where a row fits into shared memory it is then loaded once, by neighbours.
//
//   const Row row = keepRows(push.rows, push.extent, push.inner);
//   EACH_OF_ROW(i, row.extent) part += rowIn(row, i); END_OF_ROW
//   if (row.extent > 0u && teamLane() == 0u) ...             // one result per row: y[row.index]
//   EACH_OF_ROW(i, row.extent) rowOut(row, i, value); END_OF_ROW storeRows(row);    // with KEEP_RESULTS(float, y)
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
// RowTeam::layoutWord: elements per pass of a loop; logarithm of the columns, neighbouring rows whose teams lie side by
// side; what is kept (kKeeps...); elements of shared memory for it, in units. One constant, so that the ids from 3 on are
// the shader's own.
layout(constant_id = 2) const uint rowSteps = 4;

const uint kTileUnit = 256;  // of row_team.cpp
const uint rowUnroll = rowSteps & 0xFFu;
const uint teamColumns = 1u << ((rowSteps >> 8) & 0xFu);
const uint rowKeeping = (rowSteps >> 12) & 0xFu;
const uint rowTileElements = (rowSteps >> 16) * kTileUnit + 1u;
const uint kKeepsBlocks = 1, kKeepsColumns = 2;  // RowTeam::Keeps
const uint kRowBlock = 64;   // RowTeam::kBlock
const uint kMaxTeam = 1024;  // RowTeam::kMost

// Invocations are numbered by column, then by lane, then by team.
#define teamRow() (linearIndex() / (team * teamColumns) * teamColumns + gl_LocalInvocationIndex % teamColumns)
#define teamLane() (gl_LocalInvocationIndex / teamColumns % team)

#define EACH_OF_ROW(i, extent)                                                          \
  for (uint i##Base = teamLane(); i##Base < (extent); i##Base += rowUnroll * team)      \
    [[unroll]] for (uint i##Step = 0u; i##Step < rowUnroll; ++i##Step) {                 \
      const uint i = i##Base + i##Step * team;                                          \
      if (rowUnroll == 1u || i < (extent)) {
#define END_OF_ROW \
  }                \
  }

// As EACH_OF_ROW, in blocks of kRowBlock elements of an invocation. The part after END_OF_BLOCK runs once a block.
#define BLOCKS_OF_ROW(i, extent)                                                        \
  for (uint i##Block = teamLane(); i##Block < (extent); i##Block += kRowBlock * team) { \
    const uint i##End = min(extent, i##Block + kRowBlock * team);                       \
    for (uint i##Base = i##Block; i##Base < i##End; i##Base += rowUnroll * team)         \
      [[unroll]] for (uint i##Step = 0u; i##Step < rowUnroll; ++i##Step) {               \
        const uint i = i##Base + i##Step * team;                                        \
        if (rowUnroll == 1u || i < i##End) {
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
      if (lane < width) name##Parts[at] = COMBINE(name##Parts[at], name##Parts[at + width * teamColumns]); \
      barrier();                                                                        \
    }                                                                                   \
    return name##Parts[at - lane * teamColumns];                                        \
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
        if (lane >= width) before = name##Parts[at - width * teamColumns];              \
        barrier();                                                                      \
        if (lane >= width) name##Parts[at] = COMBINE(before, name##Parts[at]);          \
        barrier();                                                                      \
      }                                                                                 \
    }                                                                                   \
    all = name##Parts[at + (team - 1u - lane) * teamColumns];                           \
    if (lane == 0u) return NONE;                                                        \
    return name##Parts[at - teamColumns];                                               \
  }

/// A team's row of a tensor [rows / inner, extent, inner]: element i lies at first + i * inner, and in shared memory at
/// slot + i * slots.
struct Row {
  uint index;   // at least `rows` for a team without a row
  uint extent;  // 0 for such a team
  uint first;
  uint inner;
  uint slot;
  uint slots;
  uint rows;    // of the tensor
  uint rowLength;  // the extent of its rows
};

/// Rows of a work group that keeps whole blocks [rowLength, inner].
uint rowsOfGroup(uint inner) { return teamColumns / inner * inner; }

/// From one kept block to the next, so that the invocations of a subgroup read different banks. As in row_team.cpp.
uint pitchOf(uint extent, uint inner) {
  const uint period = extent * inner, spread = teamColumns < 32u ? 32u / teamColumns : 1u;
  if (teamColumns / inner <= 1u) return period;
  if (inner == 1u) return spread * (ceilDiv(extent, spread) | 1u);
  return period + ((spread * inner - period) & 31u);
}

Row rowOf(uint rows, uint extent, uint inner, uint group, uint index) {
  const uint column = gl_LocalInvocationIndex % teamColumns;
  if (rowKeeping == kKeepsBlocks) {
    index = column < rowsOfGroup(inner) ? group * rowsOfGroup(inner) + column : rows;
    const uint slot = column / inner * pitchOf(extent, inner) + column % inner;
    return Row(index, index < rows ? extent : 0u, index / inner * extent * inner + index % inner, inner, slot, inner,
               rows, extent);
  }
  return Row(index, index < rows ? extent : 0u, index / inner * extent * inner + index % inner, inner, column,
             teamColumns, rows, extent);
}

// The elements that a group keeps, each invocation its share: element `at` of the tensor lies at `slot`. Neighbours read
// neighbours, from a multiple of 32 elements on, so that sectors are read whole.
struct RowWalk {
  uint at;
  uint end;
  uint slot;
  uint within;  // its block
  uint period;
  uint gap;  // between blocks in shared memory
};
RowWalk walkOf(Row row, uint group, uint groupSize) {
  const uint first = group * rowsOfGroup(row.inner), period = row.rowLength * row.inner;
  if (first >= row.rows || period == 0u) return RowWalk(0u, 0u, 0u, 0u, 1u, 0u);
  const uint begin = first * row.rowLength, end = min(first + rowsOfGroup(row.inner), row.rows) * row.rowLength;
  uint at = begin - begin % min(32u, groupSize) + gl_LocalInvocationIndex;
  if (at < begin) at += groupSize;
  const uint block = (at - begin) / period, within = (at - begin) - block * period;
  const uint pitch = pitchOf(row.rowLength, row.inner);
  return RowWalk(at, end, block * pitch + within, within, period, pitch - period);
}
void advance(inout RowWalk walk, uint blocks, uint rest) {
  walk.slot += blocks * (walk.period + walk.gap) + rest;
  walk.within += rest;
  if (walk.within >= walk.period) {
    walk.within -= walk.period;
    walk.slot += walk.gap;
  }
}
#define rowGroupSize() (gl_WorkGroupSize.x)
#define rowGroup() (linearIndex() / rowGroupSize())
#define EACH_OF_BLOCKS(walk, row)                                                                       \
  RowWalk walk = walkOf(row, rowGroup(), rowGroupSize());                                               \
  const uint walk##Blocks = rowGroupSize() / walk.period, walk##Rest = rowGroupSize() % walk.period;    \
  while (walk.at < walk.end)                                                                            \
    [[unroll]] for (uint walk##Step = 0u; walk##Step < rowUnroll; ++walk##Step) {                       \
      if (walk.at < walk.end) {
#define END_OF_EACH(walk)                 \
  }                                       \
  walk.at += rowGroupSize();              \
  advance(walk, walk##Blocks, walk##Rest); \
  }

// Declares keepRows(rows, extent, inner), which gives the team's row of buffer `x`, a tensor [rows / inner, extent, inner],
// and `Type rowIn(Row row, uint i)`, its element i. Every invocation may read every element of its row.
#define KEEP_ROWS(Type, x)                                                                     \
  shared Type rowTile[rowTileElements];                                                        \
  Row keepRows(uint rows, uint extent, uint inner) {                                           \
    const Row row = rowOf(rows, extent, inner, rowGroup(), teamRow());                         \
    if (rowKeeping == kKeepsBlocks) {                                                          \
      EACH_OF_BLOCKS(walk, row) rowTile[walk.slot] = Type(LOAD(x, walk.at)); END_OF_EACH(walk) \
      barrier();                                                                               \
    }                                                                                          \
    if (rowKeeping == kKeepsColumns) {                                                         \
      EACH_OF_ROW(i, row.extent)                                                               \
        rowTile[row.slot + i * teamColumns] = Type(LOAD(x, row.first + i * inner));            \
      END_OF_ROW                                                                               \
      barrier();                                                                               \
    }                                                                                          \
    return row;                                                                                \
  }                                                                                            \
  Type rowIn(Row row, uint i) {                                                                \
    if (rowKeeping != 0u) return rowTile[row.slot + i * row.slots];                            \
    return Type(LOAD(x, row.first + i * row.inner));                                           \
  }

// After KEEP_ROWS, declares rowOut(row, i, value), which sets element i of the row of buffer `y`, a tensor like x, in place
// of the kept element i, and storeRows(row), which must follow the last rowOut.
#define KEEP_RESULTS(Type, y)                                                                  \
  void rowOut(Row row, uint i, Type value) {                                                   \
    if (rowKeeping == kKeepsBlocks)                                                            \
      rowTile[row.slot + i * row.slots] = value;                                               \
    else                                                                                       \
      STORE(y, row.first + i * row.inner, value);                                              \
  }                                                                                            \
  void storeRows(Row row) {                                                                    \
    if (rowKeeping == kKeepsBlocks) {                                                          \
      barrier();                                                                               \
      EACH_OF_BLOCKS(walk, row) STORE(y, walk.at, rowTile[walk.slot]); END_OF_EACH(walk)       \
    }                                                                                          \
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
