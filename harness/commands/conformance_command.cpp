#include <nlohmann/json.hpp>
#include <thread>

#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "engine/base/printable.h"
#include "harness/check/check.h"
#include "harness/commands/check_rerun.h"
#include "harness/commands/expectation_options.h"
#include "harness/conformance/conformance.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"
#include "reports/results/record_json.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

struct ConformanceArguments {
  std::vector<std::string> directories;
  BackendOptions backend;
  ExpectationOptions expectations;
  std::string filter;
  std::string json;
  Shard shard;
  double timeoutSeconds = 300;
  size_t workers = std::max(1u, std::thread::hardware_concurrency());
  bool verbose = false;
};

// Failing models that run again, unless their failures are written as expectations.
constexpr size_t kMostReruns = 50;

/// Runs in a worker, which opens the device at its first case.
std::string runJob(const ConformanceFolder& folder, ConformanceSetup& setup, const BackendOptions& backend) {
  if (!setup.runtime) {
    auto runtime = createRuntime(setup.backend, backend.runtimeOptions(setup.backend));
    if (!runtime) return Json{{"status", "fail"}, {"reason", runtime.error().message()}}.dump();
    setup.runtime = *std::move(runtime);
    setup.shaders = ShaderLog::attach(*setup.runtime);
  }
  const uint64_t messages = validationMessages();
  CaseResult result = runConformance(folder, setup);
  if (validationMessages() > messages) {
    result.status = CaseStatus::Fail;
    result.reason = fmt::format("{} messages of the Vulkan validation layers", validationMessages() - messages);
  }
  return toJson(toRecord(result)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The expectation files of a run, and what its lanes share of them.
struct ConformanceExpectations {
  Expectations known;
  std::optional<ExpectationWriter> writer;
  size_t reruns = 0;
};

class ConformanceLane {
 public:
  ConformanceLane(const ConformanceArguments& options, std::string backend, ConformanceExpectations& expectations,
                  ResultFile& file)
      : options_(options), backend_(std::move(backend)), expectations_(expectations), file_(file) {}

  Status run(std::vector<ConformanceFolder> folders) {
    const bool isReference = backend_ == "reference";
    const OpRegistry registry = isReference ? withOraclesAlone(plugins().registry()) : plugins().registry();
    ConformanceSetup setup{&registry, &plugins().onnxRules(), backend_, nullptr, nullptr, options_.directories.empty()};
    Progress progress(folders.size());
    std::erase_if(folders, [&](const ConformanceFolder& folder) { return recordSkipped(folder, progress); });
    const IsolationLimits limits{.workers = options_.workers,
                                 .timeoutSeconds = options_.timeoutSeconds,
                                 .stop = [this] { return !file_.status().isOk(); }};
    OPKIT_TRY(runIsolated(
        folders.size(), limits, [&](size_t i) { return runJob(folders[i], setup, options_.backend); },
        [&](size_t i, const JobOutcome& outcome) {
          CaseRecord one = recordOf(folders[i], outcome);
          expectations_.known.judge(one);
          if (isFailure(one.status) && one.status != CaseStatus::Unexpected) runAgain(folders[i], setup, one);
          record(folders[i], one, progress);
          progress.step(folders[i].id);
        }));
    progress.clear();
    printSummary();
    return file_.status();
  }

  bool failed() const { return failures_ > 0; }
  size_t executed() const { return executed_; }
  size_t recorded() const { return recorded_; }

 private:
  CaseRecord recordOf(const ConformanceFolder& folder, const JobOutcome& outcome) const {
    CaseRecord one;
    one.status = CaseStatus::Fail;
    if (outcome.kind == JobOutcome::Kind::Answered) one = reports::caseFromJson(parseJson(outcome.answer));
    one.kind = "conformance";
    one.id = folder.id;
    one.backend = backend_;
    if (outcome.kind != JobOutcome::Kind::Answered) {
      one.status = outcome.kind == JobOutcome::Kind::Crashed ? CaseStatus::Crash : CaseStatus::Hang;
      one.reason = lossText(outcome, options_.timeoutSeconds);
    }
    return one;
  }

  /// True for a model that an expectation file leaves out.
  bool recordSkipped(const ConformanceFolder& folder, Progress& progress) {
    const Expectation* const line = expectations_.known.skipOf("conformance", folder.id, backend_);
    if (!line) return false;
    CaseRecord one;
    one.kind = "conformance", one.id = folder.id, one.backend = backend_;
    one.status = CaseStatus::Skip;
    one.reason = fmt::format("{}: {}", line->where(), line->reason);
    expectations_.known.judge(one);
    record(folder, one, progress);
    progress.step(folder.id);
    return true;
  }

  /// Notes what a failed model gives in a fresh worker.
  void runAgain(const ConformanceFolder& folder, ConformanceSetup& setup, CaseRecord& one) {
    if (interrupted() || (!expectations_.writer && ++expectations_.reruns > kMostReruns)) return;
    static_cast<void>(runIsolated(
        1, 1, options_.timeoutSeconds, [&](size_t) { return runJob(folder, setup, options_.backend); },
        [&](size_t, const JobOutcome& outcome) { one.rerun = recordOf(folder, outcome).status; }));
  }

  void record(const ConformanceFolder& folder, const CaseRecord& one, Progress& progress) {
    file_.write(one);
    if (expectations_.writer) expectations_.writer->add(one);
    count(folder, one, progress);
  }

  void count(const ConformanceFolder& folder, const CaseRecord& one, Progress& progress) {
    ++suites_[folder.id.substr(0, folder.id.find('/'))][one.status];
    ++total_[one.status];
    failures_ += isFailure(one.status);
    executed_ += isExecuted(one.status);
    ++recorded_;
    if (one.status == CaseStatus::Unsupported) ++reasons_[one.reason];
    for (const reports::FallbackRecord& note : one.fallbacks) ++fallbacks_[note.op];
    notes_ += !one.note.empty();
    if (!isFailure(one.status) && !options_.verbose) return;
    progress.clear();
    fmt::print("{} {} on {}: {}\n{}", coloured(one.status, nameOf(one.status)), printable(folder.path), backend_,
               printable(one.reason), one.rerun ? rerunText(*one.rerun) : "");
  }

  void printSummary() const {
    if (!reasons_.empty()) {
      fmt::print("\nunsupported on {}, by reason:\n", backend_);
      std::vector<std::pair<size_t, std::string>> sorted;
      for (const auto& [reason, number] : reasons_) sorted.emplace_back(number, reason);
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      for (const auto& [number, reason] : sorted) fmt::print("{:6}  {}\n", number, printable(reason));
    }
    if (!fallbacks_.empty()) {
      fmt::print("\nfallbacks from {}, nodes by operator:\n", backend_);
      for (const auto& [op, number] : fallbacks_) fmt::print("{:6}  {}\n", number, printable(op));
    }
    fmt::print("\n");
    Table table({"suite", "backend", "models", "pass", "fail", "unsupported", "skip", "unproved"});
    for (const auto& [suite, counts] : suites_) addRow(table, suite, counts);
    addRow(table, "all", total_);
    fmt::print("{}", table.toString());
    if (notes_ > 0)
      fmt::print("{} of these expect outputs of equal elements: they show that a network runs, not that it computes\n",
                 notes_);
  }

  /// The numbers after the models add up to them.
  void addRow(Table& table, const std::string& suite, const std::map<CaseStatus, size_t>& counts) const {
    size_t models = 0, failed = 0, expected = 0;
    for (const auto& [status, number] : counts) {
      models += number;
      failed += isFailure(status) ? number : 0;
      expected += status == CaseStatus::Expected || status == CaseStatus::Flake ? number : 0;
    }
    const auto count = [&](CaseStatus status) {
      const auto found = counts.find(status);
      return std::to_string(found == counts.end() ? 0 : found->second);
    };
    table.add({suite, backend_, std::to_string(models), count(CaseStatus::Pass),
               std::to_string(failed) + (expected ? fmt::format(" + {} expected", expected) : ""),
               count(CaseStatus::Unsupported), count(CaseStatus::Skip), count(CaseStatus::Unproved)});
  }

  const ConformanceArguments& options_;
  std::string backend_;
  ConformanceExpectations& expectations_;
  ResultFile& file_;
  std::map<std::string, std::map<CaseStatus, size_t>> suites_;
  std::map<CaseStatus, size_t> total_;
  std::map<std::string, size_t> reasons_;
  std::map<std::string, size_t> fallbacks_;
  size_t failures_ = 0;
  size_t executed_ = 0;
  size_t recorded_ = 0;
  size_t notes_ = 0;
};

Result<std::vector<ConformanceFolder>> chosenFolders(const ConformanceArguments& options) {
  std::vector<std::string> directories = options.directories;
  if (directories.empty()) {
    OPKIT_ASSIGN(directories.emplace_back(), packagedTestData());
  }
  OPKIT_ASSIGN(auto folders, findConformanceFolders(directories));
  std::erase_if(folders,
                [&](const ConformanceFolder& folder) { return folder.id.find(options.filter) == std::string::npos; });
  options.shard.keepMine(folders);
  return folders;
}

Result<int> conformance(const ConformanceArguments& options, const std::string& commandLine) {
  OPKIT_ASSIGN(const auto folders, chosenFolders(options));
  const GracefulInterrupt graceful;
  RunPlan planned;
  for (const std::string& backend : options.backend.backends) planned[backend] = folders.size();
  ResultFile file;
  OPKIT_ASSIGN(const auto devices, describeDevices(options.backend));
  ConformanceExpectations expectations;
  OPKIT_ASSIGN(expectations.known, options.expectations.read(devices));
  OPKIT_ASSIGN(expectations.writer, options.expectations.openWriter(devices));
  OPKIT_TRY(file.open(options.json, commandLine, 0, planned));
  file.summary().part = options.shard.toString();
  noteOldBuild();
  for (const DescribedDevice& device : devices) {
    printDevice(device.info);
    file.write(device.info, device.profile);
  }
  for (const std::string& note : expectations.known.notes()) fmt::print("{}\n", note);
  bool failed = false;
  size_t executed = 0, recorded = 0;
  for (const std::string& backend : options.backend.backends) {
    if (interrupted()) break;
    ConformanceLane lane(options, backend, expectations, file);
    OPKIT_TRY(lane.run(folders));
    failed = failed || lane.failed();
    executed += lane.executed();
    recorded += lane.recorded();
  }
  OPKIT_TRY(file.close());
  if (interrupted()) {
    printInterrupted(recorded, planned, "models", options.json);
    return cli::kCheckFailed;
  }
  for (const std::string& text : expectations.known.unexpectedPasses()) fmt::print("{}\n", text);
  if (expectations.writer) OPKIT_TRY(printWritten(*expectations.writer));
  if (executed == 0) return nothingRan(fmt::format("none of {} models was", folders.size()));
  return failed ? cli::kCheckFailed : cli::kSuccess;
}

}  // namespace

void addConformanceCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("conformance", "Run ONNX backend tests: folders with model.onnx and data");
  auto options = std::make_shared<ConformanceArguments>();
  options->backend.backends = {"cpu"};
  options->backend.add(*command, "cpu");
  command
      ->add_option("directories,--data", options->directories,
                   "Search these folders for tests at any depth (default: the package libonnx-testdata)")
      ->check(cli::existingFolder());
  command->add_option("--filter", options->filter, "Run only tests with this text in the path of their folder");
  options->expectations.add(*command);
  command->add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)")
      ->check(cli::appendedFile());
  addShard(*command, options->shard, "the models");
  command
      ->add_option("--timeout", options->timeoutSeconds,
                   "Fail a model after this many seconds, without waiting for busy cores")
      ->check(cli::seconds())
      ->capture_default_str();
  command->add_option("--workers", options->workers, "Use this many worker processes")
      ->check(cli::wholeNumber(1, kMostWorkers))
      ->capture_default_str();
  command->add_flag("--verbose", options->verbose, "Print one line per model");
  command->footer(
      "Examples:\n"
      "  op-harness conformance --backend cpu,vulkan\n"
      "  op-harness conformance ~/networks --backend vulkan --verbose");
  command->callback([options, &context] {
    context.run = [options, &context] { return conformance(*options, context.commandLine); };
  });
}

}  // namespace opkit::harness
