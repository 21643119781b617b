#include <cmath>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/label_encoder/label_encoder_parts.h"

namespace opkit::ops::label_encoder {
namespace {

constexpr DTypeSet kTypes{DType::Float32, DType::Float64, DType::Int16, DType::Int32, DType::Int64};

/// Kernels search by halves. NaN stands behind all numbers.
Status checkOrder(const Tensor& tensor) {
  const OracleTensor keys = OracleTensor::fromTensor(tensor);
  for (size_t i = 1; i < static_cast<size_t>(keys.elements()); ++i) {
    const bool rises =
        keys.isReal() ? keys.real[i - 1] < keys.real[i] || (std::isnan(keys.real[i]) && !std::isnan(keys.real[i - 1]))
                      : keys.integer[i - 1] < keys.integer[i];
    if (!rises) return Status::invalidArgument("keys must rise, with NaN behind all numbers; key {} does not", i);
  }
  return Status::ok();
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(requireList(args, 1, "keys"));
  OPKIT_TRY(requireSameType(args, 1, "keys", 0));
  if (args.shape(2) != args.shape(1))
    return Status::invalidArgument("values must be {}, one per key, got {}", toString(args.shape(1)),
                                   toString(args.shape(2)));
  if (args.input(3).elements() != 1)
    return Status::invalidArgument("other must hold one element, got {}", toString(args.shape(3)));
  OPKIT_TRY(requireSameType(args, 3, "other", 2));
  OPKIT_TRY(checkOrder(*args.contents[1]));
  return std::vector{TensorDesc{args.input(2).dtype, args.shape(0)}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add(
      {.type = "LabelEncoder",
       .summary = "each element: the value of the key that it equals, or `other`",
       .inputs = {{"x", kTypes}, {"keys", kTypes, Port::Kind::Required, true}, {"values", kTypes}, {"other", kTypes}},
       .outputs = {{"y", kTypes}},
       .inferShapes = shapeRule,
       .oracle = reference});
}

}  // namespace opkit::ops::label_encoder
