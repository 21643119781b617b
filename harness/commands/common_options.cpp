#include "engine/model/model.h"
#include "harness/commands/commands.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif

namespace opkit::harness {

void BackendOptions::add(CLI::App& command, const std::string& defaultBackends) {
  command.add_option("--backend", backends, "Backends, separated by commas (default " + defaultBackends + ")")
      ->delimiter(',');
  command.add_option("--device", device, "Device by index, part of its name, or UUID");
  command
      .add_option_function<std::string>(
          "--validation", [this](const std::string& name) { validation = *parseValidation(name); },
          "Run under the Vulkan validation layers: core, sync or gpu; any message fails the run")
      ->check(CLI::IsMember({"off", "core", "sync", "gpu"}));
}

Result<std::vector<BackendLane>> openBackends(const BackendOptions& options) {
  std::vector<BackendLane> lanes;
  for (const std::string& name : options.backends) {
    // A device is chosen for the backend that has a choice.
    const std::string device = name == "vulkan" || options.backends.size() == 1 ? options.device : "";
    auto runtime = createRuntime(name, {device, options.validation});
    if (!runtime) return runtime.error().withContext("--backend " + name);
    lanes.push_back({name, *std::move(runtime)});
  }
  return lanes;
}

void CaseOptions::add(CLI::App& command) {
  command.add_option("--op", ops, "Only these operators, separated by commas")->delimiter(',');
  command.add_option("--filter", filter, "Only cases whose id or name contains this");
  command.add_option("--case", id, "Exactly this case, by its id");
  command.add_option("--cases", casesFile, "A case file instead of the built-in cases");
  command.add_option("--seed", seed, "Seed of the random data instead of the cases' own");
}

uint64_t validationMessages() {
#ifdef OPKIT_HAS_VULKAN
  return vulkan::validationMessageCount();
#else
  return 0;
#endif
}

Result<Catalogue> loadCases(const CaseOptions& options, const OpRegistry& registry) {
  CaseFilter filter{options.ops, options.filter, options.id, options.seed};
  if (options.casesFile.empty()) {
    OPKIT_ASSIGN(Catalogue catalogue, builtinCatalogue(registry));
    return applyFilter(std::move(catalogue), filter, registry);
  }
  OPKIT_ASSIGN(const auto bytes, readFile(options.casesFile));
  OPKIT_ASSIGN(Catalogue catalogue, parseCaseFile(options.casesFile, {bytes.begin(), bytes.end()}, registry));
  return applyFilter(std::move(catalogue), filter, registry);
}

}  // namespace opkit::harness
