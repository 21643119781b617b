// Logical negation of bools. Driven by ops/unary/unary_vulkan.cpp.
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"

ELEMENTS_IN(0, X, x, BOOL)
ELEMENTS_OUT(1, Y, y, BOOL)

layout(push_constant) uniform Push {
  uint count;
} push;

#define NOT(x) !x
void main() { MAP_ELEMENTS(NOT, y, BOOL, x, BOOL, push.count) }
