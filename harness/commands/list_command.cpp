#include <nlohmann/json.hpp>
#include <set>

#include "engine/backend/extra_creators.h"
#include "engine/backend/loop_lowering.h"
#include "engine/model/model.h"
#include "harness/commands/commands.h"
#include "harness/run/terminal.h"
#include "reports/results/reader.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/capability_mask.h"
#endif

namespace opkit::harness {
namespace {

size_t countCases(const Catalogue& catalogue, const std::string& op) {
  size_t count = 0;
  for (const CaseGroup& group : catalogue.groups)
    if (group.cases.front().op == op) count += group.cases.size();
  return count;
}

std::string kernelsOf(const OpRegistry& registry, const OpDef& def, const std::string& backend) {
  if (def.lower) return "raster";
  const bool known = !def.inputs.empty() && std::ranges::all_of(def.inputs, &Port::contents);
  if (def.shapeOnly || known) return "folded";
  std::string text;
  for (const Creator& creator : creatorTable(registry, backend, def))
    text += (text.empty() ? "" : ",") + creator.provider + (creator.kernel.empty() ? "" : "/" + creator.kernel);
  if (def.loop) text += (text.empty() ? "" : ",") + std::string(kLoopProvider);
  if (text.empty() && backend == "cpu" && def.oracle) return "reference";
  return text.empty() ? "-" : text;
}

Result<int> list(const CaseOptions& options, bool showCases, const std::string& json) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options, registry));
  if (showCases) {
    for (const CaseGroup& group : catalogue.groups)
      for (const Case& c : group.cases) fmt::print("{}\n", c.id());
    return catalogue.groups.empty() ? nothingRan("no case was asked for") : cli::kSuccess;
  }
  nlohmann::json document = nlohmann::json::array();
  Table table({"operator", "folder", "cases", "cpu", "vulkan", "summary"});
  for (const OpDef* def : registry.all()) {
    const size_t cases = countCases(catalogue, def->type);
    if (cases == 0 && (!options.ops.empty() || !options.filter.empty() || !options.id.empty())) continue;
    const std::string cpu = kernelsOf(registry, *def, "cpu"), vulkan = kernelsOf(registry, *def, "vulkan");
    table.add({def->type, def->folder, std::to_string(cases), cpu, vulkan, def->summary});
    document.push_back({{"type", def->type},
                        {"folder", def->folder},
                        {"cases", cases},
                        {"kernels", {{"cpu", cpu}, {"vulkan", vulkan}}},
                        {"summary", def->summary}});
  }
  OPKIT_TRY(cli::writeJson(json, document));
  fmt::print("{}", table.toString());
  return table.empty() ? nothingRan("no operator has such cases") : cli::kSuccess;
}

/// Results of a run instead of the cards' claims: per operator and backend the dtypes that passed and those that did
/// not.
Result<int> matrix(const std::string& path) {
  reports::Results results;
  OPKIT_TRY(reports::readResults(path, results).withContext("--matrix"));
  for (const std::string& note : reports::notesOf(results)) fmt::print(stderr, "op-harness: note: {}\n", note);
  std::map<std::string, std::map<std::string, std::map<std::string, std::pair<size_t, size_t>>>> cells;
  std::set<std::string> backends;
  for (const CaseRecord* one : results.ofKind("check")) {
    if (one->id.starts_with("error:")) continue;
    backends.insert(one->backend);
    auto& [passed, failed] = cells[one->op][one->backend][one->dtype.empty() ? "-" : one->dtype];
    passed += one->status == CaseStatus::Pass;
    failed += isFailure(one->status) || one->status == CaseStatus::Expected || one->status == CaseStatus::Flake;
  }
  if (cells.empty())
    return Status::invalidArgument("--matrix {}: expected results of `op-harness check --json`, found none", path);
  std::vector<std::string> heading = {"operator"};
  heading.insert(heading.end(), backends.begin(), backends.end());
  Table table(heading);
  for (const auto& [op, byBackend] : cells) {
    std::vector<std::string> row = {op};
    for (const std::string& backend : backends) {
      std::string text;
      const auto found = byBackend.find(backend);
      if (found != byBackend.end())
        for (const auto& [dtype, counts] : found->second) {
          const auto& [passed, failed] = counts;
          text += fmt::format("{}{}{}", text.empty() ? "" : " ", failed > 0 ? "!" : passed > 0 ? "" : "-", dtype);
        }
      row.push_back(text.empty() ? "." : text);
    }
    table.add(std::move(row));
  }
  fmt::print("{}dtype: passed; !dtype: failed; -dtype: refused by every case; .: not tried\n", table.toString());
  return cli::kSuccess;
}

/// Operator x dtype and the kernels that ran its cases, per backend. Fails if the oracle ran one.
Result<int> kernels(const std::string& path) {
  reports::Results results;
  OPKIT_TRY(reports::readResults(path, results).withContext("--kernels"));
  for (const std::string& note : reports::notesOf(results)) fmt::print(stderr, "op-harness: note: {}\n", note);
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::set<std::string>>> rows;
  size_t byOracle = 0;
  for (const CaseRecord* one : results.ofKind("check")) {
    const std::string &provider = one->provider, &kernel = one->kernel;
    if (provider.empty()) continue;  // it never ran
    rows[{one->op, one->backend}][one->dtype.empty() ? "-" : one->dtype].insert(
        kernel.empty() || kernel == provider ? provider : provider + "/" + kernel);
    byOracle += provider == "reference" && one->backend != "reference";
  }
  if (rows.empty())
    return Status::invalidArgument("--kernels {}: expected results of `op-harness check --json`, found none", path);
  Table table({"operator", "backend", "dtype", "kernels"});
  for (const auto& [key, byDType] : rows)
    for (const auto& [dtype, names] : byDType)
      table.add({key.first, key.second, dtype, fmt::format("{}", fmt::join(names, ", "))});
  fmt::print("{}cases that the oracle ran: {}\n", table.toString(), byOracle);
  return byOracle == 0 ? cli::kSuccess : cli::kCheckFailed;
}

Result<int> devices(const std::string& json) {
  nlohmann::json document = nlohmann::json::array();
  std::string profiles;
  Table table({"backend", "index", "name", "driver", "kind", "uuid"});
  for (const BackendKind& kind : backendKinds()) {
    const auto found = kind.devices();
    if (!found) {
      table.add({kind.name, "-", found.error().message()});
      document.push_back({{"backend", kind.name}, {"error", found.error().message()}});
      continue;
    }
    for (const DeviceInfo& device : *found) {
      table.add({kind.name, std::to_string(device.index), device.name, device.driver,
                 device.software ? "software" : "hardware", device.uuid});
      document.push_back({{"backend", kind.name},
                          {"index", device.index},
                          {"name", device.name},
                          {"driver", device.driver},
                          {"software", device.software},
                          {"uuid", device.uuid}});
      if (kind.name != "vulkan") continue;
      const auto described = describeDevice(kind.name, {.device = std::to_string(device.index), .cacheDir = "off"});
      if (!described || described->profile.empty()) continue;
      document.back()["profile"] = nlohmann::json::parse(described->profile, nullptr, false);
      profiles += fmt::format("{} {}: {}\n", kind.name, device.index, described->profileText);
    }
  }
  OPKIT_TRY(cli::writeJson(json, document));
  fmt::print("{}{}", table.toString(), profiles);
  return cli::kSuccess;
}

Result<int> masks() {
#ifdef OPKIT_HAS_VULKAN
  for (const std::string& mask : vulkan::singleMasks()) fmt::print("{}\n", mask);
  return cli::kSuccess;
#else
  return Status::unsupported("--masks: this build has no Vulkan backend, and no other can be masked");
#endif
}

}  // namespace

void addListCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("list", "List operators, their kernels and the number of their cases");
  auto options = std::make_shared<CaseOptions>();
  auto showCases = std::make_shared<bool>(false);
  auto json = std::make_shared<std::string>();
  auto results = std::make_shared<std::string>();
  auto ran = std::make_shared<std::string>();
  auto showMasks = std::make_shared<bool>(false);
  options->add(*command);
  command->add_option("--fuzz", options->fuzz, "Further cases per operator, drawn from its card by --seed")
      ->check(cli::wholeNumber(0, kMostDrawn));
  command->add_option("--matrix", *results, "Print operator x backend x dtype from the results of a run (JSON lines)");
  command
      ->add_option("--kernels", *ran,
                   "Print operator x dtype and the kernels that ran them, from such results; 1 if the oracle ran one")
      ->excludes(command->get_option("--matrix"));
  CLI::Option* ids = command->add_flag("--ids", *showCases, "Print the ids of the cases instead");
  command->add_flag("--masks", *showMasks, "Print the masks of `check --mask` instead, one per line");
  CLI::Option* matrixOption = command->get_option("--matrix");
  command->add_option("--json", *json, "Write the list as JSON")
      ->check(cli::outputFile())
      ->excludes(ids)
      ->excludes(matrixOption)
      ->excludes(command->get_option("--kernels"));
  command->footer(
      "Examples:\n  op-harness list\n  op-harness list --ids --op Softmax\n  op-harness list --matrix results.jsonl\n"
      "  op-harness list --kernels results.jsonl");
  command->callback([options, showCases, showMasks, json, results, ran, &context] {
    context.run = [options, showCases, showMasks, json, results, ran]() -> Result<int> {
      if (*showMasks) return masks();
      if (!ran->empty()) return kernels(*ran);
      return results->empty() ? list(*options, *showCases, *json) : matrix(*results);
    };
  });
}

void addDevicesCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("devices", "List the backends of this build and their devices");
  auto json = std::make_shared<std::string>();
  command->add_option("--json", *json, "Write the list as JSON")->check(cli::outputFile());
  command->footer("Example:\n  op-harness devices");
  command->callback([json, &context] { context.run = [json] { return devices(*json); }; });
}

}  // namespace opkit::harness
