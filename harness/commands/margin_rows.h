// MarginRows: the record of margins that a run of `check` compares with, and the rows of it that the run's cases met.
//
// A row stands for an entry and a kernel by name. Without a look at the rows that no case met, a renamed kernel or an
// edited entry would be compared with nothing. Used by one thread; workers read the record after the fork.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "harness/check/margins.h"

namespace opkit::harness {

class MarginRows {
 public:
  /// The record of a file (`--margins`), or the build's if the path is empty. InvalidArgument names the wrong line.
  static Result<MarginRows> read(const std::string& file);

  const RecordedMargins& recorded() const { return own_ ? *own_ : RecordedMargins::builtin(); }
  /// Notes the row of a result.
  void add(const CaseRecord& one);
  /// One record per row of the operator on the device that no case met, for a run of all written cases. None for a
  /// device that is not as it is.
  std::vector<CaseRecord> unmet(const std::string& op, const DeviceInfo& device) const;
  /// One line: nothing is recorded for the device, and the commands that record it. `options` is what selects the
  /// device for `check`. Empty if no case of the run lacked that record.
  std::string recordHint(const DeviceInfo& device, const std::string& options) const;

 private:
  std::string file_ = "harness/check/margins.tsv";
  std::optional<RecordedMargins> own_;
  std::map<std::string, std::set<MarginKey>> met_;  // by backend
  std::set<std::string> masked_;                    // backends
  std::set<std::string> new_;                       // backends of devices for which nothing is recorded
};

}  // namespace opkit::harness
