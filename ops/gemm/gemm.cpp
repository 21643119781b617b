#include "ops/gemm/gemm.h"

#include "engine/op/clamp.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::gemm {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  for (size_t i = 1; i < args.inputs.size(); ++i)
    if (args.hasInput(i) && args.input(i).dtype != args.input(0).dtype)
      return Status::invalidArgument("inputs must have one type, got {} and {}", nameOf(args.input(0).dtype),
                                     nameOf(args.input(i).dtype));
  const Shape* c = args.hasInput(2) ? &args.shape(2) : nullptr;
  OPKIT_ASSIGN(const GemmPlan plan, planGemm(args.params<GemmParams>(), args.shape(0), args.shape(1), c));
  return std::vector{TensorDesc{args.input(0).dtype, {plan.rows, plan.columns}}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const bool transposed = args.params<GemmParams>().trans_a;
  return 2.0 * outputs[0].elements() * args.shape(0)[transposed ? 0 : 1];
}

}  // namespace

Result<GemmPlan> planGemm(const GemmParamsT& params, const Shape& a, const Shape& b, const Shape* c) {
  if (a.size() != 2 || b.size() != 2)
    return Status::invalidArgument("a and b must have rank 2, got {} and {}", toString(a), toString(b));
  OPKIT_TRY(clampOf(params).check());
  GemmPlan plan;
  plan.rows = a[params.trans_a ? 1 : 0];
  plan.depth = a[params.trans_a ? 0 : 1];
  plan.columns = b[params.trans_b ? 0 : 1];
  const int64_t depthOfB = b[params.trans_b ? 1 : 0];
  if (plan.depth != depthOfB)
    return Status::invalidArgument("inner extents must be equal, got {} and {} of {}{} and {}{}", plan.depth, depthOfB,
                                   toString(a), params.trans_a ? "'" : "", toString(b), params.trans_b ? "'" : "");
  plan.aRowStride = params.trans_a ? 1 : plan.depth;
  plan.aDepthStride = params.trans_a ? plan.rows : 1;
  plan.bDepthStride = params.trans_b ? 1 : plan.columns;
  plan.bColumnStride = params.trans_b ? plan.depth : 1;
  if (!c) return plan;
  const Shape output{plan.rows, plan.columns};
  OPKIT_TRY(requireBroadcast(*c, output, "c"));
  const DimVector strides = broadcastStrides(*c, output);
  plan.cRowStride = strides[0];
  plan.cColumnStride = strides[1];
  return plan;
}

void define(OpRegistry& registry) {
  registry.add({.type = "Gemm",
                .summary = "alpha * A * B + beta * C, with A and B transposed on request",
                .params = paramsSchema<GemmParams>(kGemmSchema),
                .inputs = {{"a", kFloats}, {"b", kFloats}, {"c", kFloats, Port::Kind::Optional}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Products,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::gemm
