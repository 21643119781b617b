// LoopRegion's RunningSum over the rows of a tensor [rows / inner, terms, inner], for devices that read memory by the
// sector: neighbours load neighbours into shared memory, each invocation adds a run of terms there, and a scan over the
// team joins the runs. Rows that do not fit are walked tile by tile. Few long rows are divided: one dispatch sums the
// parts, a second one scans each part from the sum of the parts before it. running_sums.glsl has the arithmetic.
// Driven by engine/backend/vulkan/vulkan_running_sum.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint keepsRows = 0;  // whole rows fit into shared memory
layout(constant_id = 4) const uint stage = 0;      // kWhole, kSums or kParts
layout(constant_id = 5) const bool isProduct = false;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };
layout(binding = 2) buffer PartSums { ARITH partSums[]; };  // [2, parts, rows]: sum, rest

layout(push_constant) uniform Push {
  uint rows;
  uint terms;  // of a row
  uint inner;
  uint reverse;
  uint exclusive;
  uint parts;
  uint partLength;
} push;

const uint kWhole = 0, kSums = 1, kParts = 2;
const uint kRun = 9;  // vulkan_running_sum.cpp; odd, so that neighbours' runs begin in different banks

#include "running_sums.glsl"

KEEP_ROWS(ARITH, x)
KEEP_RESULTS(ARITH, y)

/// Of term n in its row.
uint position(uint n) { return push.reverse != 0 ? push.terms - 1u - n : n; }

/// What stands at term n, whose running sum up to it is `before`.
ARITH shown(Sum before, ARITH term) {
  const Sum sum = push.exclusive != 0 ? before : plusTerm(before, term);
  return valueOf(sum);
}

void scanKept() {
  const Row row = keepRows(push.rows, push.terms, push.inner);
  const uint run = ceilDiv(row.rowLength, team) | 1u;
  const uint first = min(teamLane() * run, row.extent), end = min(first + run, row.extent);
  Sum own = kNothing, all;
  for (uint n = first; n < end; ++n) own = plusTerm(own, rowIn(row, position(n)));
  Sum running = teamBefore(own, all);
  for (uint n = first; n < end; ++n) {
    const uint i = position(n);
    const ARITH term = rowIn(row, i);
    rowOut(row, i, shown(running, term));
    running = plusTerm(running, term);
  }
  storeRows(row);
}

/// A team's part of a row.
struct Terms {
  uint at;  // of term 0, in x
  uint first;
  uint end;
  uint row;
  uint part;
};

uint place(Terms terms, uint n) {
  return terms.at + position(n) * push.inner;
}

Terms termsOf(uint index) {
  Terms terms;
  terms.row = index % push.rows;
  terms.part = index / push.rows;
  terms.at = terms.row / push.inner * push.terms * push.inner + terms.row % push.inner;
  terms.first = terms.part * push.partLength;
  terms.end = terms.part < push.parts ? min(terms.first + push.partLength, push.terms) : terms.first;
  return terms;
}

/// The sum of the team's part.
Sum sumOf(Terms terms) {
  Sum own = kNothing, all;
  EACH_OF_ROW(i, terms.end - terms.first) own = plusTerm(own, LOAD(x, place(terms, terms.first + i))); END_OF_ROW
  teamBefore(own, all);
  return all;
}

/// The sum of the parts before the team's.
Sum sumBefore(Terms terms) {
  Sum own = kNothing, all;
  const uint count = push.parts * push.rows, parts = terms.part < push.parts ? terms.part : 0u;
  EACH_OF_ROW(i, parts)
    const uint at = i * push.rows + terms.row;
    own = plus(own, Sum(partSums[at], partSums[count + at]));
  END_OF_ROW
  teamBefore(own, all);
  return all;
}

/// Tile by tile: element e of a tile is term e / teamColumns of column e % teamColumns.
void scanTiles(Terms terms, Sum carry) {
  const uint at = gl_LocalInvocationIndex, column = at % teamColumns, lane = teamLane();
  for (uint tile = 0u; tile < push.partLength; tile += kRun * team) {
    const uint first = terms.first + tile;
    barrier();  // the tile before was stored
    [[unroll]] for (uint k = 0u; k < kRun; ++k) {
      const uint n = first + k * team + lane;
      rowTile[at + k * team * teamColumns] = n < terms.end ? LOAD(x, place(terms, n)) : kNoTerm;
    }
    barrier();
    const uint run = lane * kRun * teamColumns + column;
    Sum own = kNothing, all;
    [[unroll]] for (uint k = 0u; k < kRun; ++k) own = plusTerm(own, rowTile[run + k * teamColumns]);
    Sum running = plus(carry, teamBefore(own, all));
    carry = plus(carry, all);
    [[unroll]] for (uint k = 0u; k < kRun; ++k) {
      const ARITH term = rowTile[run + k * teamColumns];
      rowTile[run + k * teamColumns] = shown(running, term);
      running = plusTerm(running, term);
    }
    barrier();
    [[unroll]] for (uint k = 0u; k < kRun; ++k) {
      const uint n = first + k * team + lane;
      if (n < terms.end) STORE(y, place(terms, n), rowTile[at + k * team * teamColumns]);
    }
  }
}

void main() {
  if (keepsRows != 0u) {
    scanKept();
    return;
  }
  const Terms terms = termsOf(teamRow());
  if (stage == kSums) {
    const Sum sum = sumOf(terms);
    const uint count = push.parts * push.rows, index = terms.part * push.rows + terms.row;
    if (teamLane() != 0u || terms.part >= push.parts) return;
    partSums[index] = sum.sum;
    partSums[count + index] = sum.rest;
    return;
  }
  Sum carry = kNothing;
  if (stage == kParts) carry = sumBefore(terms);
  scanTiles(terms, carry);
}
