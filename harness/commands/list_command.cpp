#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/commands/commands.h"
#include "harness/run/terminal.h"
#include "reports/results/kernel_names.h"
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
      document.back()["profile"] = parseJson(described->profile);
      profiles += fmt::format("{} {}: {}\n", kind.name, device.index, described->profileText);
      if (!described->lacks.empty())
        profiles +=
            fmt::format("{} {}: some kernels need {}, which it lacks\n", kind.name, device.index, described->lacks);
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
