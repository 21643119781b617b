#include "harness/check/trust.h"

#include "harness/cases/data.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

constexpr uint64_t kRedraws = 4;                    // outputs such as `a < b` may be equal by chance
constexpr int64_t kMaxElements = int64_t{1} << 18;  // larger cases are variations of smaller ones

bool laneDecides(const Case& c) {
  const bool drawn = c.lane == Lane::Normal || c.lane == Lane::Exact;
  return drawn && std::all_of(c.data.begin(), c.data.end(), [](const std::string& form) { return form.empty(); });
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

}  // namespace

Status checkZeros(const OpDef& def, const PreparedCase& c) {
  const bool sums = def.numeric == NumericClass::Products || def.numeric == NumericClass::Sum ||
                    def.numeric == NumericClass::Softmax || def.numeric == NumericClass::Norm;
  if (!sums || c.description.lane == Lane::Specials || c.description.lane == Lane::Designed) return Status::ok();
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
  if (def.shapeOnly || !laneDecides(c.description)) return Status::ok();
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
