#include "harness/commands/oracle_option.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/cases/case_text.h"
#include "harness/cases/case_writer.h"
#include "harness/oracle/script_values.h"

namespace opkit::harness {

CLI::Option* addOracleOptions(CLI::App& command, ScriptOptions& options) {
  CLI::Option* const oracle =
      command
          .add_option("--oracle", options.path,
                      "Compute the expected values of one operator by oracle(inputs, attributes) of this Python script")
          ->check(cli::existingFile());
  command
      .add_option("--oracle-timeout", options.seconds,
                  "Stop the script of --oracle if one case takes more than this many seconds")
      ->capture_default_str()
      ->check(cli::seconds())
      ->needs(oracle);
  return oracle;
}

namespace {

Result<ScriptOracle> startFor(const CaseOptions& cases, const ScriptOptions& options) {
  if (cases.ops.size() != 1 && cases.id.empty())
    return Status::invalidArgument("--oracle: a script is for one operator, name it with --op");
  auto script = ScriptOracle::start(options);
  if (!script) return script.error().withContext("--oracle");
  return script;
}

/// The cases to begin from, without draws; of one case not its group.
Result<Catalogue> writtenCases(CaseOptions cases, const OpRegistry& registry) {
  cases.reach = false;
  OPKIT_ASSIGN(Catalogue catalogue, loadCases(cases, registry));
  if (!cases.id.empty()) catalogue.groups.at(0).cases.resize(1);
  return catalogue;
}

/// Whether two entries are of one case but for its data and values.
bool isSameCase(const nlohmann::json& a, const nlohmann::json& b) {
  const auto valueOf = [](const nlohmann::json& entry, const char* key) { return entry.value(key, nlohmann::json()); };
  return std::ranges::all_of(std::array{"op", "params", "inputs", "lanes", "constant", "outputs"},
                             [&](const char* key) { return valueOf(a, key) == valueOf(b, key); });
}

/// The text of the file with the cases, in place of those of the operator that were stored before: of all if `isWhole`,
/// else of the same cases.
Result<std::string> fileWith(const std::string& file, const std::vector<Case>& cases, bool isWhole,
                             const OpRegistry& registry) {
  std::string text = "{\n  \"cases\": [\n  ]\n}\n", block;
  if (std::filesystem::is_regular_file(file)) {
    OPKIT_ASSIGN(const auto bytes, readFile(file));
    text.assign(bytes.begin(), bytes.end());
  }
  std::vector<nlohmann::json> entries;
  for (const Case& c : cases) {
    block += "    " + caseEntry(c) + ",\n";
    entries.push_back(parseJson(caseEntry(c)));
  }
  const auto isOld = [&](const nlohmann::json& old) {
    const nlohmann::json& first = entries.front();
    if (!old.contains("expected") || textField(old, "name") != storedName(textField(old, "source"))) return false;
    if (isWhole && old.value("op", nlohmann::json()) == first["op"]) return true;
    return std::ranges::any_of(entries, [&](const nlohmann::json& entry) { return isSameCase(entry, old); });
  };
  auto changed = withCases(withoutCases(text, isOld), block);
  if (!changed) return changed.error().withContext(file);
  OPKIT_TRY(parseCaseFile(file, *changed, registry).error());
  return changed;
}

}  // namespace

Status checkOracle(const ScriptOptions& options, const CaseOptions& cases) {
  return options.path.empty() ? Status::ok() : startFor(cases, options).error();
}

Result<int> storeValues(const ScriptOptions& options, const CaseOptions& cases, const std::string& file,
                        const OpRegistry& registry) {
  OPKIT_ASSIGN(ScriptOracle script, startFor(cases, options));
  OPKIT_ASSIGN(const Catalogue catalogue, writtenCases(cases, registry));
  const std::string source = std::filesystem::path(options.path).filename().string();
  auto found = valuesOfScript(catalogue, registry, script, source);
  if (!found) return found.error().withContext("--store");
  if (found->cases.empty())
    return Status::invalidArgument("--store: {}", found->why.empty()
                                                      ? "there is no written case without stored values to begin from"
                                                      : "no case can be stored; the first: " + found->why);
  OPKIT_ASSIGN(const std::string text,
               fileWith(file, found->cases, cases.filter.empty() && cases.id.empty(), registry));
  OPKIT_TRY(writeFile(file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}).withContext("--store"));
  noteOldBuild();
  fmt::print("{} case{} with the values of {}: {}\n", found->cases.size(), found->cases.size() == 1 ? "" : "s", source,
             file);
  if (found->leftOut > 0)
    fmt::print("{} group{} of cases stored none; the first: {}\n", found->leftOut, found->leftOut == 1 ? "" : "s",
               found->why);
  return cli::kSuccess;
}

}  // namespace opkit::harness
