#include "reports/results/runs.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace opkit::reports {

std::vector<RunRecords> byRun(const Results& results) {
  std::vector<RunRecords> all;
  std::map<std::string, size_t> index;
  for (const Run& run : results.runs) {
    index[run.facts.run] = all.size();
    all.push_back({&run, {}, {}, {}});
  }
  const auto sort = [&](const auto& records, auto member) {
    for (const auto& record : records)
      if (const auto found = index.find(record.run); found != index.end())
        (all[found->second].*member).push_back(&record);
  };
  sort(results.devices, &RunRecords::devices);
  sort(results.cases, &RunRecords::cases);
  sort(results.mutants, &RunRecords::mutants);
  return all;
}

std::string deviceOptions(const std::string& command) {
  static const std::vector<std::string> known = {"--mask", "--vector-width", "--device-class",
                                                 "--simd", "--validation",   "--reference"};
  std::istringstream words(command);
  std::map<std::string, std::string> found;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    // The device's line names the driver; paths say nothing.
    if (name == "--cold-cache" || name == "--driver" || name == "--tuning-guesses") found[name] = "";
    if (std::find(known.begin(), known.end(), name) == known.end()) continue;
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos) words >> value;
    found[name] = " " + value;
  }
  std::string text;
  for (const auto& [name, value] : found) text += (text.empty() ? "" : " ") + name + value;
  return text;
}

}  // namespace opkit::reports
