// Sums of products through tiles in shared memory: y[row, column] = sum over k of w[row, k] * x[k, column].
//
// A work group of gl_WorkGroupSize.y times x invocations makes kTileRows x kTileColumns results, BLOCK x BLOCK of them
// in the registers of each. It walks k in steps of kStep: fetch the next parts of w and x into registers, multiply the
// parts in shared memory, exchange. The including shader declares variants BLOCK (4 or 8) and VECTOR: with 4, buffers
// are read and written by vec4s, so that every contiguous extent and stride must be a multiple of 4; with 1, by
// elements. Included after storage.glsl.
//
// Shared memory holds an operand as [k][tile], so that invocations read vec4s along the tile. Operands are read along
// their contiguous axis. If that is k, neighbouring invocations write a column of shared memory: the place of a vec4 is
// exchanged with another of its eight, by k, so that they write to different banks (swizzle).
#ifndef OPKIT_PRODUCT_TILES_GLSL
#define OPKIT_PRODUCT_TILES_GLSL

layout(local_size_x = 16, local_size_x_id = 0, local_size_y = 16, local_size_y_id = 1) in;

#if VECTOR == 4
#define UNIT vec4
#ifdef STORAGE_F16
#define ELEMENT f16vec4
#define ELEMENT_OF(value) \
  f16vec4(vec4(roundToHalf((value).x), roundToHalf((value).y), roundToHalf((value).z), roundToHalf((value).w)))
#else
#define ELEMENT vec4
#define ELEMENT_OF(value) (value)
#endif
#else
#define UNIT float
#define ELEMENT STORAGE
#ifdef STORAGE_F16
#define ELEMENT_OF(value) float16_t(roundToHalf(value))
#else
#define ELEMENT_OF(value) (value)
#endif
#endif

const uint kStep = 16u;               // of k
const uint kUnits = 8u / VECTOR;      // of each operand, fetched by one invocation per step
#define kTileRows (gl_WorkGroupSize.y * BLOCK)
#define kTileColumns (gl_WorkGroupSize.x * BLOCK)
#define kGroup (gl_WorkGroupSize.x * gl_WorkGroupSize.y)

shared vec4 wTile[kStep * kTileRows / 4u];
shared vec4 xTile[kStep * kTileColumns / 4u];

// Where a work group reads one operand: element (k, outer) lies at base + k * depthStride + outer * outerStride; outer
// counts rows of w or columns of x.
struct Operand {
  uint base;
  uint depthStride;
  uint outerStride;
  uint first;   // outer index of the tile
  uint extent;  // outer indices of the matrix
};

// (k, outer) within the tile of a unit; units follow the contiguous axis.
uvec2 placeOf(uint unit, bool alongDepth, uint tile) {
  if (alongDepth) return uvec2(unit % (kStep / VECTOR) * VECTOR, unit / (kStep / VECTOR));
  return uvec2(unit / (tile / VECTOR), unit % (tile / VECTOR) * VECTOR);
}

// The vec4 of shared memory that holds outer indices 4 * quad .. of step k, and its component for one of them.
#if VECTOR == 4
uint spotOf(uint k, uint quad, uint tile) { return k * (tile / 4u) + (quad ^ (k / 4u * 2u)); }
uint componentOf(uint k, uint outer) { return outer & 3u; }
#else
uint spotOf(uint k, uint quad, uint tile) { return k * (tile / 4u) + (quad ^ (k & 7u)); }
uint componentOf(uint k, uint outer) { return (outer ^ (k / 8u * 2u)) & 3u; }
#endif

// FETCHES(name, buffer) declares void name(out UNIT units[kUnits], Operand from, uint k, uint end, uint tile): this
// invocation's part of steps k .. k + kStep - 1, zero from `end` and beyond the matrix.
#define FETCHES(name, buffer)                                                                             \
  void name(out UNIT units[kUnits], Operand from, uint k, uint end, uint tile) {                          \
    [[unroll]] for (uint i = 0u; i < kUnits; ++i) {                                                       \
      units[i] = UNIT(0.0);                                                                               \
      const uint unit = gl_LocalInvocationIndex + i * kGroup;                                             \
      const uvec2 place = placeOf(unit, from.depthStride == 1u, tile) + uvec2(k, from.first);             \
      if (unit < kStep * tile / VECTOR && place.x < end && place.y < from.extent)                         \
        units[i] = UNIT(buffer[(from.base + place.x * from.depthStride + place.y * from.outerStride) / VECTOR]); \
    }                                                                                                     \
  }

// KEEPS(name, parts) declares void name(UNIT units[kUnits], bool alongDepth, uint tile): puts what was fetched into
// shared memory.
#if VECTOR == 4
#define KEEP_UNIT(parts, place, value)                                                                    \
  if (alongDepth) {                                                                                       \
    [[unroll]] for (uint e = 0u; e < 4u; ++e)                                                             \
      parts[spotOf(place.x + e, place.y / 4u, tile)][componentOf(place.x + e, place.y)] = value[e];       \
  } else {                                                                                                \
    parts[spotOf(place.x, place.y / 4u, tile)] = value;                                                   \
  }
#else
#define KEEP_UNIT(parts, place, value) \
  parts[spotOf(place.x, place.y / 4u, tile)][componentOf(place.x, place.y)] = value;
#endif
#define KEEPS(name, parts)                                                                                \
  void name(UNIT units[kUnits], bool alongDepth, uint tile) {                                             \
    [[unroll]] for (uint i = 0u; i < kUnits; ++i) {                                                       \
      const uint unit = gl_LocalInvocationIndex + i * kGroup;                                             \
      const uvec2 place = placeOf(unit, alongDepth, tile);                                                \
      if (unit < kStep * tile / VECTOR) { KEEP_UNIT(parts, place, units[i]) }                             \
    }                                                                                                     \
  }
KEEPS(keepW, wTile)
KEEPS(keepX, xTile)

// Row and column, within the tile, of an invocation's results i and j. With VECTOR 4 it owns four neighbouring columns;
// with 1, neighbouring invocations own neighbouring columns, so that they store neighbours in both cases.
uint rowOf(uint i) { return 4u * (gl_LocalInvocationID.y + i / 4u * gl_WorkGroupSize.y) + i % 4u; }
#if VECTOR == 4
uint columnOf(uint j) { return 4u * (gl_LocalInvocationID.x + j / 4u * gl_WorkGroupSize.x) + j % 4u; }
#else
uint columnOf(uint j) { return gl_LocalInvocationID.x + j * gl_WorkGroupSize.x; }
#endif

void clearSums(out vec4 sum[BLOCK][BLOCK / 4]) {
  [[unroll]] for (uint i = 0u; i < BLOCK; ++i)
    [[unroll]] for (uint q = 0u; q < BLOCK / 4; ++q) sum[i][q] = vec4(0.0);
}

/// Adds the products of the tiles in shared memory.
void multiplyTiles(inout vec4 sum[BLOCK][BLOCK / 4]) {
  for (uint k = 0u; k < kStep; ++k) {
    vec4 left[BLOCK / 4], right[BLOCK / 4];
    [[unroll]] for (uint q = 0u; q < BLOCK / 4; ++q) {
      left[q] = wTile[spotOf(k, rowOf(4u * q) / 4u, kTileRows)];
#if VECTOR == 4
      right[q] = xTile[spotOf(k, columnOf(4u * q) / 4u, kTileColumns)];
#else
      left[q] = k < 8u ? left[q] : left[q].zwxy;
      [[unroll]] for (uint e = 0u; e < 4u; ++e) {
        const uint column = columnOf(4u * q + e);
        right[q][e] = xTile[spotOf(k, column / 4u, kTileColumns)][componentOf(k, column)];
      }
#endif
    }
    [[unroll]] for (uint i = 0u; i < BLOCK; ++i)
      [[unroll]] for (uint q = 0u; q < BLOCK / 4; ++q) sum[i][q] += left[i / 4u][i % 4u] * right[q];
  }
}

/// Limits values to [low, high]; a NaN stays.
#if VECTOR == 4
vec4 limited(vec4 value, float low, float high) {
  value = mix(value, vec4(low), lessThan(value, vec4(low)));
  return mix(value, vec4(high), greaterThan(value, vec4(high)));
}
#else
float limited(float value, float low, float high) { return value < low ? low : value > high ? high : value; }
#endif

/// The tile of this work group in a matrix of rows x columns: its first row and column. False beyond the last tile.
/// Neighbouring groups share columns.
bool findTile(uint rows, uint columns, out uvec2 first) {
  const uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  const uint rowTiles = ceilDiv(rows, kTileRows);
  first = uvec2(tile % rowTiles * kTileRows, tile / rowTiles * kTileColumns);
  return first.y < columns;
}

// STORE_SUMS(sum, first, rows, columns) calls keepSums(row, column, UNIT sums) for each result inside the matrix.
#if VECTOR == 4
#define STORE_SUMS(sum, first, rows, columns)                                            \
  [[unroll]] for (uint i = 0u; i < BLOCK; ++i)                                           \
    [[unroll]] for (uint q = 0u; q < BLOCK / 4; ++q) {                                   \
      const uint row = first.x + rowOf(i), column = first.y + columnOf(4u * q);          \
      if (row < rows && column < columns) keepSums(row, column, sum[i][q]);              \
    }
#else
#define STORE_SUMS(sum, first, rows, columns)                                            \
  [[unroll]] for (uint i = 0u; i < BLOCK; ++i)                                           \
    [[unroll]] for (uint j = 0u; j < BLOCK; ++j) {                                       \
      const uint row = first.x + rowOf(i), column = first.y + columnOf(j);               \
      if (row < rows && column < columns) keepSums(row, column, sum[i][j / 4u][j % 4u]); \
    }
#endif

#endif
