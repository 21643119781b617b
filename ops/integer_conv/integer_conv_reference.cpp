#include "engine/op/oracle_elements.h"
#include "ops/conv/conv_parts.h"
#include "ops/integer_conv/integer_conv_parts.h"
#include "ops/integer_matmul/oracle_integers.h"

namespace opkit::ops::integer_conv {
namespace {

/// Element `channel` of a zero point or a scale, or the only one; 0 if it is absent.
template <class T>
T ofChannel(const std::vector<T>* values, int64_t channel) {
  if (!values) return T(0);
  return values->size() == 1 ? values->front() : (*values)[static_cast<size_t>(channel)];
}

/// Integers less their zero points; `zeroPoint` has one value, or one per element of the first axis.
OracleTensor difference(const OracleTensor& x, const OracleTensor* zeroPoint) {
  OracleTensor result({DType::Float64, x.shape()});
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    result.real[i] = static_cast<double>(x.integer[i] - ofChannel(zeroPoint ? &zeroPoint->integer : nullptr, at[0]));
  });
  return result;
}

/// Conv's oracle on the differences: doubles hold these sums exactly. Without bias; wrapped at 32 bits.
Result<std::vector<int64_t>> convolve(const OracleArgs& args, const OracleTensor& x, const OracleTensor& w) {
  std::vector<OracleTensor> y{OracleTensor({DType::Float64, args.output().shape()})};
  const OracleTensor* const inputs[] = {&x, &w};
  OPKIT_TRY(conv::reference({args.paramBytes, inputs, y}));
  std::vector<int64_t> sums;
  for (const double sum : y[0].real) sums.push_back(integer_matmul::wrapped(static_cast<int64_t>(sum)));
  return sums;
}

const OracleTensor* optional(const OracleArgs& args, size_t i) { return args.hasInput(i) ? &args.input(i) : nullptr; }

Status convolveIntegers(const OracleArgs& args) {
  OPKIT_ASSIGN(args.output().integer, convolve(args, difference(args.input(0), optional(args, 2)),
                                               difference(args.input(1), optional(args, 3))));
  return Status::ok();
}

Status convolveQuantized(const OracleArgs& args) {
  OracleTensor& y = args.output();
  OPKIT_ASSIGN(const std::vector<int64_t> sums,
               convolve(args, difference(args.input(0), &args.input(2)), difference(args.input(3), &args.input(5))));
  const OracleTensor* bias = optional(args, 8);
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    const int64_t sum = integer_matmul::wrapped(sums[i] + (bias ? bias->integer[static_cast<size_t>(at[1])] : 0));
    y.integer[i] = integer_matmul::quantized(sum, args.input(1).real[0], ofChannel(&args.input(4).real, at[1]),
                                             args.input(6).real[0], args.input(7).integer[0], y.desc.dtype);
  });
  return Status::ok();
}

}  // namespace

Status reference(const OracleArgs& args) {
  const bool isQuantized = args.inputs.size() > 4;  // QLinearConv has a scale for each zero point
  return isQuantized ? convolveQuantized(args) : convolveIntegers(args);
}

}  // namespace opkit::ops::integer_conv
