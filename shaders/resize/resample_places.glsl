// Which outputs an invocation of Resample gives, and which positions they read. A tensor is [outer, axes 0 to 5, inner];
// axes that an operator does not need come first and have extent 1. An invocation gives `rowsEach` neighbours along axis
// 4, a column: what it knows of its place along axis 5 serves all of them. The table names the input positions of each
// axis: those of the first taps of all outputs, of the second taps, ...
// A shader declares `table`, `firstAxis` and `rowsEach` before it includes this.
#ifndef OPKIT_RESAMPLE_PLACES_GLSL
#define OPKIT_RESAMPLE_PLACES_GLSL

const uint kAxes = 6, kRow = 4, kColumn = 5;
const uint kOutside = 0xFFFFFFFFu;

layout(push_constant) uniform Push {
  uint count;  // invocations
  uint inner;
  uint outside[2];  // bits of the value of outputs outside the input
  uint inputs[kAxes];
  uint outputs[kAxes];
  uint taps[kAxes];
  uint first[kAxes];  // word of the table with which the axis begins
} push;

/// The input position that output `o` of axis d reads with its tap `tap`; kOutside if the output is outside the input.
uint positionOf(uint d, uint tap, uint o) { return table[push.first[d] + tap * push.outputs[d] + o]; }

struct Place {
  uint inner;
  uint column;
  uint firstRow;
  uint spot[4];    // along the axes 0 to 3
  uint outer;
  uint outputRow;  // number of output row 0 of the column, among all rows
  bool inside;     // along all axes but 4
};

Place placeOf(uint i) {
  Place place;
  place.inner = i % push.inner;
  uint rest = i / push.inner;
  place.column = rest % push.outputs[kColumn];
  rest /= push.outputs[kColumn];
  const uint blocks = ceilDiv(push.outputs[kRow], rowsEach);
  place.firstRow = rest % blocks * rowsEach;
  rest /= blocks;
  place.outputRow = rest * push.outputs[kRow];
  place.inside = positionOf(kColumn, 0u, place.column) != kOutside;
  for (uint d = kRow; d-- > firstAxis;) {
    place.spot[d] = rest % push.outputs[d];
    rest /= push.outputs[d];
    place.inside = place.inside && positionOf(d, 0u, place.spot[d]) != kOutside;
  }
  place.outer = rest;
  return place;
}

bool isInside(Place place, uint row) { return place.inside && positionOf(kRow, 0u, row) != kOutside; }

uint outputAt(Place place, uint row) {
  return ((place.outputRow + row) * push.outputs[kColumn] + place.column) * push.inner + place.inner;
}

#endif
