#include "ops/cast/cast.h"

#include "engine/op/decomposition.h"
#include "engine/op/op_registry.h"

namespace opkit::ops::cast {
namespace {

Result<std::vector<TensorDesc>> castRule(const ShapeArgs& args) {
  const DType to = targetOf(args.params<CastParams>());
  if (!isValidDType(static_cast<int>(to)))
    return Status::invalidArgument("to must be a type number in [1, 23], got {}", static_cast<int>(to));
  return std::vector{TensorDesc{to, args.shape(0)}};
}

Result<std::vector<TensorDesc>> castLikeRule(const ShapeArgs& args) {
  return std::vector{TensorDesc{args.input(1).dtype, args.shape(0)}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.setConversion([](Decomposition& parts, int value, DType to) {
    CastParamsT params;
    params.to = static_cast<ElementType>(to);
    return parts.add("Cast", {value}, packParams(params));
  });
  registry.add({.type = "Cast",
                .summary = "converts elements to another type",
                .params = paramsSchema<CastParams>(kCastSchema),
                .inputs = {{"x", kEveryDType}},
                .outputs = {{"y", kEveryDType}},
                .numeric = NumericClass::Cast,
                .inferShapes = castRule,
                .oracle = reference});
  registry.add({.type = "CastLike",
                .summary = "converts elements to the type of another tensor",
                .params = paramsSchema<CastParams>(kCastSchema),
                .inputs = {{"x", kEveryDType}, {"like", kEveryDType}},
                .outputs = {{"y", kEveryDType}},
                .numeric = NumericClass::Cast,
                .inferShapes = castLikeRule,
                .oracle = reference});
}

}  // namespace opkit::ops::cast
