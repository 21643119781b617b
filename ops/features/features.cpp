#include <cmath>

#include "engine/op/decomposition.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/cast/cast_generated.h"
#include "ops/features/features_parts.h"

namespace opkit::ops::features {
namespace {

constexpr DTypeSet kTypes{DType::Float32, DType::Float64, DType::Int32, DType::Int64};

/// The threshold as a scalar of the elements' type: integers are larger than it where they are larger than its floor.
Result<Tensor> thresholdOf(float threshold, DType dtype) {
  OPKIT_ASSIGN(Tensor scalar, Tensor::onHost({dtype, {}}));
  visitDType(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>) {
      const double least = static_cast<double>(std::numeric_limits<T>::min()), floor = std::floor(threshold);
      scalar.data<T>()[0] = floor >= -least  ? std::numeric_limits<T>::max()
                            : floor <= least ? std::numeric_limits<T>::min()
                                             : static_cast<T>(floor);
    } else if constexpr (!std::is_same_v<T, Half>) {
      scalar.data<T>()[0] = threshold;
    }
  });
  return scalar;
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const DType dtype = args.input(0).dtype;
  OPKIT_ASSIGN(Tensor threshold, thresholdOf(args.params<FeaturesParams>().threshold, dtype));
  const auto isLarger = parts.add("Greater", {parts.input(0), parts.constant(std::move(threshold))});
  cast::CastParamsT to;
  to.to = static_cast<cast::ElementType>(dtype);
  parts.setOutput(0, parts.add("Cast", {isLarger}, packParams(to)));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Binarizer",
                .summary = "each element: 1 where it is larger than the threshold, else 0",
                .params = paramsSchema<FeaturesParams>(kFeaturesSchema),
                .inputs = {{"x", kTypes}},
                .outputs = {{"y", kTypes}},
                .inferShapes = likeFirstInput,
                .decompose = decompose,
                .flops = [](const ShapeArgs& args, auto) { return static_cast<double>(args.input(0).elements()); },
                .oracle = reference});
}

}  // namespace opkit::ops::features
