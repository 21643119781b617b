// STFT as a FourierTransform of frames: the step and the length become parameters.
#include "engine/op/decomposition.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/dft/dft.h"
#include "ops/stft/stft_parts.h"

namespace opkit::ops::stft {
namespace {

enum Input : size_t { kSignal, kFrameStep, kWindow, kFrameLength };

/// Nothing in them depends on extents, so that one Execution serves all shapes.
Result<dft::FourierTransformParamsT> paramsOf(const ShapeArgs& args) {
  dft::FourierTransformParamsT params;
  params.onesided = args.params<StftParams>().onesided;
  OPKIT_ASSIGN(params.frame_step, dft::scalarOr(args, kFrameStep, "frame_step", 1));
  if (params.frame_step < 1) return Status::invalidArgument("frame_step must be at least 1, got {}", params.frame_step);
  if (!args.hasInput(kFrameLength)) return params;
  OPKIT_ASSIGN(params.length, dft::scalarOr(args, kFrameLength, "frame_length", 0));
  if (params.length < 1) return Status::invalidArgument("frame_length must be at least 1, got {}", params.length);
  return params;
}

Result<dft::FourierPlan> planOf(const ShapeArgs& args) {
  OPKIT_ASSIGN(const dft::FourierTransformParamsT params, paramsOf(args));
  return dft::planFourier(params, args.shape(kSignal), args.hasInput(kWindow) ? &args.shape(kWindow) : nullptr);
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(requireSameType(args, kWindow, "window", kSignal));
  OPKIT_ASSIGN(const dft::FourierPlan plan, planOf(args));
  return std::vector{TensorDesc{args.input(kSignal).dtype, plan.shape}};
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  OPKIT_ASSIGN(const dft::FourierTransformParamsT params, paramsOf(args));
  std::vector<Decomposition::Value> inputs{parts.input(kSignal)};
  if (args.hasInput(kWindow)) inputs.push_back(parts.input(kWindow));
  parts.setOutput(0, parts.add("FourierTransform", std::move(inputs), packParams(params)));
  return Status::ok();
}

double flops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const auto plan = planOf(args);
  return plan ? dft::flopsOf(*plan) : 0;
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "STFT",
                .summary = "the discrete Fourier transforms of windowed frames of a signal",
                .params = paramsSchema<StftParams>(kStftSchema),
                .inputs = {{"signal", kFloats},
                           {"frame_step", kIndexTypes, Port::Kind::Required, true},
                           {"window", kFloats, Port::Kind::Optional},
                           {"frame_length", kIndexTypes, Port::Kind::Optional, true}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = flops,
                .oracle = hiding(reference, hidden)});
}

}  // namespace opkit::ops::stft
