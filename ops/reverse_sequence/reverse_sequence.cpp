#include "ops/reverse_sequence/reverse_sequence.h"

#include "engine/op/op_registry.h"
#include "ops/reverse_sequence/reverse_sequence_parts.h"

namespace opkit::ops::reverse_sequence {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<ReverseSequenceParams>();
  const Shape& x = args.shape(0);
  if (x.size() < 2) return Status::invalidArgument("x must have a time and a batch axis, got {}", toString(x));
  if (params.batch_axis + params.time_axis != 1 || params.batch_axis * params.time_axis != 0)
    return Status::invalidArgument("batch_axis and time_axis must be 0 and 1, got {} and {}", params.batch_axis,
                                   params.time_axis);
  const Shape lengths{x[static_cast<size_t>(params.batch_axis)]};
  if (args.shape(1) != lengths)
    return Status::invalidArgument("sequence_lens must be {}, got {}", toString(lengths), toString(args.shape(1)));
  return std::vector{args.input(0)};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "ReverseSequence",
                .summary = "each sequence of a batch backwards, up to its length",
                .params = paramsSchema<ReverseSequenceParams>(kReverseSequenceSchema),
                .inputs = {{"x"}, {"sequence_lens", DTypeSet{DType::Int64}}},
                .outputs = {{"y"}},
                .inferShapes = shapeRule,
                .flops = [](const ShapeArgs&, auto) { return 0; },
                .oracle = reference});
}

}  // namespace opkit::ops::reverse_sequence
