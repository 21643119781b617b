// LpNormalization as parts: the norms of the rows, where zero becomes 1, divide the rows. Rows whose norm exceeds f32
// are scaled first.
#include <limits>

#include "engine/op/op_registry.h"
#include "ops/lp_norm/lp_norm_parts.h"
#include "ops/parts.h"

namespace opkit::ops::lp_norm {
namespace {

using Value = Decomposition::Value;

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<LpNormParams>();
  OPKIT_TRY(normalizeAxis(params.axis, args.shape(0).size()).error());
  if (params.p != 1 && params.p != 2) return Status::invalidArgument("p must be 1 or 2, got {}", params.p);
  return std::vector{args.input(0)};
}

/// x, where rows whose norm is infinite are multiplied by a power of two. Norms of widened halves are finite.
Result<Value> scaledRows(Decomposition& parts, Value x, Value norm) {
  OPKIT_ASSIGN(const Value infinite, scalarOf(parts, DType::Float32, std::numeric_limits<double>::infinity()));
  OPKIT_ASSIGN(const Value one, scalarOf(parts, DType::Float32, 1));
  OPKIT_ASSIGN(const Value small, scalarOf(parts, DType::Float32, 0x1p-40));
  return parts.add("Mul", {x, parts.add("Where", {parts.add("Equal", {norm, infinite}), small, one})});
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const auto params = args.params<LpNormParams>();
  const DType given = args.input(0).dtype, dtype = widened(given);
  OPKIT_ASSIGN(const Value zero, scalarOf(parts, dtype, 0));
  OPKIT_ASSIGN(const Value one, scalarOf(parts, dtype, 1));
  const auto normOf = [&](Value rows) {
    return reduced(parts, params.p == 1 ? "ReduceL1" : "ReduceL2", rows, {params.axis}, true);
  };
  Value x = castTo(parts, parts.input(0), given, dtype), norm = normOf(x);
  if (given == DType::Float32) {
    OPKIT_ASSIGN(x, scaledRows(parts, x, norm));
    norm = normOf(x);
  }
  const Value divisor = parts.add("Where", {parts.add("Equal", {norm, zero}), one, norm});
  parts.setOutput(0, castTo(parts, parts.add("Div", {x, divisor}), dtype, given));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "LpNormalization",
                .summary = "rows along an axis divided by their norm, L1 or L2",
                .params = paramsSchema<LpNormParams>(kLpNormSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = [](const ShapeArgs& args, auto) { return 3.0 * args.input(0).elements(); },
                .oracle = reference});
}

}  // namespace opkit::ops::lp_norm
