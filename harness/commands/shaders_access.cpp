#include "harness/commands/shaders_access.h"

#include <filesystem>

#include "engine/base/child_process.h"
#include "engine/base/interrupt.h"
#include "engine/model/model.h"
#include "harness/cases/case_dtype.h"
#include "harness/cases/data.h"
#include "harness/probes/device_roof.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"
#include "harness/shaders/shader_workshop.h"
#include "harness/trace/case_access.h"
#include "harness/trace/glsl_tracer.h"
#include "harness/trace/sanitizer.h"

namespace opkit::harness {
namespace {

std::string bytesText(double bytes) {
  return bytes < 1e4 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.4g} MB", bytes / 1e6);
}

std::string siteText(const AccessSite& site) {
  constexpr const char* kKinds[] = {"load", "store", "atomic", "barrier", "return"};
  constexpr const char* kSpaces[] = {"buffer", "shared", "texel", "image", ""};
  const std::string place = site.space == AccessSite::Space::Shared ? "" : fmt::format(" {}", site.binding);
  const std::string line =
      site.line == 0 ? fmt::format("instruction {}", site.instruction) : fmt::format("{}:{}", site.file, site.line);
  return fmt::format("{} {}{}{}, {}", kKinds[static_cast<size_t>(site.kind)], kSpaces[static_cast<size_t>(site.space)],
                     place, site.name.empty() ? "" : " " + site.name, line);
}

/// A row per instruction.
void printSites(const DispatchProfile& one) {
  fmt::print("{}: {} groups of {}, {:.0f} barriers, requests {}, footprint {}, {:.3g} % of the groups traced\n",
             one.shader, one.groups, one.invocations, one.barriers, bytesText(one.all.requestBytes()),
             bytesText(one.footprintBytes), 100 * one.tracedShare);
  Table table({"access", "times", "lanes", "efficiency", "requests", "banks"});
  for (const SiteProfile& site : one.sites) {
    const AccessCounts& counts = site.counts;
    const bool shared = counts.phases > 0;
    table.add({siteText(*site.site), fmt::format("{:.0f}", counts.accesses),
               fmt::format("{:.2f}", counts.lanes / counts.accesses / one.width),
               shared ? "-" : fmt::format("{:.3f}", counts.efficiency()),
               shared ? "-" : bytesText(counts.requestBytes()),
               shared ? fmt::format("{:.3f}", counts.bankPasses()) : "-"});
  }
  fmt::print("{}\n", table.toString());
}

/// The lines of one run of the command.
class AccessRun {
 public:
  AccessRun(const AccessArguments& options, std::vector<const Gpu*> gpus, ResultFile& file)
      : options_(options), gpus_(std::move(gpus)), file_(file), workshop_(options.source) {
    std::vector<std::string> heading = {"case",  "dispatches", "efficiency", "requests",
                                        "ratio", "banks",      "lanes",      "groups"};
    for (const Gpu* gpu : gpus_) heading.push_back(fmt::format("{} estimate", gpu->name));
    heading.insert(heading.end(), {"limit", "of the roof", "note"});
    table_.emplace(heading);
  }

  /// The file for guesses, if one is wanted. InvalidArgument for a file that holds something else: it is not replaced.
  Status openGuesses() {
    if (options_.guesses.empty()) return Status::ok();
    guesses_.emplace(options_.guesses, vulkan::guessKey(**deviceClassNamed(gpus_[0]->deviceClass)), false);
    if (guesses_->size() == 0 && std::filesystem::exists(options_.guesses))
      return Status::invalidArgument(
          "--guesses: {} holds no guesses for the class {} and the shaders of this build; remove it or name another "
          "file",
          options_.guesses, gpus_[0]->deviceClass);
    return Status::ok();
  }

  /// Adds the guesses to their file.
  Status saveGuesses() {
    if (!guesses_) return Status::ok();
    OPKIT_TRY(guesses_->save().withContext("--guesses"));
    fmt::print("guesses of {} cases in {}, for devices of the class {}", guessed_, options_.guesses,
               gpus_[0]->deviceClass);
    if (severalChoices_ > 0) fmt::print("; {} cases with several choices give none", severalChoices_);
    fmt::print("\n");
    return Status::ok();
  }

  void trace(const Case& c, const OpRegistry& registry, const std::shared_ptr<vulkan::VulkanRuntime>& runtime) {
    CaseResult result = {.kind = "access", .id = c.id(), .name = c.name, .op = c.op};
    result.backend = "vulkan";
    result.device = runtime->device().name;
    result.software = runtime->device().software;
    result.dtype = dtypeOf(c, registry.find(c.op));
    result.repro = fmt::format("op-harness shaders --access --device-class {} --case {}", gpus_[0]->deviceClass,
                               shellQuoted(result.id));
    const auto access = profile(c, registry, runtime);
    if (!access) {
      result.status = access.error().code() == StatusCode::Unsupported ? CaseStatus::Unsupported : CaseStatus::Fail;
      result.reason = access.error().message();
    } else {
      result.access = access->sums;
      result.dispatches = access->dispatches.size();
      result.flops = access->flops;
      result.bytes = access->caseBytes;
      if (hasGoals()) checkAccess(*access, c, *gpus_[0], options_.goals, result);
      traceAlternatives(c, registry, runtime, *access, result);
      if (result.status == CaseStatus::Pass) result.note = c.uncoalesced;
    }
    print(result, access ? &*access : nullptr);
    printAlternatives();
    failed_ = failed_ || isFailure(result.status);
    file_.write(result);
  }

  int exitCode() const {
    fmt::print("{}", table_->toString());
    fmt::print("Counted from traces, for subgroups of {}; times are estimates for {}, not measurements.\n",
               gpus_[0]->subgroup, gpus_[0]->name);
    if (traced_ == 0) return nothingRan("no kernel of these cases was traced");
    return failed_ ? cli::kCheckFailed : cli::kSuccess;
  }

 private:
  /// The bounds of case files are for GPUs, not for a software device that describes itself.
  bool hasGoals() const { return std::string_view(gpus_[0]->deviceClass) != "software"; }

  void traceAlternatives(const Case& c, const OpRegistry& registry,
                         const std::shared_ptr<vulkan::VulkanRuntime>& runtime, const CaseAccess& standard,
                         CaseResult& result) {
    alternatives_.clear();
    if (!options_.alternatives) return;
    auto inputs = makeInputs(c, *registry.find(c.op));
    auto traced = inputs ? alternativesOf(c, *inputs, registry, runtime, gpus_) : inputs.error();
    if (!traced) return result.check("alternatives", traced.error());
    alternatives_ = std::move(traced->all);
    guess(traced->choices);
    if (options_.goals) checkBest(standard, alternatives_, result);
  }

  /// Estimates of a case that offers several choices do not tell them apart: it gives no guess.
  void guess(const std::map<std::string, vulkan::OfferedChoice>& choices) {
    if (!guesses_ || alternatives_.size() < 2) return;
    if (choices.size() != 1) {
      ++severalChoices_;
      return;
    }
    const auto& [name, choice] = *choices.begin();
    guesses_->put(name, guessOf(choice, alternatives_));
    ++guessed_;
  }

  /// A row per alternative, if there is a choice.
  void printAlternatives() {
    if (alternatives_.size() < 2) return;
    const size_t best = bestOf(alternatives_);
    for (size_t i = 0; i < alternatives_.size(); ++i) {
      CaseResult row;
      row.id = fmt::format("  alternative {} of {}", i, alternatives_.size());
      const auto& dispatches = alternatives_[i].dispatches;
      const auto requests = [](const DispatchProfile& one) { return one.all.requestBytes(); };
      row.note = fmt::format("groups of {}", std::ranges::max_element(dispatches, {}, requests)->invocations);
      if (i == best) row.note += "; the tuner's first guess";
      addRow(row, alternatives_[i]);
    }
  }

  Result<CaseAccess> profile(const Case& c, const OpRegistry& registry,
                             const std::shared_ptr<vulkan::VulkanRuntime>& runtime) {
    OPKIT_ASSIGN(const HostInputs inputs, makeInputs(c, *registry.find(c.op)));
    TraceOptions options;
    if (options_.sites) options.source = [this](const vulkan::ShaderCode& code) { return withLines(code); };
    OPKIT_ASSIGN(trace_, traceCase(c, inputs, registry, runtime, options));
    if (trace_.dispatches.empty()) return Status::unsupported("it dispatches no shader");
    ++traced_;
    return accessOf(trace_, inputs, gpus_);
  }

  /// The shader with debug information, if the source tree has it.
  std::span<const uint32_t> withLines(const vulkan::ShaderCode& code) {
    const auto made = workshop_.compile(code.name, shader_build::DebugInfo::Keep);
    return made ? *made : std::span<const uint32_t>();
  }

  void print(const CaseResult& result, const CaseAccess* access) {
    if (!access) {
      std::vector<std::string> cells(8 + gpus_.size() + 3, "-");
      cells.front() = result.id;
      cells.back() = result.reason;
      table_->add(cells);
      return;
    }
    addRow(result, *access);
    if (!options_.sites) return;
    for (const DispatchProfile& one : access->dispatches) printSites(one);
  }

  void addRow(const CaseResult& result, const CaseAccess& access) {
    const reports::AccessRecord& sums = access.sums;
    std::vector<std::string> cells = {result.id,
                                      std::to_string(access.dispatches.size()),
                                      fmt::format("{:.3f}", sums.efficiency),
                                      bytesText(sums.requestBytes),
                                      fmt::format("{:.3f}", sums.requests),
                                      fmt::format("{:.3f}", sums.bankPasses),
                                      fmt::format("{:.2f}", sums.lanes),
                                      std::to_string(sums.groups)};
    for (const auto& [gpu, estimate] : access.estimates) cells.push_back(cli::formatNs(estimate.seconds * 1e9));
    const Estimate& first = access.estimates.front().second;
    cells.push_back(nameOf(first.limit()));
    cells.push_back(fmt::format("{:.0f} %", 100 * first.roofShare()));
    cells.push_back(result.status == CaseStatus::Pass ? notesOf(access, result.note) : result.reason);
    table_->add(cells);
  }

  static std::string notesOf(const CaseAccess& access, const std::string& reason) {
    std::string notes = reason;
    const auto add = [&notes](const std::string& text) { notes += (notes.empty() ? "" : "; ") + text; };
    bool subgroups = false, images = false;
    size_t unknown = 0;
    for (const DispatchProfile& one : access.dispatches) {
      subgroups = subgroups || one.usesSubgroups;
      unknown += one.unknown;
      if (!one.refusal.empty()) add(one.refusal);
      for (const SiteProfile& site : one.sites) images = images || site.counts.imageTexels > 0;
    }
    if (!access.sums.exact) add("sampled");
    if (subgroups) add("subgroup operations at the device's width");
    if (images) add("images are left out: their layout is unknown");
    if (unknown > 0) add(fmt::format("{} accesses could not be followed", unknown));
    return notes;
  }

  const AccessArguments& options_;
  std::optional<TuningCache> guesses_;
  size_t guessed_ = 0, severalChoices_ = 0;  // cases
  std::vector<const Gpu*> gpus_;
  ResultFile& file_;
  ShaderWorkshop workshop_;
  CaseTrace trace_;
  std::optional<Table> table_;
  std::vector<CaseAccess> alternatives_;  // of the last case
  size_t traced_ = 0;
  bool failed_ = false;
};

constexpr const char* kMeasured = "measured";

/// The device of the run, described by what plain shaders reach on it.
Result<Gpu> measuredGpu(vulkan::VulkanRuntime& runtime) {
  OPKIT_ASSIGN(const DeviceRoof roof, probeDeviceRoof(runtime));
  OPKIT_TRY(roof.clockStatus());
  const auto& physical = runtime.vulkanDevice()->physical();
  return Gpu{.name = kMeasured,
             .bandwidth = roof.peaks.bytesPerNs() * 1e9,
             .cacheBandwidth = roof.cacheBytesPerNs() * 1e9,
             .flops = roof.peaks.flopsPerNs * 1e9,
             .cacheBytes = roof.cacheBytes(),
             .units = 1,  // unknown: too few groups are not seen
             .subgroup = physical.subgroupSize,
             .deviceClass = runtime.deviceClass().name,
             .launchSeconds = roof.launchNs * 1e-9,
             .source = "plain shaders on this device"};
}

/// The described GPUs of these names. `measured` is filled once the device is open.
Result<std::vector<const Gpu*>> gpusOf(const std::vector<std::string>& names, const Gpu& measured) {
  std::vector<const Gpu*> found;
  for (const std::string& name : names) {
    found.push_back(&measured);
    if (name == kMeasured) continue;
    OPKIT_ASSIGN(found.back(), gpuNamed(name));
  }
  return found;
}

}  // namespace

void AccessArguments::add(CLI::App& command) {
  CLI::Option* flag =
      command.add_flag("--access", wanted, "Trace the sized entries and print how their kernels use a GPU's memory");
  command.add_option("--size", size, "With --access: trace entries of this size")
      ->capture_default_str()
      ->check(CLI::IsMember({"typical", "large", "all"}))
      ->needs(flag);
  command
      .add_option(
          "--gpu", gpus,
          "With --access: estimate times for these described GPUs, or for the device itself (`measured`, by what "
          "plain shaders reach on it); the first decides which kernels run")
      ->delimiter(',')
      ->needs(flag);
  CLI::Option* file =
      command.add_option("--glsl", glsl, "With --access: trace one dispatch of this compute shader")->needs(flag);
  command.add_option("--buffers", buffers, "With --glsl: bind buffers of these sizes in bytes, such as 16384,16384")
      ->delimiter(',')
      ->check(cli::wholeNumber(1, 1u << 30))
      ->needs(file);
  command
      .add_option("--groups", groups, "With --glsl: dispatch this many work groups along x, y and z, such as 64 or 8,8")
      ->delimiter(',')
      ->check(cli::wholeNumber(1, 65535))
      ->expected(1, 3)
      ->needs(file);
  command.add_flag("--goals", goals, "With --access: fail beyond efficiency 0.9, requests 1.1 or bank passes 1.1")
      ->needs(flag);
  addShard(command, shard, "the cases of --access");
  CLI::Option* choice = command
                            .add_flag("--alternatives", alternatives,
                                      "With --access: print a row per alternative of the tuner; with --goals, fail if "
                                      "the estimate of the standard one exceeds the best by more than a tenth")
                            ->needs(flag);
  command
      .add_option("--guesses", guesses,
                  "With --alternatives: write the choices with the least estimates to this file, for --tuning-guesses")
      ->check(cli::outputFile())
      ->needs(choice);
  command
      .add_flag("--sites", sites,
                "With --access: print a row per instruction that reads or writes, with its source line")
      ->needs(flag);
  command.add_option("--source", source, "With --sites: read shaders/ of this source tree")
      ->check(cli::existingFolder())
      ->capture_default_str()
      ->needs(flag);
}

Result<int> shadersAccess(AccessArguments access, BackendOptions backend, const CaseOptions& cases,
                          const std::string& json, const std::string& commandLine) {
  if (access.gpus.empty() && gpuNamed(backend.device)) access.gpus = {std::exchange(backend.device, "")};
  if (access.gpus.empty()) access.gpus = {gpus()[0].name};
  Gpu measured{};
  OPKIT_ASSIGN(const std::vector<const Gpu*> described, gpusOf(access.gpus, measured));
  access.sites = access.sites || !cases.id.empty();
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(cases, registry));
  std::vector<Case> chosen = sizedCases(catalogue, access.size, cases);
  if (chosen.empty()) return nothingRan("no entry has this size; --case ID traces any case");
  access.shard.keepMine(chosen);
  RuntimeOptions options = backend.runtimeOptions("vulkan");
  if (!std::getenv("OPKIT_DEVICE_CLASS") && described[0] != &measured) options.deviceClass = described[0]->deviceClass;
  noteWork("making the Runtime of vulkan");
  OPKIT_ASSIGN(const auto opened, createRuntime("vulkan", options));
  const auto runtime = vulkan::asVulkan(opened);
  if (std::ranges::find(described, &measured) != described.end()) {
    OPKIT_ASSIGN(measured, measuredGpu(*runtime));
  }
  const GracefulInterrupt graceful;
  const RunPlan planned = {{"vulkan", chosen.size()}};
  ResultFile file;
  AccessRun run(access, described, file);
  OPKIT_TRY(run.openGuesses());
  OPKIT_TRY(file.open(json, commandLine, cases.seed.value_or(kDefaultSeed), planned));
  noteOldBuild();
  printDevice(runtime->device());
  file.write(runtime->device());
  Progress progress(chosen.size());
  size_t done = 0;
  for (const Case& c : chosen) {
    if (interrupted()) break;
    progress.step(c.op);
    noteWork(c.id() + " on vulkan");
    run.trace(c, registry, runtime);
    OPKIT_TRY(file.status());
    ++done;
  }
  progress.clear();
  const int code = run.exitCode();
  OPKIT_TRY(run.saveGuesses());
  OPKIT_TRY(file.close());
  if (!interrupted()) return code;
  printInterrupted(done, planned, "cases", json);
  return cli::kCheckFailed;
}

Result<int> glslAccess(const AccessArguments& access, const BackendOptions& backend) {
  OPKIT_ASSIGN(const Gpu* gpu, gpuNamed(access.gpus.empty() ? gpus()[0].name : access.gpus[0]));
  OPKIT_ASSIGN(const auto text, readFile(access.glsl));
  noteWork("making the Runtime of vulkan");
  OPKIT_ASSIGN(const auto opened, createRuntime("vulkan", backend.runtimeOptions("vulkan")));
  OPKIT_ASSIGN(const auto tracer, GlslTracer::create(vulkan::asVulkan(opened)));
  vulkan::Groups groups;
  uint32_t* const axes[] = {&groups.x, &groups.y, &groups.z};
  for (size_t i = 0; i < access.groups.size(); ++i) *axes[i] = access.groups[i];
  OPKIT_ASSIGN(const DispatchTrace trace,
               tracer->run({access.glsl, {text.begin(), text.end()}, access.buffers, groups}));
  const DispatchProfile profile = profileOf(trace, gpu->subgroup);
  printSites(profile);
  const Estimate estimate = estimateOf(profile, 0, *gpu);
  fmt::print("efficiency {:.3f}, requests {:.3g} x the buffers, bank passes {:.3g}; {} estimate {}, limit {}\n",
             profile.all.efficiency(), profile.all.requestBytes() / std::max(profile.tensorBytes, 1.0),
             profile.shared.bankPasses(), gpu->name, cli::formatNs(estimate.seconds * 1e9), nameOf(estimate.limit()));
  const auto faults = sanitize({trace}, tracer->inputs(), {true, true, true});
  if (!faults) fmt::print("sanitizer: {}\n", faults.error().message());
  for (const ShaderFault& fault : faults ? *faults : std::vector<ShaderFault>())
    fmt::print("{}: {}\n", fault.kind, fault.text);
  if (profile.sites.empty()) return nothingRan("the shader accesses no memory");
  return faults && !faults->empty() ? cli::kCheckFailed : cli::kSuccess;
}

}  // namespace opkit::harness
