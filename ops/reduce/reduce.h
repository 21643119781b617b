// The reductions: operators that fold the elements along some axes into one. The rows are in reduce_table.h.
#pragma once

#include "engine/op/loops.h"
#include "engine/op/op_def.h"
#include "ops/reduce/reduce_generated.h"

namespace opkit::ops::reduce {

enum class Kind : uint32_t {
#define REDUCE(id, Name, numericClass) Name = id,
#include "ops/reduce/reduce_table.h"
};

/// The input of a reduction as two nests of loops, each with the input's strides.
struct View {
  Loops kept;     // over the output elements, in order
  Loops reduced;  // over the elements folded into one
};

/// The folded axes: those of `axes` (null if the input is absent: of the parameter), checked against the rank.
Result<std::vector<bool>> reducedAxes(const ReduceParamsT& params, const std::vector<int64_t>* axes, size_t rank);
View viewOf(const Shape& shape, const std::vector<bool>& reduced);

/// The oracle of one kind.
Status reference(Kind kind, const OracleArgs& args);

}  // namespace opkit::ops::reduce
