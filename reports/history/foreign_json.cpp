#include "reports/history/foreign_json.h"

#include <algorithm>
#include <array>

#include "engine/base/json_text.h"

namespace opkit::reports {
namespace {

/// The text with null in place of NaN, Infinity and -Infinity outside of strings.
std::string withoutNan(std::string_view text) {
  constexpr std::array<std::string_view, 3> kNotInJson = {"NaN", "-Infinity", "Infinity"};
  std::string clean;
  clean.reserve(text.size());
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString && c == '\\' && i + 1 < text.size()) {
      clean += c;
      clean += text[++i];
      continue;
    }
    if (c == '"') inString = !inString;
    const auto found = inString ? kNotInJson.end() : std::ranges::find_if(kNotInJson, [&](std::string_view word) {
      return text.substr(i).starts_with(word);
    });
    if (found == kNotInJson.end()) {
      clean += c;
    } else {
      clean += "null";
      i += found->size() - 1;
    }
  }
  return clean;
}

Result<nlohmann::json> parsed(std::string_view text) {
  OPKIT_TRY(checkJsonDepth(text));
  nlohmann::json json = parseJson(text);
  if (!json.is_discarded()) return json;
  return jsonOf(withoutNan(text));
}

bool isTrue(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// The entries of an object's array; null if there is none.
const nlohmann::json* entriesOf(const nlohmann::json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? &*found : nullptr;
}

/// Cores and caches identify the machine; its name does not, since each container has another one.
std::string machineOf(const nlohmann::json& context) {
  if (!context.contains("num_cpus")) return "";
  std::string text = fmt::format("{} CPUs", context["num_cpus"].dump());
  if (const auto caches = context.find("caches"); caches != context.end()) text += ", caches " + caches->dump();
  return text;
}

Status addBenchmark(const nlohmann::json& entry, uint32_t night, ForeignTable& table) {
  const std::string type = textField(entry, "run_type");
  if (type == "aggregate") {
    table.countNote("aggregates left out");
    return Status::ok();
  }
  if (type != "iteration")
    return Status::invalidArgument("expected run_type 'iteration' or 'aggregate', found '{}'", type);
  if (isTrue(entry, "error_occurred") || isTrue(entry, "skipped")) {
    table.countNote("benchmarks left out that have an error or were skipped");
    return Status::ok();
  }
  const std::string unit = textField(entry, "time_unit"), name = textField(entry, "name");
  if (unit != "ns" && unit != "us" && unit != "ms" && unit != "s")
    return Status::invalidArgument("expected time_unit ns, us, ms or s of '{}', found '{}'", name, unit);
  const auto time = entry.find("real_time");
  if (time == entry.end() || !time->is_number())
    return Status::invalidArgument("expected a number as real_time of '{}', found {}", name,
                                   time == entry.end() ? "none" : time->dump());
  return table.add(name, unit, night, time->get<double>());
}

Status addCommand(const nlohmann::json& entry, uint32_t night, ForeignTable& table) {
  const std::string name = textField(entry, "command");
  const nlohmann::json* times = entriesOf(entry, "times");
  if (!times) return Status::invalidArgument("expected the times of '{}', found none", name);
  for (const nlohmann::json& time : *times) {
    if (!time.is_number())
      return Status::invalidArgument("expected numbers as times of '{}', found {}", name, time.dump());
    OPKIT_TRY(table.add(name, "s", night, time.get<double>()));
  }
  if (const nlohmann::json* codes = entriesOf(entry, "exit_codes")) {
    const auto failed = std::ranges::count_if(*codes, [](const nlohmann::json& code) { return code != 0; });
    table.countNote("times of commands that failed, which count too", static_cast<size_t>(failed));
  }
  return Status::ok();
}

}  // namespace

const char* nameOf(ForeignForm form) {
  switch (form) {
    case ForeignForm::GoogleBenchmark: return "Google Benchmark";
    case ForeignForm::Hyperfine: return "hyperfine";
    case ForeignForm::Csv: return "CSV";
  }
  return "";
}

Result<ForeignDocument> parseForeignJson(std::string_view text) {
  ForeignDocument document;
  OPKIT_ASSIGN(document.json, parsed(text));
  if (entriesOf(document.json, "benchmarks")) {
    if (const auto context = document.json.find("context"); context != document.json.end())
      document.date = secondsOf(textField(*context, "date"));
    return document;
  }
  document.form = ForeignForm::Hyperfine;
  if (document.json.is_object() && document.json.contains("schema_version"))
    return Status::unsupported("expected the JSON of hyperfine 1, found schema version {}",
                               document.json["schema_version"].dump());
  if (entriesOf(document.json, "results")) return document;
  return Status::invalidArgument("expected JSON with 'benchmarks' (Google Benchmark) or 'results' (hyperfine)");
}

Status addForeignJson(const ForeignDocument& document, ForeignTable& table) {
  const uint32_t night = table.night(document.path);
  table.at(night).at = document.date.value_or(0);
  const bool isGoogle = document.form == ForeignForm::GoogleBenchmark;
  if (const auto context = document.json.find("context"); isGoogle && context != document.json.end()) {
    table.at(night).commit = textField(*context, "commit");
    table.environmentAt(night).host = machineOf(*context);
  }
  const char* key = isGoogle ? "benchmarks" : "results";
  const nlohmann::json& entries = *entriesOf(document.json, key);
  for (size_t i = 0; i < entries.size(); ++i) {
    const Status status = isGoogle ? addBenchmark(entries[i], night, table) : addCommand(entries[i], night, table);
    if (!status.isOk()) return status.withContext(fmt::format("{}[{}]", key, i));
  }
  return Status::ok();
}

}  // namespace opkit::reports
