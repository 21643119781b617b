#include "engine/model/model.h"
#include "harness/cases/fuzz.h"
#include "harness/commands/commands.h"
#include "harness/run/isolated_jobs.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr double kDeviceTimeoutSeconds = 60;

std::string describe(const std::string& backend, const RuntimeOptions& options) {
  auto runtime = createRuntime(backend, options);
  if (!runtime) return Json{{"error", runtime.error().message()}}.dump();
  const DeviceInfo& device = (*runtime)->device();
  return Json{{"backend", device.backend},
              {"name", device.name},
              {"driver", device.driver},
              {"uuid", device.uuid},
              {"software", device.software}}
      .dump();
}

}  // namespace

void BackendOptions::add(CLI::App& command, const std::string& defaultBackends) {
  command.add_option("--backend", backends, "Backends, separated by commas (default " + defaultBackends + ")")
      ->delimiter(',');
  command.add_option("--device", device, "Device by index, part of its name, or UUID");
  command
      .add_option_function<std::string>(
          "--validation", [this](const std::string& name) { validation = *parseValidation(name); },
          "Run under the Vulkan validation layers: core, sync or gpu; any message fails the run")
      ->check(CLI::IsMember({"off", "core", "sync", "gpu"}));
  command.add_option("--mask", mask,
                     "Pretend that the Vulkan device lacks things: no-fp16,subgroup=4,shared=16k,workgroup=128");
}

RuntimeOptions BackendOptions::runtimeOptions(const std::string& backend) const {
  RuntimeOptions options;
  if (backend == "vulkan" || backends.size() == 1) options.device = device;
  options.validation = validation;
  options.mask = mask;
  return options;
}

Result<std::vector<BackendLane>> openBackends(const BackendOptions& options) {
  std::vector<BackendLane> lanes;
  for (const std::string& name : options.backends) {
    const RuntimeOptions runtimeOptions = options.runtimeOptions(name);
    auto runtime = createRuntime(name, runtimeOptions);
    if (!runtime) return runtime.error().withContext("--backend " + name);
    lanes.push_back({name, *std::move(runtime), runtimeOptions});
  }
  return lanes;
}

Result<std::vector<DeviceInfo>> describeDevices(const BackendOptions& options) {
  std::vector<DeviceInfo> devices(options.backends.size());
  Status failure;
  OPKIT_TRY(runIsolated(
      devices.size(), 1, kDeviceTimeoutSeconds,
      [&](size_t i) { return describe(options.backends[i], options.runtimeOptions(options.backends[i])); },
      [&](size_t i, const JobOutcome& outcome) {
        const Json facts = Json::parse(outcome.answer, nullptr, false);
        if (outcome.kind != JobOutcome::Kind::Answered || !facts.is_object() || facts.contains("error")) {
          const std::string why = facts.is_object() ? facts.value("error", "") : "its driver ended the process";
          failure = Status::invalidArgument("--backend {}: {}", options.backends[i], why);
          return;
        }
        devices[i] = {facts.value("backend", ""), 0,
                      facts.value("name", ""),    facts.value("driver", ""),
                      facts.value("uuid", ""),    facts.value("software", false)};
      }));
  OPKIT_TRY(failure);
  return devices;
}

void printDevice(const DeviceInfo& device) {
  fmt::print("{}: {}{}\n", device.backend, device.name, device.software ? " (software device)" : "");
}

void CaseOptions::add(CLI::App& command) {
  command.add_option("--op", ops, "Only these operators, separated by commas")->delimiter(',');
  command.add_option("--filter", filter, "Only cases whose id or name contains this");
  command.add_option("--case", id, "Exactly this case, by its id");
  command.add_option("--cases", casesFile, "A case file instead of the built-in cases");
  command.add_option("--seed", seed, "Seed of the random data instead of the cases' own, and of --fuzz");
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
  Catalogue catalogue;
  if (options.casesFile.empty()) {
    OPKIT_ASSIGN(catalogue, builtinCatalogue(registry));
    OPKIT_TRY(appendPluginCases(catalogue, registry));
  } else {
    OPKIT_ASSIGN(const auto bytes, readFile(options.casesFile));
    OPKIT_ASSIGN(catalogue, parseCaseFile(options.casesFile, {bytes.begin(), bytes.end()}, registry));
  }
  OPKIT_ASSIGN(catalogue, applyFilter(std::move(catalogue), filter, registry));
  if (options.fuzz == 0) return catalogue;
  return fuzzCatalogue(catalogue, registry,
                       {options.ops, options.fuzz, options.seed.value_or(kDefaultSeed), options.filter});
}

}  // namespace opkit::harness
