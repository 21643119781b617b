#include "harness/conformance/declared.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "engine/base/check.h"

namespace opkit::harness {
namespace {

/// Elements of either kind as doubles; what is drawn is small.
std::vector<double> elementsOf(const OracleTensor& tensor) {
  if (tensor.isReal()) return tensor.real;
  return {tensor.integer.begin(), tensor.integer.end()};
}

double shareOfZeros(const std::vector<double>& values) {
  return static_cast<double>(std::ranges::count(values, 0.0)) / static_cast<double>(std::max<size_t>(values.size(), 1));
}

}  // namespace

std::optional<DeclaredModel> declaredModel(const std::string& folder) {
  std::istringstream lines(declaredModels());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(folder + " | ")) continue;
    const std::string rest = line.substr(folder.size() + 3);
    const size_t end = rest.find(" | ");
    std::set<std::string> kinds;
    std::istringstream list(rest.substr(0, end));
    for (std::string kind; std::getline(list >> std::ws, kind, ',');) {
      OPKIT_CHECK(kind == "zeros" || kind == "nothing" || kind == "refusal" || kind == "fallback");
      kinds.insert(kind);
    }
    const auto has = [&](const char* kind) { return kinds.contains(kind); };
    return DeclaredModel{has("zeros") || has("nothing"), has("zeros"), has("refusal"), has("fallback"),
                         rest.substr(end + 3)};
  }
  return std::nullopt;
}

Status checkUnjudgeable(const DeclaredModel& model, const OracleTensor& expected, const Tensor& got) {
  constexpr double kRelative = 1e-3;  // as for other models
  if (!(expected.desc == got.desc))
    return Status::invalidArgument("expected {}, got {}", expected.desc.toString(), got.desc.toString());
  if (!model.checksZeros) return Status::ok();
  const std::vector<double> wanted = elementsOf(expected), values = elementsOf(OracleTensor::fromTensor(got));
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0 && wanted[i] != 0 && !(std::fabs(values[i] - wanted[i]) <= kRelative * std::fabs(wanted[i])))
      return Status::invalidArgument("element {} must be 0 or {}, got {}", i, wanted[i], values[i]);
  const double zeros = shareOfZeros(values), wantedZeros = shareOfZeros(wanted);
  // Six standard deviations of the share at its widest, of both draws.
  const double slack = 6 * std::sqrt(0.5 / static_cast<double>(std::max<size_t>(values.size(), 1)));
  if (std::fabs(zeros - wantedZeros) <= slack) return Status::ok();
  return Status::invalidArgument("a share of {} must be zero, got {}", wantedZeros, zeros);
}

}  // namespace opkit::harness
