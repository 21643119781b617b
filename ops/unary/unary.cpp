#include "ops/unary/unary.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/unary/unary_schema.h"

namespace opkit::ops::unary {
namespace {

/// Besides floats, the integers for which ONNX has the operator.
DTypeSet dtypesOf(const Function& function) {
  constexpr DTypeSet kSigned{DType::Int8, DType::Int16, DType::Int32, DType::Int64};
  const std::string_view name = function.name;
  if (!function.integer) return kFloats;
  return kFloats | (name == "Abs" || name == "Sign" ? kIntegers : kSigned);
}

Result<std::vector<TensorDesc>> shapeOfTest(const ShapeArgs& args) {
  return std::vector{TensorDesc{DType::Bool, args.shape(0)}};
}

Status notReference(const OracleArgs& args) {
  for (size_t i = 0; i < args.input(0).integer.size(); ++i) args.output().integer[i] = !args.input(0).integer[i];
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  for (const Function& function : functions()) {
    registry.add({.type = function.name,
                  .summary = fmt::format("each element: {}", function.formula),
                  .params = paramsSchema<UnaryParams>(kUnarySchema),
                  .inputs = {{"x", dtypesOf(function)}},
                  .outputs = {{"y", function.test ? kBool : dtypesOf(function)}},
                  .numeric = function.numeric,
                  .domain = function.domain,
                  .inPlace = {0},
                  .inferShapes = function.test ? shapeOfTest : likeFirstInput,
                  .oracle = function.oracle});
  }
  registry.add({.type = "Not",
                .summary = "each element: logical negation",
                .inputs = {{"x", kBool}},
                .outputs = {{"y", kBool}},
                .inPlace = {0},
                .inferShapes = likeFirstInput,
                .oracle = notReference});
}

}  // namespace opkit::ops::unary
