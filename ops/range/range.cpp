#include <cmath>

#include "engine/op/op_registry.h"
#include "ops/range/range_parts.h"

namespace opkit::ops::range {
namespace {

/// Number of values in [start, limit) by steps of delta, on doubles.
Result<int64_t> countReal(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (!std::isfinite(count) || count > static_cast<double>(kMaxElements))
    return Status::invalidArgument("from {} to {} by {} is not a finite number of values", start, limit, delta);
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const DType dtype = args.input(0).dtype;
  double values[3];
  for (size_t i = 0; i < 3; ++i) {
    if (args.input(i).dtype != dtype || args.input(i).elements() != 1)
      return Status::invalidArgument("start, limit and delta must be scalars of one type, got {} and {}",
                                     args.input(0).toString(), args.input(i).toString());
    const OracleTensor value = OracleTensor::fromTensor(*args.contents[i]);
    values[i] = value.isReal() ? value.real[0] : static_cast<double>(value.integer[0]);
  }
  if (values[2] == 0) return Status::invalidArgument("delta must not be 0");
  OPKIT_ASSIGN(const int64_t count, countReal(values[0], values[1], values[2]));
  return std::vector{TensorDesc{dtype, {count}}};
}

/// Reals with one rounding, integers by running sums that wrap.
Status fold(const OracleArgs& args) {
  OracleTensor& y = args.output();
  for (size_t i = 0; i < y.real.size(); ++i)
    y.real[i] = std::fma(static_cast<double>(i), args.input(2).real[0], args.input(0).real[0]);
  for (uint64_t i = 0, value = 0; i < y.integer.size(); ++i) {
    value = i == 0 ? static_cast<uint64_t>(args.input(0).integer[0])
                   : value + static_cast<uint64_t>(args.input(2).integer[0]);
    y.integer[i] = static_cast<int64_t>(value);
  }
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  constexpr DTypeSet kTypes{DType::Float32, DType::Float64, DType::Int16, DType::Int32, DType::Int64};
  const auto scalar = [&](const char* name) { return Port{name, kTypes, Port::Kind::Required, true}; };
  registry.add({.type = "Range",
                .summary = "start, start + delta, ... up to but without limit",
                .inputs = {scalar("start"), scalar("limit"), scalar("delta")},
                .outputs = {{"y", kTypes}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .oracle = reference,
                .fold = fold,
                .computesAs = {{DType::Float16, DType::Float32}, {DType::BFloat16, DType::Float32}}});
}

}  // namespace opkit::ops::range
