#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"
#include "harness/run/terminal.h"
#include "ops/builtin_ops.h"

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
  if (def.shapeOnly) return "folded";
  std::string text;
  for (const Creator& creator : registry.creators(backend, def.type))
    text += (text.empty() ? "" : ",") + creator.provider;
  if (text.empty() && backend == "cpu" && def.oracle) return "reference";
  return text.empty() ? "-" : text;
}

Result<int> list(const CaseOptions& options, bool showCases, const std::string& json) {
  const OpRegistry& registry = ops::builtinOps();
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options, registry));
  if (showCases) {
    for (const CaseGroup& group : catalogue.groups)
      for (const Case& c : group.cases) fmt::print("{}\n", c.id());
    return catalogue.groups.empty() ? cli::kNothingRan : cli::kSuccess;
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
  return table.empty() ? cli::kNothingRan : cli::kSuccess;
}

Result<int> devices(const std::string& json) {
  nlohmann::json document = nlohmann::json::array();
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
    }
  }
  OPKIT_TRY(cli::writeJson(json, document));
  fmt::print("{}", table.toString());
  return cli::kSuccess;
}

}  // namespace

void addListCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("list", "Operators, their kernels and how many cases they have");
  auto options = std::make_shared<CaseOptions>();
  auto showCases = std::make_shared<bool>(false);
  auto json = std::make_shared<std::string>();
  options->add(*command);
  command->add_flag("--ids", *showCases, "Print the ids of the cases instead");
  command->add_option("--json", *json, "Write the list as JSON");
  command->footer("Examples:\n  op-harness list\n  op-harness list --ids --op Softmax");
  command->callback([options, showCases, json, &context] {
    context.run = [options, showCases, json] { return list(*options, *showCases, *json); };
  });
}

void addDevicesCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("devices", "Backends of this build and the devices they find");
  auto json = std::make_shared<std::string>();
  command->add_option("--json", *json, "Write the list as JSON");
  command->footer("Example:\n  op-harness devices");
  command->callback([json, &context] { context.run = [json] { return devices(*json); }; });
}

}  // namespace opkit::harness
