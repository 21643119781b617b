#include <cmath>

#include "engine/op/op_registry.h"
#include "ops/range/range_parts.h"

namespace opkit::ops::range {
namespace {

/// That many values, if a tensor can hold them; the others are for the message.
Result<int64_t> limited(double count, const auto& start, const auto& limit, const auto& delta) {
  if (!std::isfinite(count) || count > static_cast<double>(kMaxElements))
    return Status::invalidArgument("from {} to {} by {} is not a finite number of values", start, limit, delta);
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

/// Number of values in [start, limit) by steps of delta, on doubles.
Result<int64_t> countReal(double start, double limit, double delta) {
  return limited(std::ceil((limit - start) / delta), start, limit, delta);
}

/// The same on integers, whose differences may need 64 bits without a sign.
Result<int64_t> countWhole(int64_t start, int64_t limit, int64_t delta) {
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  const auto from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit);
  const auto step = static_cast<uint64_t>(delta);
  const uint64_t distance = delta > 0 ? to - from : from - to, stride = delta > 0 ? step : 0 - step;
  const uint64_t count = distance / stride + (distance % stride == 0 ? 0 : 1);
  return limited(static_cast<double>(count), start, limit, delta);
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const DType dtype = args.input(0).dtype;
  OracleTensor values[3];
  for (size_t i = 0; i < 3; ++i) {
    if (args.input(i).dtype != dtype || args.input(i).elements() != 1)
      return Status::invalidArgument("start, limit and delta must be scalars of one type, got {} and {}",
                                     args.input(0).toString(), args.input(i).toString());
    values[i] = OracleTensor::fromTensor(*args.contents[i]);
  }
  const bool isReal = values[0].isReal();
  if (isReal ? values[2].real[0] == 0 : values[2].integer[0] == 0)
    return Status::invalidArgument("delta must not be 0");
  OPKIT_ASSIGN(const int64_t count, isReal
                                        ? countReal(values[0].real[0], values[1].real[0], values[2].real[0])
                                        : countWhole(values[0].integer[0], values[1].integer[0], values[2].integer[0]));
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
