// CheckEvidence: what a run of `check` checked, on what, and what not, as twenty lines of Markdown for a pull request.
// A block of JSON at their end lets `check --verify` repeat the run and compare.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/tools/plugins.h"
#include "harness/run/results.h"

namespace opkit::harness {

class CheckEvidence {
 public:
  /// `arguments` repeat the run on any machine; `local` names further options of it, which whoever repeats it must
  /// give.
  CheckEvidence(std::vector<std::string> arguments, std::vector<std::string> local)
      : arguments_(std::move(arguments)), local_(std::move(local)) {}

  void add(const DeviceInfo& device) { devices_.push_back(device); }
  void add(const CaseRecord& one);
  /// REQUIRED once, after the last case: the operators and plugins of the run, and "" or how it was cut short.
  void close(const OpRegistry& registry, const std::vector<PluginInfo>& plugins, const std::string& missing);

  std::string markdown(const std::string& file) const;
  const nlohmann::json& json() const { return json_; }

 private:
  struct BackendCases {
    std::map<std::string, size_t> statuses;
    std::set<std::string> ids;
  };
  std::string tableText() const;

  std::vector<std::string> arguments_, local_;
  std::vector<DeviceInfo> devices_;
  std::map<std::string, BackendCases> backends_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> kernels_;  // by operator and backend
  std::vector<std::pair<std::string, std::string>> failures_;                     // the first ones: id, reason
  std::map<std::string, std::map<std::string, size_t>> notRun_;                   // sub-checks, by reason
  size_t subChecks_ = 0;
  double worstMargin_ = 0;
  std::string worst_;
  nlohmann::json json_;
};

/// The JSON of a file that `check --evidence` wrote, or of a text that contains it. InvalidArgument for anything else.
Result<nlohmann::json> readEvidence(const std::string& file);

/// Lines that say in what `repeated` differs from `evidence`. Devices may differ, and with them the cases that they
/// refuse.
struct EvidenceComparison {
  std::vector<std::string> differences, notes;
};
EvidenceComparison compareEvidence(const nlohmann::json& evidence, const nlohmann::json& repeated);

}  // namespace opkit::harness
