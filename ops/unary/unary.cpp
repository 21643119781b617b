#include "ops/unary/unary.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/family.h"
#include "ops/unary/unary_schema.h"

namespace opkit::ops::unary {
namespace {

/// Besides floats, the integers for which ONNX has the operator.
DTypeSet dtypesOf(const Function& function) {
  constexpr DTypeSet kSigned{DType::Int8, DType::Int16, DType::Int32, DType::Int64};
  const std::string_view name = function.name;
  if (!function.takesIntegers) return kFloats;
  return kFloats | (name == "Abs" || name == "Sign" ? kIntegers : kSigned);
}

/// ONNX has Shrink for integers too, with parameters that are floats.
std::vector<std::pair<DType, DType>> computesAs(const Function& function) {
  std::vector<std::pair<DType, DType>> pairs = OpDef().computesAs;
  if (function.name != std::string_view("Shrink")) return pairs;
  for (const DType narrow : {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16})
    pairs.emplace_back(narrow, DType::Float32);
  for (const DType wide : {DType::Int32, DType::UInt32}) pairs.emplace_back(wide, DType::Float64);
  return pairs;
}

Result<std::vector<TensorDesc>> shapeOfTest(const ShapeArgs& args) {
  return std::vector{TensorDesc{DType::Bool, args.shape(0)}};
}

std::vector<Function> makeFunctions() {
  std::vector<Function> rows;
#define UNARY(rowId, Name, numericClass, defaultA, defaultB, low, high, cpu, glsl) \
  rows.push_back({#Name, rowId, NumericClass::numericClass, defaultA, defaultB, {low, high}});
#define UNARY_TEST(rowId, Name, defaultA, defaultB, cpu, glsl) \
  rows.push_back({#Name, rowId, NumericClass::Exact, defaultA, defaultB, {}, true});
#define UNARY_INTEGER(rowId, Name, value, unsignedValue) \
  for (Function & row : rows) row.takesIntegers |= std::string_view(row.name) == #Name;
#define UNARY_DOUBLE(rowId, Name, glsl) \
  for (Function & row : rows) row.takesDouble |= std::string_view(row.name) == #Name;
#define UNARY_FLOOR(Name, floor) \
  for (Function & row : rows)    \
    if (std::string_view(row.name) == #Name) row.errorFloor = floor;
#define UNARY_EDGES(Name, list) setEdges(rows, #Name, OPKIT_BRACED list);
#include "ops/unary/unary_table.h"
  return rows;
}

}  // namespace

std::span<const Function> functions() {
  static const std::vector<Function> rows = makeFunctions();
  return rows;
}

const Function& functionOf(std::string_view type) { return rowNamed(functions(), type); }

Coefficients coefficientsOf(const Function& function, const UnaryParamsT& params) {
  return {params.alpha.value_or(function.alpha), params.beta.value_or(function.beta)};
}

void define(OpRegistry& registry) {
  for (const Function& function : functions()) {
    const Oracle oracle = oracleOf(function.name);
    registry.add({.type = function.name,
                  .summary = fmt::format("each element: {}", oracle.formula),
                  .params = paramsSchema<UnaryParams>(kUnarySchema),
                  .inputs = {{"x", dtypesOf(function)}},
                  .outputs = {{"y", function.isTest ? kBool : dtypesOf(function)}},
                  .numeric = function.numeric,
                  .errorFloor = function.errorFloor,
                  .domain = function.domain,
                  .edges = function.edges,
                  .inPlace = {0},
                  .inferShapes = function.isTest ? shapeOfTest : likeFirstInput,
                  .oracle = oracle.run,
                  .computesAs = computesAs(function)});
  }
  registry.add({.type = "Not",
                .summary = "each element: logical negation",
                .inputs = {{"x", kBool}},
                .outputs = {{"y", kBool}},
                .inPlace = {0},
                .inferShapes = likeFirstInput,
                .oracle = oracleOf("Not").run});
}

}  // namespace opkit::ops::unary
