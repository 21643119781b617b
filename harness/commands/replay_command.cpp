#include "harness/check/check.h"
#include "harness/check/shrink.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/model/model.h"
#include "harness/check/export_cpp.h"
#endif
#include "harness/commands/check_job.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

struct ReplayArguments {
  std::string capsule;
  BackendOptions backend;
  std::string exportPath;
};

/// Writes the capsule's first case as a standalone program.
Result<int> exportProgram(const ReplayArguments& options, const Capsule& capsule, const OpRegistry& registry) {
#ifdef OPKIT_HAS_VULKAN
  noteWork("exporting " + capsule.group.cases.front().id());
  OPKIT_ASSIGN(const auto runtime, createRuntime("vulkan", options.backend.runtimeOptions("vulkan")));
  const PreparedGroup prepared = prepareGroup({{capsule.group.cases.front()}}, registry);
  OPKIT_ASSIGN(const std::string text, exportCpp(prepared.cases.front(), registry, *runtime));
  OPKIT_TRY(writeFile(options.exportPath, {reinterpret_cast<const uint8_t*>(text.data()), text.size()})
                .withContext("--export-cpp"));
  fmt::print("{}: c++ -std=c++17 {} -lvulkan && ./a.out\n", options.exportPath, options.exportPath);
  return cli::kSuccess;
#else
  static_cast<void>(capsule), static_cast<void>(registry);
  return Status::unsupported("--export-cpp {}: this build has no Vulkan backend", options.exportPath);
#endif
}

/// Runs the capsule's group and prints the result. 1: it still fails; 0: it passes.
Result<int> replay(ReplayArguments options) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Capsule capsule, readCapsule(options.capsule, registry));
  if (options.backend.backends.empty()) options.backend.backends = {capsule.backend};
  if (options.backend.mask.empty() && std::ranges::count(options.backend.backends, "vulkan") > 0)
    options.backend.mask = capsule.mask;
  if (!options.exportPath.empty()) return exportProgram(options, capsule, registry);
  OPKIT_ASSIGN(const auto devices, describeDevices(options.backend));
  noteOldBuild();
  for (const DescribedDevice& device : devices) printDevice(device.info);
  fmt::print("capsule: {} failed on {}: {}\n", capsule.check, capsule.backend, capsule.reason);
  if (dataHashOf(capsule.group, registry) != capsule.dataHash)
    fmt::print("note: the data are not those of the capsule; it was made by another version (commit {})\n",
               capsule.commit);
  Catalogue catalogue;
  catalogue.groups.push_back(capsule.group);
  CheckJob job(registry, catalogue, options.backend);
  bool failed = false, executed = false;
  constexpr double kTimeoutSeconds = 120;
  OPKIT_TRY(runIsolated(
      1, 1, kTimeoutSeconds, [&](size_t) { return job.run({.group = 0}).toText(); },
      [&](size_t, const JobOutcome& outcome) {
        failed = outcome.kind != JobOutcome::Kind::Answered;
        if (failed) fmt::print("{}\n", lossText(outcome, kTimeoutSeconds));
        for (const JobReport& report : JobReports::fromText(outcome.answer).reports) {
          failed = failed || !report.block.empty();
          executed = executed || isExecuted(report.record.status);
          fmt::print("{}", report.block);
        }
      }));
  if (!failed && !executed) return nothingRan("no backend here runs the case");
  fmt::print("{}\n", failed ? "it still fails" : "it does not fail here");
  return failed ? cli::kCheckFailed : cli::kSuccess;
}

}  // namespace

void addReplayCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("replay", "Run a saved failure (.opcase) again");
  auto options = std::make_shared<ReplayArguments>();
  command->add_option("CAPSULE", options->capsule, "A file that `check --save` wrote")->required();
  options->backend.add(*command, "the capsule's");
  command
      ->add_option("--export-cpp", options->exportPath,
                   "Write the case as a C++ program that needs only Vulkan, to report a bug of a driver")
      ->check(cli::outputFile());
  command->footer("Example:\n  op-harness replay /tmp/failures/Relu-cpu-canary.opcase");
  command->callback([options, &context] { context.run = [options] { return replay(*options); }; });
}

}  // namespace opkit::harness
