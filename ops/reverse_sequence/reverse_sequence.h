// Shared by the files of ReverseSequence.
#pragma once

#include "engine/op/op_def.h"
#include "ops/reverse_sequence/reverse_sequence_generated.h"

namespace opkit::ops::reverse_sequence {

/// x seen as [time, batch, inner] or [batch, time, inner]; slices of `inner` elements move.
struct ReversePlan {
  int64_t times, batches, inner;
  int64_t timeStride, batchStride;  // in slices
};

inline ReversePlan planReverse(const ReverseSequenceParamsT& params, const Shape& x) {
  const bool timeFirst = params.time_axis == 0;
  const int64_t times = x[timeFirst ? 0 : 1], batches = x[timeFirst ? 1 : 0];
  return {times, batches, elementCount(x, 2, x.size()), timeFirst ? batches : 1, timeFirst ? 1 : times};
}

/// The error for a length outside [0, times], the same on every backend.
inline Status badLength(int64_t times, int64_t found) {
  return Status::invalidArgument("ReverseSequence: sequence_lens must be in [0, {}], got {}", times, found);
}

}  // namespace opkit::ops::reverse_sequence
