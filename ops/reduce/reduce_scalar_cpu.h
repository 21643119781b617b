// The reductions on the CPU of integers and f64, and those of f32 that have no vector kernel (reduce_cpu.cpp): element
// by element, in 64 bits. With the offsets that both files compute.
#pragma once

#include "engine/backend/creator.h"
#include "ops/reduce/reduce.h"

namespace opkit::ops::reduce {

/// Offset of element `index` of the first `rank` loops of a nest over one operand.
inline int64_t offsetOf(const Loops& loops, size_t rank, int64_t index) {
  int64_t offset = 0;
  for (size_t d = rank; d-- > 0; index /= loops.size[d]) offset += index % loops.size[d] * loops.strides[0][d];
  return offset;
}

/// The kernel of `kind` for `dtypes`, which must not contain f16. `supports` checks that the axes are constant.
Creator scalarCreator(Kind kind, DTypeSet dtypes, std::function<Status(const CreateArgs&)> supports);

}  // namespace opkit::ops::reduce
