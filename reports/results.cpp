#include "reports/results.h"

#include <cmath>
#include <fstream>

namespace opkit::reports {
namespace {

constexpr int kSchema = 1;

Status addRecord(const nlohmann::json& record, Results& results) {
  if (!record.is_object() || !record.contains("record"))
    return Status::corrupt("expected an object with a field 'record', found {}", record.dump().substr(0, 60));
  const std::string kind = textOf(record, "record");
  if (kind == "run") {
    if (record.value("schema", 0) != kSchema)
      return Status::unsupported("expected schema {}, found {}", kSchema, record.value("schema", 0));
    results.runs.push_back(record);
  } else if (kind == "device") {
    results.devices.push_back(record);
  } else if (kind == "case") {
    for (const char* field : {"kind", "id", "backend", "status"})
      if (textOf(record, field).empty()) return Status::corrupt("a case record lacks the field '{}'", field);
    results.cases.push_back(record);
  }
  return Status::ok();  // other records belong to later schemas' readers
}

}  // namespace

std::vector<const nlohmann::json*> Results::ofKind(const std::string& kind) const {
  std::vector<const nlohmann::json*> selected;
  for (const nlohmann::json& record : cases)
    if (textOf(record, "kind") == kind) selected.push_back(&record);
  return selected;
}

Status readResults(const std::string& path, Results& results) {
  std::ifstream file(path);
  if (!file) return Status::invalidArgument("{}: cannot be read; expected a file of JSON lines", path);
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    const std::string where = fmt::format("{}:{}", path, number);
    if (record.is_discarded())
      return Status::corrupt("{}: expected a line of JSON, found '{}'", where, line.substr(0, 60));
    OPKIT_TRY(addRecord(record, results).withContext(where));
  }
  return Status::ok();
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
