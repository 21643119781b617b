// Hardmax as parts: the place of each row's maximum, compared with the places of all elements.
#include <numeric>

#include "engine/op/op_registry.h"
#include "engine/op/rows.h"
#include "ops/arg_reduce/arg_reduce_generated.h"
#include "ops/hardmax/hardmax_parts.h"
#include "ops/parts.h"

namespace opkit::ops::hardmax {
namespace {

using Value = Decomposition::Value;

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(normalizeAxis(args.params<HardmaxParams>().axis, args.shape(0).size()).error());
  return std::vector{args.input(0)};
}

/// x as [outer, extent, inner], so that rows over several axes are rows along one.
Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const auto params = args.params<HardmaxParams>();
  const Shape& shape = args.shape(0);
  const Rows rows = params.flatten ? rowsFrom(shape, params.axis) : rowsAlong(shape, params.axis);
  if (outputs[0].elements() == 0) {
    parts.setOutput(0, parts.input(0));
    return Status::ok();
  }
  std::vector<int64_t> everyPlace(static_cast<size_t>(rows.extent));
  std::iota(everyPlace.begin(), everyPlace.end(), 0);
  OPKIT_ASSIGN(const Value asRows, listOf(parts, {rows.outer, rows.extent, rows.inner}));
  OPKIT_ASSIGN(const Value places, integersOf(parts, {rows.extent, 1}, everyPlace));
  OPKIT_ASSIGN(const Value asInput, listOf(parts, shape));
  arg_reduce::ArgReduceParamsT alongRows;
  alongRows.axis = 1;
  const Value largest = parts.add("ArgMax", {parts.add("Reshape", {parts.input(0), asRows})}, packParams(alongRows));
  const Value marked = castTo(parts, parts.add("Equal", {largest, places}), DType::Bool, outputs[0].dtype);
  parts.setOutput(0, parts.add("Reshape", {marked, asInput}));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Hardmax",
                .summary = "1 for the first largest element of each row along an axis, 0 for the others",
                .params = paramsSchema<HardmaxParams>(kHardmaxSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y", kFloats}},
                .inferShapes = shapeRule,
                .decompose = decompose,
                .oracle = reference});
}

}  // namespace opkit::ops::hardmax
