#include "reports/history/recent.h"

#include <map>

#include "reports/results/runs.h"

namespace opkit::reports {
namespace {

/// Runs that measure alike: the command and the options that choose the device and the kernels.
std::string kindOfRun(const std::string& command) {
  const bool isRoof = command.find(" --roof") != std::string::npos;
  return command.substr(0, command.find(' ')) + deviceOptions(command) + (isRoof ? " --roof" : "");
}

Result<std::set<int64_t>> recentRuns(const Database& database, const std::vector<uint32_t>& nightOf, size_t nights) {
  std::map<std::pair<std::string, int64_t>, std::map<uint32_t, std::vector<int64_t>>>
      runs;  // by kind, device and night
  OPKIT_ASSIGN(Statement rows, database.prepare("SELECT id, command, ifnull(device, 0) FROM run LEFT JOIN calibration "
                                                "ON calibration.run = run.id"));
  while (true) {
    OPKIT_ASSIGN(const bool more, rows.step());
    if (!more) break;
    const auto run = static_cast<size_t>(rows.integer(0));
    runs[{kindOfRun(rows.text(1)), rows.integer(2)}][nightOf[run]].push_back(rows.integer(0));
  }
  std::set<int64_t> recent;
  for (const auto& [kind, byNight] : runs) {
    size_t count = 0;
    for (auto night = byNight.rbegin(); night != byNight.rend() && count < nights; ++night, ++count)
      recent.insert(night->second.begin(), night->second.end());
  }
  return recent;
}

}  // namespace

Result<std::set<int64_t>> recentSubjects(const Database& database, const std::vector<uint32_t>& nightOf,
                                         size_t nights) {
  OPKIT_ASSIGN(const std::set<int64_t> runs, recentRuns(database, nightOf, nights));
  OPKIT_ASSIGN(Statement rows, database.prepare("SELECT subject FROM seen WHERE run = ?"));
  std::set<int64_t> subjects;
  for (const int64_t run : runs) {
    rows.bind(run);
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) break;
      subjects.insert(rows.integer(0));
    }
  }
  return subjects;
}

}  // namespace opkit::reports
