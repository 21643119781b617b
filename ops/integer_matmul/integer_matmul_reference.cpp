#include "engine/op/oracle_elements.h"
#include "ops/integer_matmul/integer_matmul_parts.h"
#include "ops/integer_matmul/oracle_integers.h"
#include "ops/matmul/matmul_parts.h"

namespace opkit::ops::integer_matmul {
namespace {

/// The element of a zero point or a scale for the element at `at` of an operand: one for all, one per line (axis
/// `line`), or one with the operand's axes.
size_t lineElement(const Shape& values, const Coordinates& at, size_t line) {
  if (elementCount(values) == 1) return 0;
  return values.size() == 1 ? static_cast<size_t>(at[line]) : broadcastElementAt(values, at);
}

/// x less its zero points, in 64 bits.
OracleTensor difference(const OracleTensor& x, const OracleTensor* zeroPoint, bool isRows) {
  OracleTensor result({DType::Int64, x.shape()});
  const size_t rank = x.shape().size();
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    const size_t line = rank < 2 ? 0 : isRows ? rank - 2 : rank - 1;
    result.integer[i] = x.integer[i] - (zeroPoint ? zeroPoint->integer[lineElement(zeroPoint->shape(), at, line)] : 0);
  });
  return result;
}

/// The product of the differences, by MatMul's oracle.
Status multiply(const OracleTensor& a, const OracleTensor& b, std::vector<OracleTensor>& y) {
  const ParamBytes params = packParams(matmul::MatMulParamsT());
  const OracleTensor* const inputs[] = {&a, &b};
  OPKIT_TRY(matmul::reference({params, inputs, y}));
  for (int64_t& sum : y[0].integer) sum = wrapped(sum);
  return Status::ok();
}

const OracleTensor* optional(const OracleArgs& args, size_t i) { return args.hasInput(i) ? &args.input(i) : nullptr; }

/// The coordinates of the first element of a line of an operand, of which `row` and `column` of the product are made.
/// `batch` are the product's leading coordinates.
Coordinates lineAt(const Shape& operand, const Coordinates& batch, int64_t row, int64_t column) {
  const size_t rank = operand.size();
  if (rank < 2) return Coordinates(rank, 0);
  Coordinates at;
  for (size_t d = 0; d + 2 < rank; ++d) at.push_back(operand[d] == 1 ? 0 : batch[batch.size() - (rank - 2) + d]);
  at.push_back(row);
  at.push_back(column);
  return at;
}

Status multiplyIntegers(const OracleArgs& args) {
  std::vector<OracleTensor> y{OracleTensor({DType::Int64, args.output().shape()})};
  OPKIT_TRY(multiply(difference(args.input(0), optional(args, 2), true),
                     difference(args.input(1), optional(args, 3), false), y));
  args.output().integer = y[0].integer;
  return Status::ok();
}

Status multiplyQuantized(const OracleArgs& args) {
  const OracleTensor &a = args.input(0), &aScale = args.input(1), &b = args.input(3), &bScale = args.input(4);
  std::vector<OracleTensor> sums{OracleTensor({DType::Int64, args.output().shape()})};
  OPKIT_TRY(multiply(difference(a, &args.input(2), true), difference(b, &args.input(5), false), sums));
  forEachCoordinates(args.output().shape(), [&](size_t i, Coordinates& at) {
    int64_t row = 0, column = 0;
    if (b.shape().size() > 1) column = at.back(), at.pop_back();
    if (a.shape().size() > 1) row = at.back(), at.pop_back();
    const Coordinates ofA = lineAt(a.shape(), at, row, 0), ofB = lineAt(b.shape(), at, 0, column);
    const double scale = aScale.real[lineElement(aScale.shape(), ofA, ofA.size() - 2)];
    const double other = bScale.real[lineElement(bScale.shape(), ofB, ofB.size() - 1)];
    args.output().integer[i] = quantized(sums[0].integer[i], scale, other, args.input(6).real[0],
                                         args.input(7).integer[0], args.output().desc.dtype);
  });
  return Status::ok();
}

}  // namespace

Status reference(const OracleArgs& args) {
  const bool isQuantized = args.inputs.size() > 4;  // QLinearMatMul has a scale for each zero point
  return isQuantized ? multiplyQuantized(args) : multiplyIntegers(args);
}

}  // namespace opkit::ops::integer_matmul
