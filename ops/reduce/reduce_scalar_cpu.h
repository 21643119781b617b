// The reductions on the CPU of integers and f64, and those of f32 that have no vector kernel (reduce_cpu.cpp): element
// by element, in 64 bits.
#pragma once

#include "engine/backend/creator.h"
#include "ops/reduce/reduce.h"

namespace opkit::ops::reduce {

/// The kernel of `kind` for `dtypes`, which must not contain f16. `supports` checks that the axes are constant.
Creator scalarCreator(Kind kind, DTypeSet dtypes, std::function<Status(const CreateArgs&)> supports);

}  // namespace opkit::ops::reduce
