// ResultWriter: appends the records of one run to a results file. Every line is one write, so a crash loses no result.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/base/checked_file.h"
#include "reports/results/records.h"

namespace opkit::reports {

/// UTC now: 2026-01-31T12:00:00Z.
std::string utcNow();

/// Does nothing before open(). The first failed write is kept in status(); nothing is written after it. Used by one
/// thread.
class ResultWriter {
 public:
  /// `source`: the option or command that names the file, for messages.
  explicit ResultWriter(std::string source = "--json") : source_(std::move(source)) {}
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  /// Opens for appending and writes the run line, with a new id and the time unless `run` has them. InvalidArgument
  /// names a path that cannot be written.
  Status open(const std::string& path, RunRecord run);
  bool isOpen() const { return file_.has_value(); }
  void write(PlanRecord record);
  void write(DeviceRecord record);
  void write(CaseRecord record);
  void write(MutantRecord record);
  /// Further fields of the closing line.
  SummaryRecord& summary() { return summary_; }
  /// Writes the closing line: counts of all lines, the outcome and, unless the summary has it, the time. Without it a
  /// reader knows that the run is incomplete. Returns status().
  Status close(const std::string& outcome);
  const Status& status() const { return status_; }

 private:
  template <class T>
  bool append(T& record);
  /// Writes the fields that the case shares with others, unless they stand in the file.
  void takeCommon(CaseRecord& record);

  std::string source_;
  std::optional<LineFile> file_;
  Status status_;
  std::string run_;                        // its id, which every line carries
  std::map<std::string, size_t> commons_;  // by line without run and number
  SummaryRecord summary_;
};

}  // namespace opkit::reports
