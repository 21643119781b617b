// Selects boxes by falling score that overlap no selected one. A team per row of scores (batch, class): each step drops
// the boxes that overlap the box selected last while it looks for the best of the rest. `left` keeps the scores between
// steps, NaN for dropped boxes. Several dispatches of `steps` steps follow each other; the last one (kJoin) moves the rows'
// selections together and clears what is unused. Driven by ops/non_max_suppression/non_max_suppression_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "four.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint stage = 0;         // kSelect or kJoin
layout(constant_id = 4) const uint aroundCentre = 0;  // boxes are [x, y, width, height], else two corners
layout(constant_id = 5) const uint hasOverlapLimit = 0;
layout(constant_id = 6) const uint hasScoreLimit = 0;

layout(binding = 0) readonly buffer Boxes { STORAGE_TYPE4 boxes4[]; };  // [batch, boxCount]
layout(binding = 1) readonly buffer Scores { STORAGE scores[]; };  // [rows, boxCount]
layout(binding = 2) readonly buffer OverlapLimit { STORAGE overlapLimit[]; };
layout(binding = 3) readonly buffer ScoreLimit { STORAGE scoreLimit[]; };
layout(binding = 4) buffer Left { float left[]; };             // [rows, boxCount]
layout(binding = 5) buffer Selected { uint selected[]; };      // [rows, most]
layout(binding = 6) buffer Found { uint found[]; };            // [rows]: selected so far
layout(binding = 7) writeonly buffer Indices { uvec2 indices[]; };  // i64[rows * most, 3]
layout(binding = 8) writeonly buffer Count { uvec2 count[]; };      // i64[1]

layout(push_constant) uniform Push {
  uint rows;
  uint classes;
  uint boxCount;
  uint most;
  uint first;  // step of this dispatch
  uint steps;
} push;

const uint kSelect = 0;
const uint kNone = 0xFFFFFFFFu;

struct Best {
  float score;
  uint index;  // kNone: no box is left
};
Best better(Best a, Best b) {
  if (a.index == kNone) return b;
  if (b.index == kNone) return a;
  if (a.score > b.score) return a;
  if (a.score < b.score) return b;
  return a.index < b.index ? a : b;
}
uvec2 plus(uvec2 a, uvec2 b) { return a + b; }
TEAM_FOLD(teamBest, Best, better)
TEAM_FOLD(teamSums, uvec2, plus)

struct Box {
  vec2 low;
  vec2 high;
};
Box boxAt(uint index) {
  const vec4 words = STORAGE_LOAD4(boxes, index * 4u);
  const vec2 a = words.xy, b = words.zw;
  if (aroundCentre != 0u) return Box(a - b * 0.5, a + b * 0.5);
  return Box(min(a, b), max(a, b));
}

/// Whether intersection over union is above the limit; boxes without area overlap nothing.
bool overlaps(Box p, Box q, float limit) {
  const vec2 ofP = max(p.high - p.low, 0.0), ofQ = max(q.high - q.low, 0.0);
  const vec2 sides = max(min(p.high, q.high) - max(p.low, q.low), 0.0);
  precise const float both = sides.x * sides.y, all = ofP.x * ofP.y + ofQ.x * ofQ.y - both;
  return both > limit * all;
}

/// The score of a box that no step has looked at; NaN if it is not considered.
float givenScore(uint at) {
  const float score = LOAD(scores, at);
  if (hasScoreLimit == 0u || score > LOAD(scoreLimit, 0u)) return score;
  return kNaN;
}

void select(uint row) {
  const uint firstBox = row / push.classes * push.boxCount, firstScore = row * push.boxCount;
  const float limit = hasOverlapLimit != 0u ? LOAD(overlapLimit, 0u) : 0.0;
  uint made = 0u, last = kNone;
  bool isDone = row >= push.rows;
  if (!isDone && push.first != 0u) {
    made = found[row];
    isDone = made < push.first;
    last = isDone ? kNone : selected[row * push.most + made - 1u];
  }
  for (uint step = 0u; step < push.steps; ++step) {
    const uint extent = isDone ? 0u : push.boxCount;
    Box chosen = Box(vec2(0.0), vec2(0.0));
    if (last != kNone) chosen = boxAt(firstBox + last);
    Best own = Best(0.0, kNone);
    EACH_OF_ROW(i, extent) {
      const bool isNew = last == kNone;
      float score = isNew ? givenScore(firstScore + i) : left[firstScore + i];
      const bool drops = !isNew && !isNan(score) && (i == last || overlaps(boxAt(firstBox + i), chosen, limit));
      if (drops) score = kNaN;
      if (isNew || drops) left[firstScore + i] = score;
      if (!isNan(score)) own = better(own, Best(score, i));
    } END_OF_ROW
    const Best best = teamBest(own);
    isDone = isDone || best.index == kNone;
    if (isDone) continue;
    last = best.index;
    if (teamLane() == 0u) selected[row * push.most + made] = last;
    ++made;
  }
  if (row < push.rows && teamLane() == 0u) found[row] = made;
}

void writeRow(uint at, uint batch, uint classIndex, uint box) {
  indices[at * 3u] = uvec2(batch, 0u);
  indices[at * 3u + 1u] = uvec2(classIndex, 0u);
  indices[at * 3u + 2u] = uvec2(box, 0u);
}

void join(uint row) {
  uvec2 sums = uvec2(0u);  // found in the rows before this one, in all
  EACH_OF_ROW(i, push.rows) sums += uvec2(i < row ? found[i] : 0u, found[i]); END_OF_ROW
  sums = teamSums(sums);
  if (row == 0u && teamLane() == 0u) count[0] = uvec2(sums.y, 0u);
  const uint extent = row < push.rows ? push.most : 0u;
  EACH_OF_ROW(i, extent) {
    if (i < found[row]) writeRow(sums.x + i, row / push.classes, row % push.classes, selected[row * push.most + i]);
    if (row * push.most + i >= sums.y) writeRow(row * push.most + i, 0u, 0u, 0u);
  } END_OF_ROW
}

void main() {
  if (stage == kSelect) {
    select(teamRow());
  } else {
    join(teamRow());
  }
}
