// Means of floats whose sum would overflow although the mean does not: elements of 2^64 and more go into a separate
// sum, times 2^-32, which is exact. Neither sum can overflow with up to 2^31 elements, and means of smaller elements
// have the bits of sum / count. Included after storage.glsl.
#ifndef OPKIT_MEAN_GLSL
#define OPKIT_MEAN_GLSL

#ifdef STORAGE_F16
const bool kSumOverflows = false;  // 65504 * 2^31 is a float
#else
const bool kSumOverflows = true;
#endif
const float kHugeElement = 1.8446744e19;        // 2^64
const float kHugeScale = 2.3283064365386963e-10;  // 2^-32

/// Adds `value` to the sums, component by component.
void addToMean(vec4 value, inout vec4 sum, inout vec4 hugeSum) {
  const bvec4 isHuge = kSumOverflows ? greaterThanEqual(abs(value), vec4(kHugeElement)) : bvec4(false);
  sum += mix(value, vec4(0.0), isHuge);
  if (kSumOverflows) hugeSum += mix(vec4(0.0), value * kHugeScale, isHuge);
}
void addToMean(float value, inout float sum, inout float hugeSum) {
  const bool isHuge = kSumOverflows && abs(value) >= kHugeElement;
  sum += isHuge ? 0.0 : value;
  if (kSumOverflows) hugeSum += isHuge ? value * kHugeScale : 0.0;
}

/// The sums divided by `count` > 0. Infinite only if an element is.
float meanOf(float sum, float hugeSum, float count) {
  if (hugeSum == 0.0) return sum / count;
  if (isinf(hugeSum) || isnan(hugeSum)) return hugeSum + sum;
  const float largest = 3.40282347e38;
  const float mean = (sum * kHugeScale + hugeSum) / count / kHugeScale;
  return mean > largest ? largest : mean < -largest ? -largest : mean;  // a NaN stays
}
vec4 meanOf(vec4 sum, vec4 hugeSum, float count) {
  return vec4(meanOf(sum.x, hugeSum.x, count), meanOf(sum.y, hugeSum.y, count), meanOf(sum.z, hugeSum.z, count),
              meanOf(sum.w, hugeSum.w, count));
}

#endif
