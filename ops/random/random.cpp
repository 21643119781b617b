#include "ops/random/random.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "ops/random/fill.h"
#include "ops/random/sampling.h"

namespace opkit::ops::random {
namespace {

Status checkRange(const ShapeArgs& args) {
  const auto params = args.params<RandomParams>();
  if (!(params.low <= params.high) || !std::isfinite(params.high - params.low))
    return Status::invalidArgument("low must be at most high, and both finite, got {} and {}", params.low, params.high);
  if (!(params.scale >= 0) || !std::isfinite(params.scale) || !std::isfinite(params.mean))
    return Status::invalidArgument("scale must not be negative, and mean finite, got {} and {}", params.scale,
                                   params.mean);
  return Status::ok();
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<RandomParams>();
  OPKIT_TRY(checkRange(args));
  TensorDesc output{DType::Float32, Shape(params.shape.begin(), params.shape.end())};
  if (args.hasInput(0)) output = args.input(0);
  if (params.type.has_value()) output.dtype = static_cast<DType>(*params.type);
  if (!isFloat(output.dtype))
    return Status::invalidArgument("type must be f32, f16 or f64, got {}", nameOf(output.dtype));
  OPKIT_TRY(checkShape(output.shape));
  return std::vector{output};
}

/// The rest of a card whose type, summary, class and oracle are given.
OpDef completed(OpDef card) {
  card.params = paramsSchema<RandomParams>(kRandomSchema);
  card.inputs = {{"like", kAnyDType, Port::Kind::Optional}};
  card.outputs = {{"y", kFloats}};
  card.inferShapes = shapeRule;
  card.fold = [type = card.type](const OracleArgs& args) {
    return foldRandom(fillOf(type, args.params<RandomParams>()), args);
  };
  return card;
}

void defineSampling(OpRegistry& registry) {
  constexpr DTypeSet kClassTypes{DType::Int32, DType::Int64};
  const ParamsSchema schema = paramsSchema<SamplingParams>(kSamplingSchema);
  registry.add({.type = "Bernoulli",
                .summary = "each element: 1 with the probability that the input gives, else 0",
                .params = schema,
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .domain = {0, 1},
                .inferShapes = bernoulliRule,
                .decompose = decomposeBernoulli,
                .oracle = bernoulliReference});
  registry.add({.type = "Multinomial",
                .summary = "classes drawn from rows of logarithms of their weights",
                .params = schema,
                .inputs = {{"x", kFloats}},
                .outputs = {{"y", kClassTypes}},
                .inferShapes = rowsRule,
                .decompose = decomposeMultinomial,
                .oracle = multinomialReference});
  registry.add({.type = "SampleRows",
                .summary = "per sample the first class whose running sum exceeds a random share of the last",
                .params = schema,
                .inputs = {{"sums", kFloats}},
                .outputs = {{"y", kClassTypes}},
                .domain = {0, 1},
                .inferShapes = rowsRule,
                .oracle = sampleRowsReference});
  registry.add({.type = "TrainingDropout",
                .summary = "random elements become 0, the others are divided by the share that is kept",
                .params = schema,
                .inputs = {{"x", kFloats}, {"ratio", kFloats}, {"training", kBool, Port::Kind::Optional}},
                .outputs = {{"y", kFloats}, {"mask", kBool, Port::Kind::Optional}},
                .numeric = NumericClass::FewRoundings,
                .inferShapes = dropoutRule,
                .decompose = decomposeDropout,
                .oracle = dropoutReference});
}

}  // namespace

/// RandomNormal: class Norm, whose bound scales with the magnitude that the oracle states.
void define(OpRegistry& registry) {
  registry.add(completed({.type = "RandomUniform",
                          .summary = "random numbers from low up to high",
                          .numeric = NumericClass::Exact,
                          .oracle = uniformReference}));
  registry.add(completed({.type = "RandomNormal",
                          .summary = "random numbers of a mean and a standard deviation",
                          .numeric = NumericClass::Norm,
                          .oracle = normalReference}));
  defineSampling(registry);
}

}  // namespace opkit::ops::random
