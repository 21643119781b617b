#include <nlohmann/json.hpp>

#include "engine/base/guard.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/commands/commands.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"
#include "reports/results/kernel_names.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/capability_mask.h"
#endif

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

size_t countCases(const Catalogue& catalogue, const std::string& op) {
  size_t count = 0;
  for (const CaseGroup& group : catalogue.groups)
    if (group.cases.front().op == op) count += group.cases.size();
  return count;
}

std::string kernelsOf(const OpRegistry& registry, const OpDef& def, const std::string& backend) {
  const std::vector<std::string> names = kernelNames(registry, backend, def);
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ","));
}

Result<int> list(const CaseOptions& options, bool showCases, const std::string& json) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options, registry));
  if (showCases) {
    for (const CaseGroup& group : catalogue.groups)
      for (const Case& c : group.cases) fmt::print("{}\n", c.id());
    return catalogue.groups.empty() ? nothingRan("no case was selected") : cli::kSuccess;
  }
  Json document = Json::array();
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

/// The devices of a backend as a worker finds them, or {"error": why there are none}.
Json listedDevices(const BackendKind& kind) {
  const auto found = guarded([&] { return kind.devices(); });
  if (!found) return {{"error", found.error().message()}};
  Json devices = Json::array();
  for (const DeviceInfo& device : *found)
    devices.push_back({{"backend", kind.name},
                       {"index", device.index},
                       {"name", device.name},
                       {"driver", device.driver},
                       {"software", device.software},
                       {"uuid", device.uuid}});
  return devices;
}

/// One entry per backend. A driver may end the process that asks it.
Result<std::vector<Json>> listDevices(const std::vector<BackendKind>& kinds) {
  constexpr double kTimeoutSeconds = 60;
  std::vector<Json> listed(kinds.size());
  OPKIT_TRY(runIsolated(
      kinds.size(), 1, kTimeoutSeconds,
      [&](size_t i) { return listedDevices(kinds[i]).dump(-1, ' ', false, Json::error_handler_t::replace); },
      [&](size_t i, const JobOutcome& outcome) {
        listed[i] = parseJson(outcome.answer);
        if (outcome.kind != JobOutcome::Kind::Answered) listed[i] = {{"error", lossText(outcome, kTimeoutSeconds)}};
      }));
  return listed;
}

/// Adds the profile of a Vulkan device to its entry; returns the lines that print it.
std::string addProfile(Json& device) {
  const std::string index = std::to_string(device.value("index", 0));
  const auto described = describeDevice("vulkan", {.device = index, .cacheDir = "off"});
  if (!described || described->profile.empty()) return "";
  device["profile"] = parseJson(described->profile);
  std::string text = fmt::format("vulkan {}: {}\n", index, described->profileText);
  if (!described->lacks.empty())
    text += fmt::format("vulkan {}: some kernels need {}, which it lacks\n", index, described->lacks);
  return text;
}

Result<int> devices(const std::string& json) {
  const std::vector<BackendKind> kinds = backendKinds();
  OPKIT_ASSIGN(std::vector<Json> listed, listDevices(kinds));
  Json document = Json::array();
  std::string profiles;
  Table table({"backend", "index", "name", "driver", "kind", "uuid"});
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (listed[i].is_object()) {
      table.add({kinds[i].name, "-", listed[i].value("error", "")});
      document.push_back({{"backend", kinds[i].name}, {"error", listed[i].value("error", "")}});
      continue;
    }
    for (Json& device : listed[i]) {
      table.add({kinds[i].name, std::to_string(device.value("index", 0)), device.value("name", ""),
                 device.value("driver", ""), device.value("software", false) ? "software" : "hardware",
                 device.value("uuid", "")});
      if (kinds[i].name == "vulkan") profiles += addProfile(device);
      document.push_back(std::move(device));
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
  auto showMasks = std::make_shared<bool>(false);
  options->add(*command);
  command->add_option("--fuzz", options->fuzz, "Draw this many further cases per operator from its card")
      ->check(cli::wholeNumber(0, kMostDrawn));
  CLI::Option* ids = command->add_flag("--ids", *showCases, "Print the ids of the cases, not the list");
  command->add_flag("--masks", *showMasks, "Print the masks of `check --mask`, one per line, not the list");
  command->add_option("--json", *json, "Write the list as JSON")->check(cli::outputFile())->excludes(ids);
  command->footer(
      "op-report ops shows the results of a run for each operator.\n"
      "Examples:\n  op-harness list\n  op-harness list --ids --op Softmax");
  command->callback([options, showCases, showMasks, json, &context] {
    context.run = [options, showCases, showMasks, json]() -> Result<int> {
      return *showMasks ? masks() : list(*options, *showCases, *json);
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
