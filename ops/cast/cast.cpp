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

/// Limits of the integers and what lies just beyond; the largest numbers of the narrower floats and the ties above
/// them.
const std::vector<double> kEdges = {2,      3,       8,       15.5,    127.5,    128,     255.5,  256,
                                    240,    248,     448,     464,     32768,    57344,   61440,  65504,
                                    65520,  65536,   0x1p24,  0x1p31,  0x1p32,   0x1p53,  0x1p63, 0x1p64,
                                    0x1p-6, 0x1p-10, 0x1p-14, 0x1p-25, 0x1p-126, 0x1p-133};

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
                .edges = kEdges,
                .inferShapes = castRule,
                .oracle = reference});
  registry.add({.type = "CastLike",
                .summary = "converts elements to the type of another tensor",
                .params = paramsSchema<CastParams>(kCastSchema),
                .inputs = {{"x", kEveryDType}, {"like", kEveryDType}},
                .outputs = {{"y", kEveryDType}},
                .numeric = NumericClass::Cast,
                .edges = kEdges,
                .inferShapes = castLikeRule,
                .oracle = reference});
}

}  // namespace opkit::ops::cast
