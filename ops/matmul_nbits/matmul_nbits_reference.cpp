#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/matmul_nbits/matmul_nbits_parts.h"

namespace opkit::ops::matmul_nbits {

Status reference(const OracleArgs& args) {
  const OracleTensor &a = args.input(0), &codes = args.input(1), &scales = args.input(2);
  OracleTensor& y = args.output();
  const auto size = static_cast<size_t>(args.params<MatMulNBitsParams>().block_size);
  const auto depth = static_cast<size_t>(a.shape().back()), columns = static_cast<size_t>(codes.shape()[0]);
  const auto width = static_cast<size_t>(codes.shape()[1]), blocks = width / size;
  const int64_t middle = codes.desc.dtype == DType::UInt8 ? 128 : codes.desc.dtype == DType::UInt4 ? 8 : 2;
  y.terms = static_cast<int64_t>(depth) + 1 + (args.hasInput(4) ? 1 : 0);  // weights are rounded too
  y.magnitude.assign(y.real.size(), 0.0);
  for (size_t i = 0; i < y.real.size(); ++i) {
    const size_t m = i / columns, n = i % columns;
    double sum = args.hasInput(4) ? args.input(4).real[n] : 0, magnitude = std::fabs(sum);
    for (size_t k = 0; k < depth; ++k) {
      const size_t block = n * blocks + k / size;
      const int64_t zero = args.hasInput(3) ? args.input(3).integer[block] : middle;
      const auto difference = static_cast<double>(codes.integer[n * width + k] - zero);
      const double term = a.real[m * depth + k] * (difference * scales.real[block]);
      sum += term;
      magnitude += std::fabs(term);
    }
    y.real[i] = sum;
    y.magnitude[i] = magnitude;
  }
  return Status::ok();
}

}  // namespace opkit::ops::matmul_nbits
