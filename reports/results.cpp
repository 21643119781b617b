#include "reports/results.h"

#include <cmath>
#include <fstream>

namespace opkit::reports {
namespace {

constexpr int kSchema = 1;

/// The records of one file. Lines name their run; lines without a name belong to the run that began last.
class Reader {
 public:
  explicit Reader(Results& results) : results_(results), first_(results.runs.size()) {}

  Status add(const nlohmann::json& record) {
    if (!record.is_object() || !record.contains("record"))
      return Status::corrupt("expected an object with a field 'record', found {}", record.dump().substr(0, 60));
    const std::string kind = textOf(record, "record");
    if (kind == "run") return addRun(record);
    if (kind == "device") results_.devices.push_back(record);
    if (kind == "plan") addPlan(record);
    if (kind == "mutant") count(record);
    if (kind == "summary")
      if (Run* run = runOf(record)) run->outcome = record.contains("outcome") ? textOf(record, "outcome") : "complete";
    return kind == "case" ? addCase(record) : Status::ok();  // other records are for readers of later schemas
  }

 private:
  Status addRun(const nlohmann::json& record) {
    if (record.value("schema", 0) != kSchema)
      return Status::unsupported("expected schema {}, found {}", kSchema, record.value("schema", 0));
    results_.runs.push_back({record, std::nullopt, 0, ""});
    addPlan(record);
    return Status::ok();
  }

  Status addCase(const nlohmann::json& record) {
    for (const char* field : {"kind", "id", "backend", "status"})
      if (textOf(record, field).empty()) return Status::corrupt("a case record lacks the field '{}'", field);
    count(record);
    results_.cases.push_back(record);
    return Status::ok();
  }

  void addPlan(const nlohmann::json& record) {
    if (record.contains("runs")) results_.plannedRuns += static_cast<size_t>(numberOf(record, "runs"));
    Run* run = runOf(record);
    const auto planned = record.find("planned");
    if (!run || planned == record.end() || !planned->is_object()) return;
    size_t sum = run->planned.value_or(0);
    for (const auto& [backend, lines] : planned->items()) sum += lines.is_number() ? lines.get<size_t>() : 0;
    run->planned = sum;
  }

  void count(const nlohmann::json& record) {
    if (Run* run = runOf(record)) ++run->written;
  }

  Run* runOf(const nlohmann::json& record) {
    const std::string id = textOf(record, "run");
    for (size_t i = results_.runs.size(); i > first_; --i)
      if (id.empty() || textOf(results_.runs[i - 1].facts, "run") == id) return &results_.runs[i - 1];
    return nullptr;
  }

  Results& results_;
  size_t first_;  // run of this file
};

}  // namespace

std::vector<const nlohmann::json*> Results::ofKind(const std::string& kind) const {
  std::vector<const nlohmann::json*> selected;
  for (const nlohmann::json& record : cases)
    if (textOf(record, "kind") == kind) selected.push_back(&record);
  return selected;
}

bool Results::complete() const {
  return runs.size() >= plannedRuns &&
         std::all_of(runs.begin(), runs.end(), [](const Run& run) { return run.complete(); });
}

std::string Results::missing() const {
  if (complete()) return "";
  size_t planned = 0, written = 0, cut = 0;
  for (const Run& run : runs) {
    planned += run.planned.value_or(0);
    written += run.planned ? std::min(run.written, *run.planned) : 0;
    cut += !run.complete();
  }
  std::string text = "INCOMPLETE: ";
  if (planned > 0)
    text += fmt::format("{} of {} planned cases ({:.1f} %); ", written, planned,
                        100 * static_cast<double>(written) / static_cast<double>(planned));
  if (cut > 0) text += fmt::format("{} of {} runs did not reach {} end", cut, runs.size(), cut == 1 ? "its" : "their");
  if (runs.size() < plannedRuns)
    text +=
        fmt::format("{}{} of {} planned runs never began", cut > 0 ? ", " : "", plannedRuns - runs.size(), plannedRuns);
  return text;
}

Status readResults(const std::string& path, Results& results) {
  std::ifstream file(path);
  if (!file) return Status::invalidArgument("{}: cannot be read; expected a file of JSON lines", path);
  Reader reader(results);
  std::string line, cutAt, cutText;  // of a line that is no JSON, as long as it may be a cut line
  bool any = false, followed = false;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    const std::string where = fmt::format("{}:{}", path, number);
    const bool begins = record.is_object() && textOf(record, "record") == "run";
    followed = !cutAt.empty() && !begins;
    if (followed) break;
    if (!cutAt.empty()) results.warnings.push_back(cutAt + ": the line was cut short; it is left out");
    cutAt = record.is_discarded() ? where : "";
    cutText = line.substr(0, 60);
    if (!cutAt.empty()) continue;
    any = true;
    OPKIT_TRY(reader.add(record).withContext(where));
  }
  if (cutAt.empty()) return Status::ok();
  if (!any || followed) return Status::corrupt("{}: expected a line of JSON, found '{}'", cutAt, cutText);
  results.warnings.push_back(cutAt + ": the line was cut short; it is left out");
  return Status::ok();
}

std::vector<std::string> notesOf(const Results& results) {
  std::vector<std::string> notes = results.warnings;
  if (!results.complete()) notes.push_back(results.missing());
  return notes;
}

std::string textOf(const nlohmann::json& record, const std::string& field) {
  const auto found = record.find(field);
  if (found == record.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

double numberOf(const nlohmann::json& record, const std::string& field, double fallback) {
  const auto found = record.find(field);
  if (found == record.end()) return fallback;
  if (found->is_number()) return found->get<double>();
  if (!found->is_string()) return fallback;
  const std::string text = found->get<std::string>();
  if (text == "nan") return NAN;
  if (text == "inf") return INFINITY;
  return text == "-inf" ? -INFINITY : fallback;
}

}  // namespace opkit::reports
