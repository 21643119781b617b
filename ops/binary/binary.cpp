#include "ops/binary/binary.h"

#include "engine/op/clamp.h"
#include "engine/op/op_registry.h"
#include "ops/binary/binary_schema.h"
#include "ops/family.h"

namespace opkit::ops::binary {
namespace {

constexpr DTypeSet kUnsigned{DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};

std::vector<Function> makeFunctions() {
  using Kind = Function::Kind;
  std::vector<Function> rows;
#define BINARY(rowId, Name, numericClass, types, low, high, cpu, cpuInteger, glsl, glslInteger) \
  rows.push_back({#Name, rowId, Kind::Arithmetic, NumericClass::numericClass, types, {low, high}});
#define COMPARE(rowId, Name, types, value) \
  rows.push_back({#Name, rowId, Kind::Compare, NumericClass::Exact, types, {-4, 4}});
#define LOGIC(rowId, Name, value) rows.push_back({#Name, rowId, Kind::Logic, NumericClass::Exact, kBool, {}});
#define BINARY_EDGES(Name, list) setEdges(rows, #Name, OPKIT_BRACED list);
#include "ops/binary/binary_table.h"
  return rows;
}

Result<Shape> outputShape(const ShapeArgs& args) {
  OPKIT_ASSIGN(const Shape y, alignedShape(args.params<BinaryParams>(), args.shape(0), args.shape(1)));
  return broadcastShapes(args.shape(0), y);
}

Status requireSameDType(const ShapeArgs& args) {
  if (args.input(0).dtype == args.input(1).dtype) return Status::ok();
  return Status::invalidArgument("inputs must be of one type, got {} and {}", nameOf(args.input(0).dtype),
                                 nameOf(args.input(1).dtype));
}

Result<std::vector<TensorDesc>> arithmeticRule(const ShapeArgs& args) {
  OPKIT_TRY(requireSameDType(args));
  OPKIT_ASSIGN(Shape shape, outputShape(args));
  return std::vector{TensorDesc{args.input(0).dtype, std::move(shape)}};
}

/// The exponent may have another type than the base.
Result<std::vector<TensorDesc>> powRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(Shape shape, outputShape(args));
  return std::vector{TensorDesc{args.input(0).dtype, std::move(shape)}};
}

Result<std::vector<TensorDesc>> preluRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(std::vector<TensorDesc> outputs, arithmeticRule(args));
  if (outputs[0].shape != args.shape(0))
    return Status::invalidArgument("slope must broadcast to x {}, got {}", toString(args.shape(0)),
                                   toString(args.shape(1)));
  return outputs;
}

Result<std::vector<TensorDesc>> boolRule(const ShapeArgs& args) {
  OPKIT_TRY(requireSameDType(args));
  OPKIT_ASSIGN(Shape shape, outputShape(args));
  return std::vector{TensorDesc{DType::Bool, std::move(shape)}};
}

Status checkClamp(const ShapeArgs& args, DType result) {
  const Clamp clamp = clampOf(args.params<BinaryParams>());
  OPKIT_TRY(clamp.check());
  if (!clamp.isActive() || isFloat(result)) return Status::ok();
  return Status::unsupported("a clamp needs floating results, got {}", nameOf(result));
}

ShapeFn shapeRuleOf(const Function& function) {
  const std::string_view name = function.name;
  const ShapeFn rule = function.kind != Function::Kind::Arithmetic ? boolRule
                       : name == "Pow"                             ? powRule
                       : name == "PRelu"                           ? preluRule
                                                                   : arithmeticRule;
  return [rule](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
    OPKIT_ASSIGN(std::vector<TensorDesc> outputs, rule(args));
    OPKIT_TRY(checkClamp(args, outputs[0].dtype));
    return outputs;
  };
}

}  // namespace

std::span<const Function> functions() {
  static const std::vector<Function> rows = makeFunctions();
  return rows;
}

const Function& functionOf(std::string_view type) { return rowNamed(functions(), type); }

Result<Shape> alignedShape(const BinaryParamsT& params, const Shape& x, const Shape& y) {
  if (!params.axis) return y;
  OPKIT_ASSIGN(const int axis, normalizeAxis(*params.axis, x.size()));
  if (static_cast<size_t>(axis) + y.size() > x.size())
    return Status::invalidArgument("axis {}: input 1 {} reaches beyond the last axis of {}", axis, toString(y),
                                   toString(x));
  Shape aligned = y;
  aligned.resize(x.size() - static_cast<size_t>(axis), 1);
  return aligned;
}

Loops loopsOf(const BinaryParamsT& params, const Shape& x, const Shape& y) {
  const Shape aligned = *alignedShape(params, x, y);
  return loopsOver(*broadcastShapes(x, aligned), {x, aligned});
}

void define(OpRegistry& registry) {
  for (const Function& function : functions()) {
    const Oracle oracle = oracleOf(function.name);
    const bool toBool = function.kind != Function::Kind::Arithmetic;
    registry.add({.type = function.name,
                  .summary = fmt::format("each pair of elements, broadcast: {}", oracle.formula),
                  .params = paramsSchema<BinaryParams>(kBinarySchema),
                  .inputs = {{"x", function.dtypes}, {"y", function.dtypes}},
                  .outputs = {{"z", toBool ? kBool : function.dtypes}},
                  .numeric = function.numeric,
                  .domain = function.domain,
                  .edges = function.edges,
                  .inPlace = {0, 1},
                  .inferShapes = shapeRuleOf(function),
                  .oracle = oracle.run});
  }
}

}  // namespace opkit::ops::binary
