// Values from data that must lie in [0, last]. Included after the declaration of `buffer Bad { int bad[]; }`, which
// keeps the largest that is too large and the smallest that is too small for the report to the host.
#ifndef OPKIT_REPORT_GLSL
#define OPKIT_REPORT_GLSL

/// The value, or the nearest end if it is outside, which is reported.
int checkedRange(int value, int last) {
  if (value > last) atomicMax(bad[0], value);
  if (value < 0) atomicMin(bad[1], value);
  return clamp(value, 0, last);
}

#endif
