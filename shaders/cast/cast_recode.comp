// Cast between floats that are stored as codes. Driven by ops/cast/cast_vulkan.cpp.
//! variant FROM: u8 u16
//! variant TO: u8 u16
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "shaders/cast/codes.glsl"

ELEMENTS_IN(0, X, x, FROM)
ELEMENTS_OUT(1, Y, y, TO)

layout(push_constant) uniform Push {
  uint count;
  uint fromFractionBits;
  uint fromBias;
  uint fromSign;
  uint fromLargest;
  uint fromSpecial;
  uint fromNan;
  uint fractionBits;
  uint bias;
  uint sign;
  uint largest;
  uint special;
  uint nan;
  uint saturate;
  uint roundMode;
} push;

uint apply(uint code) {
  const Format from =
      Format(push.fromFractionBits, push.fromBias, push.fromSign, push.fromLargest, push.fromSpecial, push.fromNan);
  const Format to = Format(push.fractionBits, push.bias, push.sign, push.largest, push.special, push.nan);
  return encoded(decoded(code, from), to, push.saturate != 0u, push.roundMode);
}

void main() { MAP_ELEMENTS(apply, y, TO, x, FROM, push.count) }
