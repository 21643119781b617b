// DFT as a FourierTransform: the length and the axis become parameters.
#include "ops/dft/dft.h"

#include <cmath>

#include "engine/op/decomposition.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/dft/dft_oracles.h"

namespace opkit::ops::dft {
namespace {

Status checkSides(const FourierTransformParamsT& params, int64_t parts) {
  if (!params.onesided) return Status::ok();
  if (!params.inverse && parts != 1)
    return Status::invalidArgument("a onesided transform takes real input [..., 1], got [..., {}]", parts);
  if (params.inverse && parts != 2)
    return Status::invalidArgument("a onesided inverse takes complex input [..., 2], got [..., {}]", parts);
  return Status::ok();
}

Status checkLength(int64_t length) {
  if (length >= 1 && length <= kMostPoints) return Status::ok();
  return Status::invalidArgument("the length of a transform must be in [1, {}], got {}", kMostPoints, length);
}

/// The elements of a row that the transform reads, and those that it makes.
void setExtents(FourierPlan& plan, int64_t extent) {
  const int64_t half = plan.length / 2 + 1;
  plan.given = std::min(extent, plan.onesided && plan.inverse ? half : plan.length);
  plan.results = plan.onesided && !plan.inverse ? half : plan.length;
  plan.y.parts = plan.onesided && plan.inverse ? 1 : 2;
}

void planAxis(const FourierTransformParamsT& params, const Shape& x, FourierPlan& plan) {
  const auto axis = static_cast<size_t>(params.axis), rank = x.size();
  setExtents(plan, x[axis]);
  plan.outerRows = elementCount(x, 0, axis);
  plan.innerRows = elementCount(x, axis + 1, rank - 1);
  for (FourierPlan::Places* places : {&plan.x, &plan.y}) {
    places->inner = places->parts;
    places->step = plan.innerRows * places->parts;
  }
  plan.x.outer = x[axis] * plan.x.step;
  plan.y.outer = plan.results * plan.y.step;
  plan.shape = x;
  plan.shape[axis] = plan.results;
  plan.shape.back() = plan.y.parts;
}

/// x is [batch, samples, parts], y [batch, frames, results, parts].
Status planFrames(const FourierTransformParamsT& params, const Shape& x, FourierPlan& plan) {
  if (plan.length > x[1])
    return Status::invalidArgument("a frame must fit into the {} samples of the signal, got {}", x[1], plan.length);
  setExtents(plan, plan.length);
  plan.outerRows = x[0];
  plan.innerRows = (x[1] - plan.length) / params.frame_step + 1;
  plan.x = {x[1] * x[2], params.frame_step * x[2], x[2], x[2]};
  const int64_t parts = plan.y.parts, row = plan.results * parts;
  plan.y = {plan.innerRows * row, row, parts, parts};
  plan.shape = {x[0], plan.innerRows, plan.results, parts};
  return Status::ok();
}

const Shape* windowOf(const ShapeArgs& args) { return args.hasInput(1) ? &args.shape(1) : nullptr; }

/// Points of a transform where the parameters leave them open.
Result<int64_t> lengthOf(const FourierTransformParamsT& params, const Shape& x, const Shape* window) {
  if (window && params.frame_step == 0) return Status::invalidArgument("a window needs frames, got a frame_step of 0");
  if (window && (window->size() != 1 || (params.length != 0 && (*window)[0] != params.length)))
    return Status::invalidArgument("window must be {}, got {}", params.length != 0 ? toString({params.length}) : "[n]",
                                   toString(*window));
  if (params.length != 0) return params.length;
  if (window) return (*window)[0];
  const int64_t extent = x[params.frame_step > 0 ? 1 : static_cast<size_t>(params.axis)];
  return params.inverse && params.onesided ? 2 * (extent - 1) : extent;
}

Result<std::vector<TensorDesc>> transformRule(const ShapeArgs& args) {
  const auto params = args.params<FourierTransformParams>();
  OPKIT_TRY(requireSameType(args, 1, "window", 0));
  OPKIT_ASSIGN(const FourierPlan plan, planFourier(params, args.shape(0), windowOf(args)));
  return std::vector{TensorDesc{args.input(0).dtype, plan.shape}};
}

double transformFlops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const auto plan = planFourier(args.params<FourierTransformParams>(), args.shape(0), windowOf(args));
  return plan ? flopsOf(*plan) : 0;
}

/// Of DFT. Nothing in them depends on extents, so that one Execution serves all shapes.
Result<FourierTransformParamsT> resolved(const ShapeArgs& args) {
  const auto given = args.params<DftParams>();
  const Shape& x = args.shape(0);
  const auto rank = static_cast<int64_t>(x.size());
  if (rank < 2) return Status::invalidArgument("x must be [..., axis, 1] or [..., axis, 2], got {}", toString(x));
  OPKIT_ASSIGN(const int64_t axis, scalarOr(args, 2, "axis", given.axis));
  if (axis < -rank || axis > rank - 2 || axis == -1)
    return Status::invalidArgument("axis must be in [-{}, -2] or [0, {}], got {}", rank, rank - 2, axis);
  FourierTransformParamsT params;
  params.axis = axis < 0 ? axis + rank : axis;
  params.inverse = given.inverse;
  params.onesided = given.onesided;
  if (!args.hasInput(1)) return params;
  OPKIT_ASSIGN(params.length, scalarOr(args, 1, "dft_length", 0));
  OPKIT_TRY(checkLength(params.length));
  return params;
}

Result<FourierPlan> planOf(const ShapeArgs& args) {
  OPKIT_ASSIGN(const FourierTransformParamsT params, resolved(args));
  return planFourier(params, args.shape(0), nullptr);
}

Result<std::vector<TensorDesc>> dftRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const FourierPlan plan, planOf(args));
  return std::vector{TensorDesc{args.input(0).dtype, plan.shape}};
}

double dftFlops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const auto plan = planOf(args);
  return plan ? flopsOf(*plan) : 0;
}

Status decomposeDft(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  OPKIT_ASSIGN(const FourierTransformParamsT params, resolved(args));
  parts.setOutput(0, parts.add("FourierTransform", {parts.input(0)}, packParams(params)));
  return Status::ok();
}

}  // namespace

Result<FourierPlan> planFourier(const FourierTransformParamsT& params, const Shape& x, const Shape* window) {
  const auto rank = static_cast<int64_t>(x.size());
  if (rank < 2 || (x.back() != 1 && x.back() != 2))
    return Status::invalidArgument("x must be [..., axis, 1] or [..., axis, 2], got {}", toString(x));
  if (params.axis < 0 || params.axis > rank - 2)
    return Status::invalidArgument("axis must be in [0, {}], got {}", rank - 2, params.axis);
  if (params.frame_step < 0) return Status::invalidArgument("frame_step must be at least 0, got {}", params.frame_step);
  if (params.frame_step > 0 && rank != 3)
    return Status::invalidArgument("signal must be [batch, samples, 1] or [batch, samples, 2], got {}", toString(x));
  FourierPlan plan{.inverse = params.inverse, .onesided = params.onesided};
  OPKIT_ASSIGN(plan.length, lengthOf(params, x, window));
  OPKIT_TRY(checkLength(plan.length));
  OPKIT_TRY(checkSides(params, x.back()));
  plan.x.parts = x.back();
  if (params.frame_step == 0) planAxis(params, x, plan);
  if (params.frame_step > 0) OPKIT_TRY(planFrames(params, x, plan));
  return plan;
}

Result<FourierPlan> planFourier(const FourierTransformParamsT& params, std::span<const Tensor* const> inputs) {
  const bool hasWindow = inputs.size() > 1 && inputs[1];
  return planFourier(params, inputs[0]->desc.shape, hasWindow ? &inputs[1]->desc.shape : nullptr);
}

Result<int64_t> scalarOr(const ShapeArgs& args, size_t i, const char* name, int64_t fallback) {
  if (!args.hasInput(i)) return fallback;
  OPKIT_TRY(requireScalar(args, i, name));
  return args.integers(i)[0];
}

double flopsOf(const FourierPlan& plan) {
  const auto n = static_cast<double>(plan.length);
  const double whole = 5 * n * std::log2(std::max(n, 2.0)) * static_cast<double>(plan.rows());
  return plan.isRealIn() || plan.isRealOut() ? whole / 2 : whole;
}

void define(OpRegistry& registry) {
  registry.add({.type = "FourierTransform",
                .summary = "discrete Fourier transforms along an axis, or of windowed frames of a signal",
                .params = paramsSchema<FourierTransformParams>(kFourierTransformSchema),
                .inputs = {{"x", kFloats}, {"window", kFloats, Port::Kind::Optional}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Norm,
                .inferShapes = transformRule,
                .flops = transformFlops,
                .oracle = hiding(transformReference, transformHidden)});
  registry.add({.type = "DFT",
                .summary = "the discrete Fourier transform along an axis, or its inverse",
                .params = paramsSchema<DftParams>(kDftSchema),
                .inputs = {{"x", kFloats},
                           {"dft_length", kIndexTypes, Port::Kind::Optional, true},
                           {"axis", kIndexTypes, Port::Kind::Optional, true}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Norm,
                .inferShapes = dftRule,
                .decompose = decomposeDft,
                .flops = dftFlops,
                .oracle = hiding(reference, hidden)});
}

}  // namespace opkit::ops::dft
