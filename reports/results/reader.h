// Results: files of JSON lines (reports/schema.md), read back and grouped by record.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "reports/results/records.h"

namespace opkit::reports {

/// One invocation of op-harness and its progress.
struct Run {
  RunRecord facts;                // facts.run is never empty: runs without an id get one from their content
  std::optional<size_t> planned;  // lines of cases or mutants; absent if the writer did not say
  size_t written = 0;
  std::string outcome;  // "complete" or "interrupted", from the summary; empty if there is none
  std::string ended;
  std::string part;               // SummaryRecord::part
  std::string night;              // from a plan above it; empty if there is none
  std::vector<uint64_t> content;  // hashes of its first 1, 2, ... lines
  std::string lines;              // with ReadOptions::keepLines
  std::vector<bool> plain;        // with keepLines: by line, whether it is a plain pass (common.h)

  bool complete() const { return outcome == "complete" && written >= planned.value_or(0); }
};

/// Parts of nights that the files hold: by night and number of parts, the parts from 1 on.
using Shards = std::map<std::pair<std::string, size_t>, std::set<size_t>>;

struct Results {
  std::vector<Run> runs;
  size_t plannedRuns = 0;             // planned for the files, if their writer said so
  Shards shards;                      // of files that are parts of a night
  std::vector<std::string> warnings;  // of runs that measured nothing and of lines that were left out
  std::vector<DeviceRecord> devices;
  std::vector<CaseRecord> cases;
  std::vector<MutantRecord> mutants;

  bool complete() const;
  /// "INCOMPLETE: 12 of 84 planned cases (14.3 %); 1 of 3 runs did not reach its end; 1 of 2 shards is missing,
  /// first 2/2"; empty if nothing is missing.
  std::string missing() const;
  /// Cases of one kind: "check", "bench", "roof", "conformance", "model".
  std::vector<const CaseRecord*> ofKind(const std::string& kind) const;
};

struct ReadOptions {
  bool keepLines = false;
  bool refuseCut = false;  // an unfinished line is Corrupt
};

/// Appends the records of a file; the field `run` of each names a run of `results`, if the line belongs to one. Corrupt
/// names file and line; Unsupported for another schema version. An unfinished line (the last one, or one before another
/// run begins) is left out with a warning.
Status readResults(const std::string& path, Results& results, const ReadOptions& options = {});
Status readResults(std::istream& stream, const std::string& name, Results& results, const ReadOptions& options = {});
/// Notices for a reader of these results: the warnings, and what is missing.
std::vector<std::string> notesOf(const Results& results);

}  // namespace opkit::reports
