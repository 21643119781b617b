// Unique: numbers the different slices. `places` are the slices in ascending order. A head is a slice that differs from the one
// before it; the heads before a slice give its group. Unsorted, the groups whose first slice comes before give its number.
// Each is a scan in two dispatches: parts are counted, then a team sums the counts of the parts before its own and walks its
// part. Driven by ops/unique/unique_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint kind = 0;
layout(constant_id = 4) const uint stage = 0;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer Places { uint places[]; };
layout(binding = 2) buffer PartCounts { uint partCounts[]; };  // [parts]
layout(binding = 3) buffer Groups { uint groups[]; };          // [slices]
layout(binding = 4) buffer Firsts { uint firsts[]; };          // [groups]: the first slice
layout(binding = 5) writeonly buffer Starts { uint starts[]; };    // [groups + 1]: its place
layout(binding = 6) writeonly buffer Numbers { uint numbers[]; };  // [groups]: its number in the output
layout(binding = 7) writeonly buffer Count { uvec2 count[]; };     // i64[1]

layout(push_constant) uniform Push {
  uint slices;
  uint elements;  // of a slice
  uint inner;
  uint parts;
  uint partLength;
} push;

#include "unique_slices.glsl"

const uint kCountHeads = 0, kWriteHeads = 1, kCountFirsts = 2, kWriteFirsts = 3;

uint plus(uint a, uint b) { return a + b; }
TEAM_FOLD(teamTotal, uint, plus)
TEAM_SCAN(teamBefore, uint, plus, 0u)

/// Whether element i of the scan begins something: a place is a head, or a slice the first of its group.
bool begins(uint i) {
  if (stage >= kCountFirsts) return firsts[groups[i]] == i;
  return i == 0u || differenceOf(places[i - 1u], places[i]) < push.elements;
}

void countPart(uint part, uint first, uint end) {
  uint own = 0u;
  EACH_OF_ROW(i, end - first) own += begins(first + i) ? 1u : 0u; END_OF_ROW
  const uint total = teamTotal(own);
  if (teamLane() == 0u && part < push.parts) partCounts[part] = total;
}

/// `before` of them begin before element i of the scan.
void write(uint i, bool begin, uint before) {
  if (stage == kWriteFirsts) {
    if (begin) numbers[groups[i]] = before;
    return;
  }
  const uint group = begin ? before : before - 1u;
  groups[places[i]] = group;
  if (begin) {
    firsts[group] = places[i];
    starts[group] = i;
  }
  if (i + 1u < push.slices) return;
  starts[group + 1u] = push.slices;
  count[0] = uvec2(group + 1u, 0u);
}

void writePart(uint part, uint first, uint end) {
  uint own = 0u;
  EACH_OF_ROW(i, min(part, push.parts)) own += partCounts[i]; END_OF_ROW
  uint before = teamTotal(own);
  for (uint at = 0u; at < push.partLength; at += team) {
    const uint i = first + at + teamLane();
    const bool begin = i < end && begins(i);
    uint all;
    const uint mine = before + teamBefore(begin ? 1u : 0u, all);
    if (team == 1u) all = begin ? 1u : 0u;
    if (i < end) write(i, begin, mine);
    before += all;
  }
}

void main() {
  const uint part = teamRow(), first = min(part * push.partLength, push.slices);
  const uint end = min(first + push.partLength, push.slices);
  if (stage == kCountHeads || stage == kCountFirsts) {
    countPart(part, first, end);
  } else {
    writePart(part, first, end);
  }
}
