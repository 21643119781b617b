// Plain loops over columns that the compiler turns into vectors of each instruction set.
#include "ops/linear_attention/recurrence_wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear_attention/recurrence_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::linear_attention {
namespace HWY_NAMESPACE {

void decayAndHold(const TokenStep& step, float* HWY_RESTRICT state, float* HWY_RESTRICT held) {
  for (int64_t i = 0; i < step.keySize; ++i) {
    float* HWY_RESTRICT row = state + i * step.columns;
    const float factor = step.decay ? step.decay[i * step.decayStep] : 1, key = step.key[i];
    for (int64_t j = 0; j < step.columns; ++j) {
      row[j] *= factor;
      held[j] += key * row[j];
    }
  }
}

void addAndRead(const TokenStep& step, const float* HWY_RESTRICT added, float* HWY_RESTRICT state,
                float* HWY_RESTRICT sums) {
  for (int64_t i = 0; i < step.keySize; ++i) {
    float* HWY_RESTRICT row = state + i * step.columns;
    const float key = step.key[i], query = step.query[i] * step.scale;
    for (int64_t j = 0; j < step.columns; ++j) {
      row[j] += key * added[j];
      sums[j] += query * row[j];
    }
  }
}

void readAgain(const TokenStep& step, int64_t g, const float* HWY_RESTRICT state, float* HWY_RESTRICT sums) {
  for (int64_t i = 0; i < step.keySize; ++i) {
    const float* HWY_RESTRICT row = state + i * step.columns;
    const float query = step.query[g * step.keySize + i] * step.scale;
    for (int64_t j = 0; j < step.columns; ++j) sums[j] += query * row[j];
  }
}

void stepOnce(const TokenStep& step, float* state) {
  alignas(64) float added[kMostColumns] = {}, sums[kMostColumns];
  if (step.decay || step.isDelta) decayAndHold(step, state, added);
  for (int64_t j = 0; j < step.columns; ++j)
    added[j] = step.isDelta ? step.beta * (step.value[j] - added[j]) : step.value[j];
  for (int64_t g = 0; g < step.group; ++g) {
    for (float& sum : sums) sum = 0;
    if (g == 0)
      addAndRead(step, added, state, sums);
    else
      readAgain(step, g, state, sums);
    for (int64_t j = 0; j < step.columns; ++j) step.y[g * step.yRow + j] = sums[j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::linear_attention
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::linear_attention {
HWY_EXPORT(stepOnce);
void stepColumns(const TokenStep& step, float* state) { HWY_DYNAMIC_DISPATCH(stepOnce)(step, state); }
}  // namespace opkit::ops::linear_attention
#endif
