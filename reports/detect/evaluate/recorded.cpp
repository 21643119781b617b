#include "reports/detect/evaluate/recorded.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/base/checked_file.h"
#include "reports/recorded_noise.h"
#include "reports/results/reader.h"

namespace opkit::reports::detect {
namespace {

// A resize's parts take less time than the clock resolves.
bool isSteadyFigure(std::string_view figure) {
  return figure != "resizeShape" && figure != "resizeCreate" && figure != "resizeKernel";
}

Status readJsonLines(const std::string& path, std::vector<Recorded>& recorded) {
  Results results;
  OPKIT_TRY(readResults(path, results));
  std::map<std::string, std::vector<double>> series;
  for (const CaseRecord* record : results.ofKind("bench"))
    for (const auto& [figure, time] : record->times)
      if (time.min > 0 && isSteadyFigure(figure))
        series[fmt::format("{} {} {}", record->id, record->backend, figure)].push_back(time.min);
  for (auto& [name, runs] : series) recorded.push_back({name, std::move(runs)});
  return Status::ok();
}

/// A line: "name",value,value,... A quote inside the name is doubled.
Result<Recorded> parseLine(const std::string& line) {
  Recorded series;
  size_t at = 1;
  for (; at < line.size() && (line[at] != '"' || line.substr(at, 2) == "\"\""); ++at) {
    series.name += line[at];
    if (line[at] == '"') ++at;
  }
  if (line.empty() || line[0] != '"' || at >= line.size())
    return Status::corrupt("expected a quoted name, found '{}'", line.substr(0, 40));
  for (++at; at < line.size();) {
    const size_t end = std::min(line.find(',', at + 1), line.size());
    double value = 0;
    const auto [last, error] = std::from_chars(line.data() + at + 1, line.data() + end, value);
    if (line[at] != ',' || error != std::errc() || last != line.data() + end || !std::isfinite(value) || value <= 0)
      return Status::corrupt("expected ',' and a positive number, found '{}'", line.substr(at, end - at));
    series.runs.push_back(value);
    at = end;
  }
  return series;
}

Status readCsv(const std::string& path, std::vector<Recorded>& recorded) {
  OPKIT_ASSIGN(std::ifstream file, openLines(path, "a CSV file of series"));
  return readRecordedCsv(file, path, recorded);
}

}  // namespace

Status readRecordedCsv(std::istream& stream, const std::string& name, std::vector<Recorded>& recorded) {
  LineReader lines(stream, name);
  while (lines.next()) {
    const std::string& line = lines.line();
    if (line.empty() || line[0] == '#') continue;
    Result<Recorded> series = parseLine(line);
    if (!series) return series.error().withContext(lines.where());
    recorded.push_back(std::move(*series));
  }
  return lines.status();
}

Result<std::vector<Recorded>> builtInNoise() {
  std::istringstream stream{std::string(kRecordedNoise)};
  std::vector<Recorded> recorded;
  OPKIT_TRY(readRecordedCsv(stream, "recorded.csv", recorded));
  return recorded;
}

Status readRecorded(const std::string& path, std::vector<Recorded>& recorded) {
  return path.ends_with(".csv") ? readCsv(path, recorded) : readJsonLines(path, recorded);
}

std::string toCsv(const std::vector<Recorded>& recorded) {
  std::string text;
  for (const Recorded& series : recorded) {
    text += '"';
    for (const char c : series.name) text += c == '"' ? "\"\"" : std::string(1, c);
    text += '"';
    for (const double value : series.runs) text += fmt::format(",{:.4g}", value);
    text += '\n';
  }
  return text;
}

}  // namespace opkit::reports::detect
