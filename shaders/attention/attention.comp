// Attention with an online softmax. A work group takes kRows queries that share a head of keys, and a slice of the
// columns of the values. It walks blocks of kKeys keys: an invocation computes the scores of EACH keys, then sums WIDTH
// columns of the values over its part of the block. What was summed is scaled anew when a larger score appears. On GPUs
// the keys of a block pass through shared memory, so that neighbours read neighbours. Driven by
// ops/attention/attention_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant BOOLS: 0 1
//! variant UNITS: 1 2
//! variant WIDTH: 1 4
#version 450
#include "common.glsl"
#include "four.glsl"
#include "math.glsl"

#define LANES 64
#define EACH 4
const uint kRows = 4u * UNITS;
const uint kKeys = uint(LANES * EACH);
const uint kStep = 16u;  // of the head's size, staged at once
const uint kFold = 8u;   // invocations that fold the largest scores of four rows
#define kNone (-kInfinity)
const int kFarthest = 1 << 29;  // of attention_vulkan.cpp

layout(local_size_x = LANES) in;
layout(constant_id = 0) const uint headSize = 64;
layout(constant_id = 1) const uint hasMask = 0;
layout(constant_id = 2) const uint hasLengths = 0;
layout(constant_id = 3) const uint staged = 0;  // keys pass through shared memory
layout(constant_id = 4) const uint tileElements = 1;
layout(constant_id = 5) const uint lanesOfColumns = 16;  // a power of two; parts of a block are summed side by side
layout(constant_id = 6) const uint hasSink = 0;

// A buffer as elements and as fours.
#define TWO_VIEWS(number, Block, name)                                       \
  layout(binding = number) readonly buffer Block { STORAGE name[]; };        \
  layout(binding = number) readonly buffer Block##4 { STORAGE_TYPE4 name##4[]; };

layout(binding = 0) readonly buffer Q { STORAGE q[]; };
TWO_VIEWS(1, K, k)
TWO_VIEWS(2, V, v)
#if BOOLS
layout(binding = 3) readonly buffer Mask { uint8_t mask[]; };
#else
layout(binding = 3) readonly buffer Mask { STORAGE mask[]; };
#endif
layout(binding = 4) readonly buffer Lengths { int lengths[]; };  // low words and high words
layout(binding = 5) readonly buffer Sink { STORAGE sink[]; };  // a score per head that weighs no value
layout(binding = 6) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint groups;
  uint tokens;  // of q
  uint keys;
  uint values;  // columns
  uint rows;    // queries that share a head of keys
  uint group;   // heads that do
  uint heads;   // of keys
  uint blocks;  // of rows
  uint slices;  // of columns
  uint qStrides[3];  // batch, head, token
  uint kStrides[3];
  uint vStrides[3];
  uint yStrides[3];
  uint maskStrides[4];
  uint maskKeys;
  int left;
  int right;
  int past;
  float scale;
  float softcap;
} push;

#if WIDTH == 4
#define COLUMNS vec4
#define LOAD_COLUMNS(buffer, i) STORAGE_LOAD4(buffer, i)
#else
#define COLUMNS float
#define LOAD_COLUMNS(buffer, i) LOAD(buffer, i)
#endif

shared vec4 queries[headSize * UNITS];    // [headSize, kRows]
shared vec4 weights[kKeys * UNITS];       // [keys, kRows]; at the end sums [kRows, invocations, WIDTH] of half the rows
shared vec4 parts[LANES * UNITS];         // of the largest scores, and of the totals
shared vec4 largestFound[UNITS];
shared float keyTile[tileElements];       // [keys, kStep], at tileSlot
shared ivec2 ranges[kRows];
shared int hidingBlock;                   // the first key of the last block in which a key is hidden from a row

#define lane gl_LocalInvocationIndex

uint batch, kvHead, firstRow;

uint headOf(uint row) { return kvHead * push.group + row / push.tokens; }

/// Keys that a row sees: [x, y).
ivec2 rangeOf(uint row) {
  const int query = int(row % push.tokens);
  int position = query + push.past, end = int(hasMask != 0u ? push.maskKeys : push.keys);
  if (hasLengths != 0u) {
    const int length = clamp(saturated(lengths[2u * batch], lengths[2u * batch + 1u]), -kFarthest, kFarthest);
    end = clamp(length, 0, end);
    position = query + (length - int(push.tokens));
  }
  int begin = 0;
  if (push.left >= 0) begin = max(position - push.left, 0);
  if (push.right >= 0) end = min(end, position + push.right + 1);
  return ivec2(begin, max(begin, end));
}

void loadQueries() {
  for (uint i = lane; i < kRows * headSize; i += LANES) {
    const uint r = i / headSize, d = i % headSize, row = firstRow + r;
    float value = 0.0;
    if (row < push.rows) {
      const uint at = batch * push.qStrides[0] + headOf(row) * push.qStrides[1] + row % push.tokens * push.qStrides[2];
      value = LOAD(q, at + d);
    }
    queries[d * UNITS + r / 4u][r % 4u] = value * push.scale;
  }
  if (lane < kRows) ranges[lane] = rangeOf(min(firstRow + lane, push.rows - 1u));
  if (lane == 0u) hidingBlock = -1;
}

/// Where element d of a staged key lies: XOR it with d. Neither 32 keys nor two keys of kStep elements meet in a bank.
uint tileSlot(uint key) { return key * kStep ^ key / 2u % kStep; }

void stageKeys(uint base, uint count, uint firstSize) {
  barrier();
  for (uint i = lane; i < kKeys * kStep; i += LANES) {
    const uint key = i / kStep, d = i % kStep;
    if (key < count && firstSize + d < headSize)
      keyTile[tileSlot(key) ^ d] = LOAD(k, base + key * push.kStrides[2] + firstSize + d);
  }
  barrier();
}

#define ADD_PRODUCTS(d, value)                                              \
  [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) {                            \
    const vec4 rowsOfStep = queries[(d) * UNITS + u];                       \
    [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) score[e * UNITS + u] += rowsOfStep * value[e]; \
  }

/// The products of all rows with keys lane, lane + LANES, ... of the block.
void multiply(uint base, uint count, out vec4 score[EACH * UNITS]) {
  [[unroll]] for (uint i = 0u; i < uint(EACH * UNITS); ++i) score[i] = vec4(0.0);
  uint own[EACH];
  [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) own[e] = min(lane + e * LANES, count - 1u);
  float value[EACH];
  if (staged != 0u) {
    uint slot[EACH];
    [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) slot[e] = tileSlot(own[e]);
    for (uint first = 0u; first < headSize; first += kStep) {
      stageKeys(base, count, first);
      for (uint d = 0u; d < min(kStep, headSize - first); ++d) {
        [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) value[e] = keyTile[slot[e] ^ d];
        ADD_PRODUCTS(first + d, value)
      }
    }
    return;
  }
  [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) own[e] = base + own[e] * push.kStrides[2];
  for (uint d = 0u; d < headSize; d += WIDTH) {
    COLUMNS some[EACH];
    [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) some[e] = LOAD_COLUMNS(k, own[e] + d);
#if WIDTH == 4
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) value[e] = some[e][i];
      ADD_PRODUCTS(d + i, value)
    }
#else
    ADD_PRODUCTS(d, some)
#endif
  }
}

/// Softcap, mask and window of one score. The score of a hidden key is selected, not added to: it may be NaN.
float adjusted(float score, uint row, int key, ivec2 range) {
  if (key < range.x || key >= range.y || row >= push.rows) return kNone;
  if (push.softcap > 0.0) score = push.softcap * mathTanh(score / push.softcap);
  if (hasMask == 0u) return score;
  const uint at = batch * push.maskStrides[0] + headOf(row) * push.maskStrides[1] +
                  row % push.tokens * push.maskStrides[2] + uint(key) * push.maskStrides[3];
#if BOOLS
  return uint(mask[at]) != 0u ? score : kNone;
#else
  const float added = LOAD(mask, at);
  return added == kNone ? kNone : score + added;
#endif
}

/// Adjusts this invocation's scores, which pass through shared memory, where they have addresses.
void adjust(int key, uint count, inout vec4 score[EACH * UNITS]) {
  [[unroll]] for (uint e = 0u; e < uint(EACH); ++e)
    [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) weights[(lane + e * LANES) * UNITS + u] = score[e * UNITS + u];
  for (uint own = lane; own < count; own += LANES)
    for (uint r = 0u; r < kRows; ++r) {
      const uint at = own * UNITS + r / 4u;
      const float score = adjusted(weights[at][r % 4u], firstRow + r, key + int(own), ranges[r]);
      weights[at][r % 4u] = score;
      if (score == kNone && firstRow + r < push.rows) atomicMax(hidingBlock, key);
    }
  [[unroll]] for (uint e = 0u; e < uint(EACH); ++e)
    [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) score[e * UNITS + u] = weights[(lane + e * LANES) * UNITS + u];
}

/// The largest score of each row in the block.
void findLargest(vec4 score[EACH * UNITS], out vec4 largest[UNITS]) {
  [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) {
    vec4 part = score[u];
    [[unroll]] for (uint e = 1u; e < uint(EACH); ++e) part = max(part, score[e * UNITS + u]);
    parts[lane * UNITS + u] = part;
  }
  barrier();
  if (lane < kFold * UNITS) {
    vec4 part = parts[lane];
    for (uint j = lane + kFold * UNITS; j < LANES * UNITS; j += kFold * UNITS) part = max(part, parts[j]);
    parts[lane] = part;
  }
  barrier();
  if (lane < UNITS) {
    vec4 found = parts[lane];
    [[unroll]] for (uint i = 1u; i < kFold; ++i) found = max(found, parts[i * UNITS + lane]);
    largestFound[lane] = found;
  }
  barrier();
  [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) largest[u] = largestFound[u];
}

/// e^(x - largest) by components; 0 for no score, also where no row has one.
vec4 weightOf(vec4 x, vec4 largest) { return mix(exp(x - largest), vec4(0.0), equal(x, vec4(kNone))); }

/// Adds WIDTH columns of the values from element `from` on over part of a block.
void addValues(uint from, uint part, uint count, inout COLUMNS sum[kRows]) {
  for (uint j = part; j < count; j += uint(LANES) / lanesOfColumns) {
    const COLUMNS value = LOAD_COLUMNS(v, from + j * push.vStrides[2]);
    [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) {
      const vec4 weight = weights[j * UNITS + u];
      [[unroll]] for (uint r = 0u; r < 4u; ++r) sum[4u * u + r] += weight[r] * value;
    }
  }
}

/// The same in a block that has hidden keys, whose weight is negative: their values may be NaN and are left out.
void addSeenValues(uint from, uint part, uint count, inout COLUMNS sum[kRows]) {
  for (uint j = part; j < count; j += uint(LANES) / lanesOfColumns) {
    const COLUMNS value = LOAD_COLUMNS(v, from + j * push.vStrides[2]);
    [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) {
      const vec4 weight = weights[j * UNITS + u];
      [[unroll]] for (uint r = 0u; r < 4u; ++r)
        if (!(weight[r] < 0.0)) sum[4u * u + r] += weight[r] * value;
    }
  }
}

/// Sums of the parts of a block's keys, and of the totals, in a fixed order: those of an invocation's columns remain in
/// the first `lanesOfColumns` invocations.
void foldParts(inout COLUMNS sum[kRows], inout vec4 total[UNITS]) {
  [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) parts[lane * UNITS + u] = total[u];
  for (uint width = LANES / 2u; width > 0u; width /= 2u) {
    barrier();
    if (lane < width)
      [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) parts[lane * UNITS + u] += parts[(lane + width) * UNITS + u];
  }
  barrier();
  [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) total[u] = parts[u];
  if (lanesOfColumns == LANES) return;
  [[unroll]] for (uint r = 0u; r < kRows; ++r) {
    barrier();
    weights[lane] = vec4(sum[r]);
    barrier();
    if (lane < lanesOfColumns)
      for (uint other = lane + lanesOfColumns; other < LANES; other += lanesOfColumns)
#if WIDTH == 4
        sum[r] += weights[other];
#else
        sum[r] += weights[other].x;
#endif
  }
}

void storeColumns(uint column, COLUMNS sum[kRows], vec4 total[UNITS]) {
  [[unroll]] for (uint r = 0u; r < kRows; ++r) {
    const uint row = firstRow + r;
    if (row < push.rows) {
      const float whole = total[r / 4u][r % 4u];
      const uint at =
          batch * push.yStrides[0] + headOf(row) * push.yStrides[1] + row % push.tokens * push.yStrides[2] + column;
#if WIDTH == 4
      [[unroll]] for (uint c = 0u; c < 4u; ++c)
        if (column + c < push.values) STORE(y, at + c, whole == 0.0 ? 0.0 : sum[r][c] / whole);
#else
      STORE(y, at, whole == 0.0 ? 0.0 : sum[r] / whole);
#endif
    }
  }
}

void main() {
  const uint index = linearGroup();
  if (index >= push.groups) return;
  const uint column = (index % push.slices * lanesOfColumns + lane % lanesOfColumns) * WIDTH;
  const uint part = lane / lanesOfColumns;
  firstRow = index / push.slices % push.blocks * kRows;
  kvHead = index / push.slices / push.blocks % push.heads;
  batch = index / push.slices / push.blocks / push.heads;
  loadQueries();
  barrier();

  ivec2 all = ivec2(0x7FFFFFFF, 0), inner = ivec2(0, 0x7FFFFFFF);  // keys that any row sees, and that all do
  for (uint r = 0u; r < kRows; ++r) {
    const ivec2 range = ranges[r];
    if (range.x < range.y) all = ivec2(min(all.x, range.x), max(all.y, range.y));
    inner = ivec2(max(inner.x, range.x), min(inner.y, range.y));
  }
  COLUMNS sum[kRows];
  vec4 total[UNITS], largest[UNITS];
  [[unroll]] for (uint r = 0u; r < kRows; ++r) sum[r] = COLUMNS(0.0);
  [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) {
    total[u] = vec4(0.0);
    largest[u] = vec4(kNone);
    if (hasSink != 0u) {
      [[unroll]] for (uint r = 0u; r < 4u; ++r)
        largest[u][r] = LOAD(sink, headOf(min(firstRow + 4u * u + r, push.rows - 1u)));
      if (lane == 0u) total[u] = weightOf(largest[u], largest[u]);  // 1 once, for totals are summed over the lanes
    }
  }
  for (int key = all.x; key < all.y; key += int(kKeys)) {
    const uint count = min(kKeys, uint(all.y - key));
    vec4 score[EACH * UNITS], found[UNITS];
    multiply(batch * push.kStrides[0] + kvHead * push.kStrides[1] + uint(key) * push.kStrides[2], count, score);
    if (hasMask != 0u || push.softcap > 0.0 || key < inner.x || key + int(count) > inner.y) adjust(key, count, score);
    [[unroll]] for (uint e = 0u; e < uint(EACH); ++e)
      if (lane + e * LANES >= count)
        [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) score[e * UNITS + u] = vec4(kNone);
    findLargest(score, found);
    const float ofHidden = hidingBlock == key ? -1.0 : 0.0;
    [[unroll]] for (uint u = 0u; u < uint(UNITS); ++u) {
      const vec4 before = largest[u];
      largest[u] = max(before, found[u]);
      const vec4 factor = weightOf(before, largest[u]);
      total[u] *= factor;
      [[unroll]] for (uint e = 0u; e < uint(EACH); ++e) {
        const vec4 weight = weightOf(score[e * UNITS + u], largest[u]);
        weights[(lane + e * LANES) * UNITS + u] = mix(weight, vec4(ofHidden), equal(score[e * UNITS + u], vec4(kNone)));
        total[u] += weight;  // of this invocation's keys
      }
      [[unroll]] for (uint r = 0u; r < 4u; ++r) sum[4u * u + r] *= factor[r];
    }
    barrier();
    if (column < push.values) {
      const uint from = batch * push.vStrides[0] + kvHead * push.vStrides[1] + uint(key) * push.vStrides[2] + column;
      if (hidingBlock == key)
        addSeenValues(from, part, count, sum);
      else
        addValues(from, part, count, sum);
    }
    barrier();
  }
  foldParts(sum, total);
  if (lane < lanesOfColumns && column < push.values) storeColumns(column, sum, total);
}
