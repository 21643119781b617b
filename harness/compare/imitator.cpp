#include "harness/compare/imitator.h"

#include <cmath>
#include <set>

#include "engine/base/clock.h"
#include "harness/cases/costs.h"
#include "harness/compare/expected.h"
#include "harness/compare/hypotheses.h"

namespace opkit::harness {
namespace {

// Larger cases are not computed again.
constexpr int64_t kOracleElements = 1 << 19;
constexpr double kOracleFlops = 0.1;  // in billions
constexpr double kSeconds = 4;
// A mistake in every eighth element is a pattern; a rarer one is not the mistake that would alter the others too.
constexpr int64_t kMostContradicting = 8;

/// The error against the imitation is less than half of the error.
bool isCloser(double got, double imitated, double right) {
  if (!std::isfinite(got) || !std::isfinite(imitated) || !std::isfinite(right)) return true;
  return 2 * std::fabs(got - imitated) <= std::fabs(got - right);
}

}  // namespace

Imitator::Imitator(const Evidence& evidence, const std::vector<bool>& wrong)
    : e_(evidence),
      wrong_(wrong),
      got_(OracleTensor::fromTensor(evidence.got)),
      deadlineNs_(nowNs() + kSeconds * 1e9),
      failures_(std::ranges::count(wrong, true)) {}

std::optional<Diagnosis> Imitator::find() {
  if (!canTell()) return std::nullopt;
  specialInputs();
  if (isDone() || e_.tolerance.byClass) return whole_ ? whole_ : part_;
  for (const auto family :
       {&Imitator::defaults, &Imitator::wholeInputs, &Imitator::pairs, &Imitator::epsilon, &Imitator::padding,
        &Imitator::parameters, &Imitator::indices, &Imitator::vectors, &Imitator::tails}) {
    (this->*family)();
    if (isDone()) break;
  }
  return whole_ ? whole_ : part_;
}

bool Imitator::isDone() const { return whole_.has_value() || nowNs() > deadlineNs_; }

bool Imitator::canTell() const {
  int64_t elements = 0;
  for (const auto& input : e_.inputs) elements += input ? input->desc.elements() : 0;
  return e_.def.oracle && elements <= kOracleElements && expected().elements() <= kOracleElements &&
         workOf(e_.description, e_.def).flops <= kOracleFlops;
}

std::string Imitator::nameOf(size_t input) const {
  const Port* port = portOf(e_.def.inputs, input);
  return fmt::format("input {} '{}'", input, port ? port->name : std::to_string(input));
}

std::optional<OracleTensor> Imitator::outputOf(const HostInputs& inputs, const std::string& paramsJson,
                                               bool anyShape) const {
  const auto params = paramsFromJson(e_.def.params, paramsJson);
  if (!params) return std::nullopt;
  auto outputs = expectedOutputs(e_.def, *params, inputs, e_.expected.size(), kOracleElements);
  if (!outputs || (!anyShape && (*outputs)[e_.output].desc != expected().desc)) return std::nullopt;
  return std::move((*outputs)[e_.output]);
}

void Imitator::offer(const char* kind, const std::string& text, const std::optional<OracleTensor>& values,
                     const Open& open) {
  if (!values || isDone()) return;
  std::vector<bool> off;
  compareTensor(*values, e_.got, toleranceOf(e_.def, e_.description.lane, *values, e_.description.boundScale), &off);
  if (off.size() != wrong_.size()) return;
  const auto first = std::ranges::find(wrong_, true) - wrong_.begin();
  const auto last = wrong_.rend() - std::ranges::find(wrong_.rbegin(), wrong_.rend(), true) - 1;
  bool all = true;
  int64_t explained = 0, contradicting = 0;  // right elements among the wrong ones that would be wrong too
  std::set<double> found;
  for (size_t i = 0; i < wrong_.size(); ++i) {
    if (!open.empty() && open[i]) continue;
    all = all && !off[i];
    const auto at = static_cast<std::ptrdiff_t>(i);
    contradicting += off[i] && !wrong_[i] && first <= at && at <= last;
    if (!wrong_[i]) continue;
    if (off[i] || !isCloser(valueAt(got_, i), valueAt(*values, i), valueAt(expected(), i))) return;
    ++explained;
    if (found.size() < 8) found.insert(valueAt(got_, i));
  }
  // A few elements, or elements that have few values, agree by chance.
  if (2 * explained < failures_ || explained < 1) return;
  if (found.size() < 3 && explained < 8) {
    if (!all || found.size() < 2 || !expected().isReal()) return;
  }
  if (all)
    whole_ = Diagnosis{kind, text};
  else if (!part_ && explained >= 4 && contradicting <= kMostContradicting * explained)
    part_ = Diagnosis{kind, text + std::string(kOnlyWrong)};
}

std::optional<HostInputs> Imitator::altered(size_t index, const std::function<void(OracleTensor&)>& change) const {
  auto copy = copyOf(*e_.inputs[index]);
  if (!copy) return std::nullopt;
  OracleTensor values = OracleTensor::fromTensor(*copy);
  change(values);
  values.toTensor(*copy);
  const auto before = e_.inputs[index]->bytes(), after = copy->bytes();
  if (std::equal(before.begin(), before.end(), after.begin())) return std::nullopt;
  HostInputs inputs = e_.inputs;
  inputs[index] = *std::move(copy);
  return inputs;
}

void Imitator::tryInput(const char* kind, const std::string& text, size_t index,
                        const std::function<void(OracleTensor&)>& change) {
  if (isDone()) return;
  if (const auto inputs = altered(index, change)) offer(kind, text, outputOf(*inputs, e_.description.params));
}

std::optional<Diagnosis> explainByOracle(const Evidence& evidence, const std::vector<bool>& wrong) {
  return Imitator(evidence, wrong).find();
}

}  // namespace opkit::harness
