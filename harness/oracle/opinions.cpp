#include "harness/oracle/opinions.h"

#include <cmath>
#include <limits>

#include "harness/compare/compare.h"

namespace opkit::harness {
namespace {

constexpr double kShare = 0.125, kShareOfDouble = 2;

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The values as a tensor of doubles, those of `builtin` where both round alike.
Result<Tensor> comparable(const OracleTensor& builtin, const OracleTensor& other) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost({DType::Float64, builtin.shape()}));
  const std::span<double> to = tensor.data<double>();
  const DType dtype = builtin.desc.dtype;
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = isSame(roundTo(dtype, builtin.real[i]), roundTo(dtype, other.real[i])) ? builtin.real[i] : other.real[i];
  return tensor;
}

Result<Comparison> compareReals(const OpDef& def, const Case& c, const OracleTensor& builtin,
                                const OracleTensor& other) {
  Tolerance tolerance = toleranceOf(def, c.lane, builtin, c.boundScale);
  const bool isDouble = builtin.desc.dtype == DType::Float64;
  for (double& bound : tolerance.bound) bound *= isDouble ? kShareOfDouble : kShare;
  tolerance.nmseGate = std::numeric_limits<double>::infinity();
  OracleTensor wide = builtin;
  wide.desc.dtype = DType::Float64;
  OPKIT_ASSIGN(const Tensor tensor, comparable(builtin, other));
  return compareTensor(wide, tensor, tolerance);
}

Result<Comparison> compareOne(const OpDef& def, const Case& c, const OracleTensor& builtin, const OracleTensor& other) {
  if (builtin.isReal()) return compareReals(def, c, builtin, other);
  OPKIT_ASSIGN(const Tensor tensor, Tensor::onHost(builtin.desc));
  other.toTensor(tensor);
  return compareTensor(builtin, tensor, {});
}

}  // namespace

Status checkAgreement(const OpDef& def, const Case& c, const std::vector<OracleTensor>& builtin,
                      const std::vector<OracleTensor>& other, const std::string& who) {
  for (size_t i = 0; i < builtin.size(); ++i) {
    OPKIT_ASSIGN(const Comparison found, compareOne(def, c, builtin[i], other[i]));
    if (found.pass) continue;
    const std::string output = builtin.size() > 1 ? fmt::format(" of output {}", i) : "";
    return Status::internal(
        "{} and the built-in oracle differ at {} of {} elements{}; most at {}: {} has {:.9g}, the built-in oracle "
        "{:.9g}, "
        "allowed {:.3g}",
        who, found.failed, found.elements, output, coordinates(builtin[i].shape(), found.worst), who, found.got,
        found.expected, found.bound);
  }
  return Status::ok();
}

}  // namespace opkit::harness
