#include "engine/backend/cpu/simd_target.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/cases/fuzz.h"
#include "harness/cases/reach_catalogue.h"
#include "harness/check/variants.h"
#include "harness/commands/commands.h"
#include "harness/run/build_facts.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/source_table.h"
#include "harness/run/worker_note.h"
#include "ops/builtin_ops.h"
#ifdef OPKIT_HAS_VULKAN
#include "harness/probes/device_profile.h"
#ifdef OPKIT_HAS_VULKAN
#include "harness/trace/sanitizer.h"
#endif
#endif

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr double kDeviceTimeoutSeconds = 60;

std::string describe(const std::string& backend, const RuntimeOptions& options) {
  auto runtime = createRuntime(backend, options);
  if (!runtime) return Json{{"error", runtime.error().message()}}.dump();
  const DeviceInfo& device = (*runtime)->device();
  Json facts = {{"backend", device.backend}, {"name", device.name},         {"driver", device.driver},
                {"uuid", device.uuid},       {"software", device.software}, {"lacks", lackOf(**runtime)}};
#ifdef OPKIT_HAS_VULKAN
  if (backend == "vulkan")
    if (const auto profile = measureProfile(**runtime)) {
      facts["profile"] = profile->toJson();
      facts["profileText"] = profile->toText();
    }
#endif
  return facts.dump();
}

#ifdef OPKIT_HAS_VULKAN
/// Accesses are traced in shaders that are compiled from the source tree, with line numbers.
Status checkSanitize(const std::string& sanitize) {
  const auto parts = SanitizerParts::parse(sanitize);
  OPKIT_TRY(parts.error().withContext("--sanitize"));
  if (!parts->watchesAccesses()) return Status::ok();
  std::vector<std::string> changed = changedSources(builtSources(), sourceFolder());
  std::erase_if(changed, [](const std::string& path) { return !path.starts_with("shaders/"); });
  if (changed.empty()) return Status::ok();
  return Status::invalidArgument(
      "--sanitize traces the shaders in {}, and this program was built of another {}; build it again", sourceFolder(),
      listOf(changed));
}
#endif

}  // namespace

void BackendOptions::add(CLI::App& command, const std::string& defaultBackends) {
  command
      .add_option("--backend", backends, "Run on these backends, separated by commas (default " + defaultBackends + ")")
      ->delimiter(',');
  command.add_option("--device", device, "Use the device with this index, part of a name, or UUID");
  command
      .add_option_function<std::string>(
          "--validation", [this](const std::string& name) { validation = *parseValidation(name); },
          "Run under the Vulkan validation layers: core, sync or gpu; any message fails the run")
      ->check(CLI::IsMember({"off", "core", "sync", "gpu"}));
  command.add_option(
      "--mask", mask,
      "Hide features of the Vulkan device and lower its limits: no-fp16,subgroup=4,shared=16k,workgroup=128");
  command.add_option_function<std::string>(
      "--simd",
      [this](const std::string& name) {
        const Status limited = cpu::limitSimd(name);
        if (!limited.isOk()) throw CLI::ValidationError("--simd", limited.message());
        simd = name;
      },
      "Use no better instruction set of the CPU than this: AVX2, SSE4, ...");
}

Status BackendOptions::check() const {
  const auto asked = [this](const char* name) { return std::ranges::count(backends, name) > 0; };
  const std::string all = fmt::format("{}", fmt::join(backends, ","));
  if (!mask.empty() && !asked("vulkan"))
    return Status::invalidArgument("--mask is for the backend vulkan, got --backend {}", all);
  if (validation != Validation::Off && !asked("vulkan"))
    return Status::invalidArgument("--validation is for the backend vulkan, got --backend {}", all);
  if (!sanitize.empty() && !asked("vulkan"))
    return Status::invalidArgument("--sanitize is for the backend vulkan, got --backend {}", all);
  if (!device.empty() && !asked("vulkan") && backends.size() > 1)
    return Status::invalidArgument("--device is for one backend or for vulkan, got --backend {}", all);
#ifdef OPKIT_HAS_VULKAN
  if (!sanitize.empty()) return checkSanitize(sanitize);
#endif
  return Status::ok();
}

RuntimeOptions BackendOptions::runtimeOptions(const std::string& backend) const {
  RuntimeOptions options;
  if (backend == "vulkan" || backends.size() == 1) options.device = device;
  if (backend == "vulkan") {
    options.validation = validation;
    options.mask = mask;
  }
  return options;
}

Result<std::vector<BackendLane>> openBackends(const BackendOptions& options) {
  OPKIT_TRY(options.check());
  std::vector<BackendLane> lanes;
  for (const std::string& name : options.backends) {
    const RuntimeOptions runtimeOptions = options.runtimeOptions(name);
    noteWork("making the Runtime of " + name);
    auto runtime = createRuntime(name, runtimeOptions);
    if (!runtime) return runtime.error().withContext("--backend " + name);
    lanes.push_back({name, *std::move(runtime), runtimeOptions});
  }
  noteWork("");
  return lanes;
}

Result<DescribedDevice> describeDevice(const std::string& backend, const RuntimeOptions& options) {
  Json facts = {{"error", "interrupted"}};
  OPKIT_TRY(runIsolated(
      1, 1, kDeviceTimeoutSeconds, [&](size_t) { return describe(backend, options); },
      [&](size_t, const JobOutcome& outcome) {
        facts = parseJson(outcome.answer);
        if (outcome.kind != JobOutcome::Kind::Answered || !facts.is_object())
          facts = {{"error", lossText(outcome, kDeviceTimeoutSeconds)}};
      }));
  if (facts.contains("error"))
    return Status::invalidArgument("--backend {}: {}{}", backend, facts.value("error", ""),
                                   backend == "vulkan" ? "; --backend cpu runs without it" : "");
  const DeviceInfo info = {facts.value("backend", ""), 0,
                           facts.value("name", ""),    facts.value("driver", ""),
                           facts.value("uuid", ""),    facts.value("software", false)};
  return DescribedDevice{info, facts.contains("profile") ? facts["profile"].dump() : "", facts.value("profileText", ""),
                         facts.value("lacks", "")};
}

Result<std::vector<DescribedDevice>> describeDevices(const BackendOptions& options) {
  OPKIT_TRY(options.check());
  std::vector<DescribedDevice> devices;
  for (const std::string& backend : options.backends) {
    OPKIT_ASSIGN(DescribedDevice device, describeDevice(backend, options.runtimeOptions(backend)));
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<Case> sizedCases(const Catalogue& catalogue, const std::string& size, const CaseOptions& options) {
  const bool one = !options.id.empty(), any = one || (!options.casesFile.empty() && catalogue.sized.empty());
  std::vector<Case> chosen;
  for (const std::vector<CaseGroup>* groups : {&catalogue.sized, &catalogue.groups}) {
    for (const CaseGroup& group : *groups)
      for (const Case& c : group.cases)
        if (any || (!c.size.empty() && (size == "all" || c.size == size))) chosen.push_back(c);
    if (one && !chosen.empty()) return {chosen.front()};
  }
  return chosen;
}

int nothingRan(const std::string& why) {
  std::fflush(stdout);
  fmt::print(stderr, "op-harness: nothing was executed: {}\n", why);
  return cli::kNothingRan;
}

bool noteOldBuild() { return noteOldBuild("op-harness"); }

void notePartialBuild() {
  if (*kBuildFacts.operators)
    fmt::print(stderr, "partial build for {}: {} of {} operators\n", kBuildFacts.operators,
               ops::builtinOps().all().size(), kBuildFacts.allOperators);
}

void printDevice(const DeviceInfo& device) {
  fmt::print("{}: {}{}\n", device.backend, device.name, device.software ? " (software device)" : "");
}

void printInterrupted(size_t done, const RunPlan& planned, const char* what, const std::string& json) {
  size_t all = 0;
  for (const auto& [backend, count] : planned) all += count;
  fmt::print("interrupted: {} of {} {} were done; their results are above{}\n", done, all, what,
             json.empty() ? "" : " and in " + json);
}

void CaseOptions::add(CLI::App& command) {
  command.add_option("--op", ops, "Take only these operators, separated by commas")->delimiter(',');
  command.add_option("--filter", filter, "Take only cases with this text in their id or name");
  command.add_option("--case", id, "Take only the case with this id");
  command.add_option("--cases", casesFile, "Read the cases from this file, not the built-in ones");
  command.add_option("--seed", seed, "Draw random data from this seed, not from the cases' own; also seeds --fuzz");
}

void GivenOption::appendTo(std::vector<std::string>& words) const {
  if (values.empty()) words.push_back(name);
  for (const std::string& value : values) words.push_back(name + "=" + value);
}

std::vector<GivenOption> givenOptions(const CLI::App& command) {
  std::vector<GivenOption> given;
  for (const CLI::App* app : {command.get_parent(), &command})
    for (const CLI::Option* option : app->get_options())
      if (option->count() > 0 && !option->get_lnames().empty())
        given.push_back({"--" + option->get_lnames().front(),
                         option->get_expected_max() == 0 ? std::vector<std::string>() : option->results()});
  return given;
}

void addShard(CLI::App& command, Shard& shard, const std::string& what) {
  command.add_option_function<std::string>(
      "--shard",
      [&shard](const std::string& text) {
        const Result<Shard> parsed = Shard::parse(text);
        if (!parsed) throw CLI::ValidationError(parsed.error().message());
        shard = *parsed;
      },
      "Run the I-th of N equal parts of " + what + " (I/N)");
}

Result<Catalogue> loadCases(const CaseOptions& options, const OpRegistry& registry) {
  CaseFilter filter{options.ops, options.filter, options.id, options.seed};
  Catalogue catalogue;
  if (options.casesFile.empty()) {
    const Result<Case> wanted = parseCaseId(options.id);  // an error is told by applyFilter
    OPKIT_ASSIGN(catalogue, builtinCatalogue(registry, wanted ? std::vector{wanted->op} : options.ops));
    OPKIT_TRY(appendPluginCases(catalogue, registry));
  } else {
    OPKIT_ASSIGN(const auto bytes, readFile(options.casesFile));
    OPKIT_ASSIGN(catalogue, parseCaseFile(options.casesFile, {bytes.begin(), bytes.end()}, registry));
  }
  const Catalogue written = options.fuzz ? catalogue : Catalogue{};
  if (options.reach && options.casesFile.empty() && options.id.empty()) {
    const ReachOptions reach{.filter = options.filter, .ofDay = options.drawsOfDay, .progress = options.drawProgress};
    OPKIT_ASSIGN(catalogue, reachCatalogue(std::move(catalogue), registry, options.ops, kDefaultSeed, reach));
  }
  OPKIT_ASSIGN(catalogue, applyFilter(std::move(catalogue), filter, registry));
  if (options.fuzz == 0) return catalogue;
  return fuzzCatalogue(std::move(catalogue), written, registry,
                       {options.ops, options.fuzz, options.seed.value_or(kDefaultSeed), options.filter});
}

}  // namespace opkit::harness
