#include "harness/check/trust.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "engine/tensor/float_format.h"
#include "harness/cases/data.h"
#include "harness/compare/compare.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

constexpr uint64_t kRedraws = 16;                   // outputs such as `a == b` are often equal by chance
constexpr int64_t kMaxElements = int64_t{1} << 18;  // larger cases are variations of smaller ones

/// Whether another seed gives this input other values.
bool isRandom(const std::string& form) {
  if (form.empty()) return true;
  const nlohmann::json json = parseJson(form);
  return json.contains("range") || (json.contains("pattern") && json["pattern"] != "ramp" && json["pattern"] != "rows");
}

/// In the designed lane inputs without a form are weights and such, which the design may cancel.
bool isDrawn(const Case& c) {
  if (c.lane == Lane::Specials || c.lane == Lane::Edges) return false;
  const auto fixed = [](const std::string& form) { return !isRandom(form); };
  return std::none_of(c.data.begin(), c.data.end(), fixed);
}

/// Small shapes test edges: the maximum of one element has only one position, whatever its value.
bool tooSmall(const PreparedCase& c) {
  int64_t largest = 0;
  for (const auto& input : c.inputs) {
    if (input && input->desc.elements() == 0) return true;
    largest = std::max(largest, input ? input->desc.elements() : 0);
  }
  return largest < 8;
}

bool sameValues(const std::vector<OracleTensor>& a, const std::vector<OracleTensor>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].real != b[i].real || a[i].integer != b[i].integer) return false;
  return true;
}

int64_t elementsIn(const PreparedCase& c) {
  int64_t count = 0;
  for (const auto& input : c.inputs) count += input ? input->desc.elements() : 0;
  return count;
}

int64_t elementsOut(const PreparedCase& c) {
  int64_t count = 0;
  for (const OracleTensor& output : c.expected) count += output.elements();
  return count;
}

/// The oracle's values, rounded to the dtype.
Result<Tensor> rounded(const OracleTensor& expected) {
  OPKIT_ASSIGN(const Tensor tensor, Tensor::onHost(expected.desc));
  if (isCodedFloat(expected.desc.dtype)) {
    expected.toTensor(tensor);
    return tensor;
  }
  visitDType(expected.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> to = tensor.data<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      if constexpr (std::is_same_v<T, Half>)
        to[i] = toHalf(expected.real[i]);
      else
        to[i] = static_cast<T>(expected.real[i]);
    }
  });
  return tensor;
}

/// The number of the tensor's dtype nearest to zero that is outside the bound of element i, and further from zero than
/// the expected value.
void corrupt(const OracleTensor& expected, const Tolerance& tolerance, size_t i, const Tensor& tensor) {
  const DType dtype = expected.desc.dtype;
  const double value = expected.real[i], bound = tolerance.bound.empty() ? 0 : tolerance.bound[i];
  const double beyond = std::fabs(value) + bound;
  OracleTensor wrong({dtype, {1}});
  // One ULP may round back to the expected value where the width of an ULP changes.
  // Beyond the largest number of a dtype that saturates there is none: then one nearer to zero. The same holds where
  // the bound reaches infinity, which is right then.
  const bool reachesInfinity = std::isfinite(beyond) && std::isinf(roundTo(dtype, beyond));
  for (const double ulps : {1.01, 2.01, -1.01, -2.01}) {
    // Nothing is outside an infinite bound: any finite value shows it.
    if (reachesInfinity && ulps > 0) continue;
    const double outside = ulps > 0 ? beyond : std::fabs(value) - bound;
    wrong.real = {std::isfinite(beyond) ? std::copysign(1.0, value) * (outside + ulps * ulpOf(dtype, outside))
                                        : -2 * value - 1};
    const auto one = rounded(wrong);
    if (one && isCoded(dtype)) {
      if (readCode(tensor, i) == readCode(*one, 0)) continue;
      return writeCode(tensor, i, readCode(*one, 0));
    }
    const size_t size = sizeOf(dtype);
    std::byte* const at = tensor.bytes().data() + i * size;
    if (!one || std::memcmp(at, one->bytes().data(), size) == 0) continue;
    std::memcpy(at, one->bytes().data(), size);
    return;
  }
}

/// First, middle and last of the elements that are finite.
std::vector<size_t> samples(const OracleTensor& expected) {
  std::vector<size_t> finite;
  for (size_t i = 0; i < expected.real.size(); ++i)
    if (std::isfinite(roundTo(expected.desc.dtype, expected.real[i]))) finite.push_back(i);
  if (finite.empty()) return {};
  return {finite.front(), finite[finite.size() / 2], finite.back()};
}

/// The share of values other than zero for which zero is within the bound. In a row of Softmax that one element
/// dominates, most are.
Status checkZeroIsNoticed(const OracleTensor& expected, const Tolerance& tolerance, size_t output) {
  if (tolerance.bound.empty()) return Status::ok();
  size_t passing = 0, values = 0;
  for (size_t i = 0; i < expected.real.size(); ++i) {
    if (expected.real[i] == 0 || !std::isfinite(expected.real[i])) continue;
    ++values;
    passing += std::fabs(expected.real[i]) <= tolerance.bound[i];
  }
  if (values < 8 || passing * 10 <= values * 9) return Status::ok();
  return Status::invalidArgument("{} of {} expected elements of output {} would pass as zero: the case proves little",
                                 passing, values, output);
}

Status checkCorruptionIsNoticed(const OracleTensor& expected, const Tolerance& tolerance, size_t output) {
  OPKIT_ASSIGN(const Tensor tensor, rounded(expected));
  const Comparison clean = compareTensor(expected, tensor, tolerance);
  if (!clean.pass)
    return Status::invalidArgument("output {}: the oracle's own result does not pass: {}", output, clean.reason);
  const std::vector<size_t> chosen = samples(expected);
  for (const size_t i : chosen) corrupt(expected, tolerance, i, tensor);
  std::vector<bool> wrong;
  compareTensor(expected, tensor, tolerance, &wrong);
  for (const size_t i : chosen)
    if (!wrong[i])
      return Status::invalidArgument("output {}: a value just outside the bound of element {} passes", output,
                                     coordinates(expected.desc.shape, static_cast<int64_t>(i)));
  return Status::ok();
}

/// Without Σ|terms| the bound of a sum follows its value, which cancellation makes small: right kernels fail.
Status checkMagnitude(const OpDef& def, const OracleTensor& expected, size_t output) {
  const bool needsIt =
      def.numeric == NumericClass::Products || def.numeric == NumericClass::Sum || def.numeric == NumericClass::Norm;
  if (!needsIt || !def.oracle || expected.elements() == 0 || !expected.magnitude.empty()) return Status::ok();
  return Status::invalidArgument(
      "output {}: the operator sums, and its oracle reports no sum of |terms| (wide_magnitude in a plugin): the bound "
      "is too small",
      output);
}

}  // namespace

Status checkBounds(const OpDef& def, const PreparedCase& c) {
  for (size_t i = 0; i < c.expected.size(); ++i) {
    const OracleTensor& expected = c.expected[i];
    if (!expected.isReal() || expected.elements() > kMaxElements) continue;
    const Tolerance tolerance = toleranceOf(def, c.description.lane, expected, c.description.boundScale);
    if (tolerance.byClass) continue;
    OPKIT_TRY(checkMagnitude(def, expected, i));
    // Data designed to cancel leave wide bounds; the gate of the NMSE judges these.
    const bool isDesigned = c.description.lane == Lane::Designed && !c.description.data.empty();
    if (!isDesigned) OPKIT_TRY(checkZeroIsNoticed(expected, tolerance, i));
    OPKIT_TRY(checkCorruptionIsNoticed(expected, tolerance, i));
  }
  return Status::ok();
}

Status checkZeros(const OpDef& def, const PreparedCase& c) {
  const bool sums = def.numeric == NumericClass::Products || def.numeric == NumericClass::Sum ||
                    def.numeric == NumericClass::Softmax || def.numeric == NumericClass::Norm;
  const Lane lane = c.description.lane;
  if (!sums || lane == Lane::Specials || lane == Lane::Designed || lane == Lane::Edges) return Status::ok();
  for (size_t i = 0; i < c.expected.size(); ++i) {
    const std::vector<double>& y = c.expected[i].real;
    const std::vector<double>& magnitude = c.expected[i].magnitude;
    size_t zeros = 0;  // that are not empty sums (padding, no terms at all)
    for (size_t k = 0; k < y.size(); ++k) zeros += y[k] == 0 && (magnitude.empty() || magnitude[k] > 0);
    // Half of the values clamped at zero are zero.
    const bool clamped = std::none_of(y.begin(), y.end(), [](double v) { return v < 0; });
    if (y.size() >= 8 && zeros * 100 > y.size() * (clamped ? 75 : 30))
      return Status::invalidArgument("{} of {} expected elements of output {} are zero: the case proves little", zeros,
                                     y.size(), i);
  }
  return Status::ok();
}

Status checkSensitivity(const OpDef& def, const PreparedCase& c) {
  if (def.shapeOnly || !isDrawn(c.description)) return Status::ok();
  if (tooSmall(c) || elementsIn(c) > kMaxElements || elementsOut(c) < 2) return Status::ok();
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def.params, c.description.params));
  for (uint64_t k = 1; k <= kRedraws; ++k) {
    Case redrawn = c.description;
    redrawn.seed += 1000 * k;
    OPKIT_ASSIGN(HostInputs inputs, makeInputs(redrawn, def));
    // Inputs on which shapes depend stay: another shape would be another case.
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const Port* port = portOf(def.inputs, i); port && port->contents) inputs[i] = c.inputs[i];
    const auto outputs = expectedOutputs(def, params, inputs, c.description.outputs);
    if (!outputs || !sameValues(*outputs, c.expected)) return Status::ok();
  }
  return Status::invalidArgument(
      "the expected output stays the same however the inputs are drawn: the case proves nothing");
}

}  // namespace opkit::harness
