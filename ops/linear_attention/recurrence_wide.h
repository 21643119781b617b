// One token of a linear recurrence on some columns of a state.
#pragma once

#include <cstdint>

namespace opkit::ops::linear_attention {

inline constexpr int64_t kMostColumns = 64;

/// Pointers to the elements of one token and one head; `columns` counts those of value, y and the state.
struct TokenStep {
  const float* key;    // [keySize]
  const float* value;  // [columns]
  const float* decay;  // factors, decayStep apart; null: none
  int64_t decayStep;
  bool isDelta;
  float beta;
  const float* query;  // [group, keySize]
  int64_t group;
  float scale;
  float* y;  // row g of the group at y + g * yRow
  int64_t yRow;
  int64_t keySize, columns;
};

/// Changes state[keySize, columns] by the token and reads it. REQUIRES at most kMostColumns columns. Thread-safe.
void stepColumns(const TokenStep& step, float* state);

}  // namespace opkit::ops::linear_attention
