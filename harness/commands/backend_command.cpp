#include "engine/base/guard.h"
#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/backend_suite/suite.h"
#include "harness/commands/commands.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

using namespace backend_suite;
using Json = nlohmann::json;

// After so many hangs the other tests get a short limit: a backend that always hangs has an answer within minutes.
constexpr size_t kManyHangs = 3;
constexpr double kShortSeconds = 5;

struct BackendSuiteOptions {
  std::string backend, device, filter, knownFailures, json;
  double timeoutSeconds = 60;
  size_t memoryMiB = 8192;
};

/// The tests in a worker process. Its first job opens the device; after a crash the next worker opens it again.
class SuiteJob {
 public:
  SuiteJob(const BackendSuiteOptions& options, const std::vector<Test>& tests) : options_(options), tests_(tests) {}

  /// Job 0 opens the device alone, job i runs test i - 1.
  std::string run(size_t i) {
    const Status status = guarded([&] {
      const Status opened = open();
      if (i == 0) return opened;
      if (!opened.isOk()) return Status::internal("the device opens no second time: {}", opened.message());
      return tests_[i - 1].run(*context_);
    });
    const Json answer = {{"ok", status.isOk()},
                         {"unsupported", status.code() == StatusCode::Unsupported},
                         {"message", status.message()}};
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  static Status statusOf(const std::string& text) {
    const Json answer = parseJson(text);
    if (answer.value("ok", false)) return Status::ok();
    const std::string message = answer.value("message", "");
    return answer.value("unsupported", false) ? Status::unsupported("{}", message) : Status::internal("{}", message);
  }

 private:
  Status open() {
    if (context_) return Status::ok();
    noteWork("making its Runtime");
    const RuntimeOptions chosen{.device = options_.device};
    OPKIT_ASSIGN(auto runtime, createRuntime(options_.backend, chosen));
    if (!runtime) return Status::internal("createRuntime() gave no Runtime");
    noteWork("");
    for (const BackendKind& kind : backendKinds())
      if (kind.name == options_.backend) context_.emplace(kind, std::move(runtime), plugins().registry(), chosen);
    return Status::ok();
  }

  const BackendSuiteOptions& options_;
  const std::vector<Test>& tests_;
  std::optional<Context> context_;
};

class SuiteRun {
 public:
  explicit SuiteRun(const BackendSuiteOptions& options) : options_(options), tests_(testsNamed(options.filter)) {}

  Result<int> run() {
    if (!options_.knownFailures.empty()) {
      OPKIT_ASSIGN(const auto bytes, readFile(options_.knownFailures));
      OPKIT_ASSIGN(known_, parseKnownFailures({bytes.begin(), bytes.end()}));
    }
    const GracefulInterrupt graceful;
    SuiteJob job(options_, tests_);
    const IsolationLimits limits{.workers = 1,
                                 .timeoutSeconds = options_.timeoutSeconds,
                                 .memoryBytes = options_.memoryMiB << 20,
                                 .replaceBytes = largestWorker(),
                                 .stop = [this] { return !opened_.isOk(); },
                                 .timeoutOf = [this](size_t) { return limit(); }};
    OPKIT_TRY(runIsolated(
        tests_.size() + 1, limits, [&](size_t i) { return job.run(i); },
        [&](size_t i, const JobOutcome& outcome) { take(i, outcome); }));
    OPKIT_TRY(opened_);
    return finish();
  }

 private:
  /// A worker that holds more after a test is replaced, so that the next test has memory.
  size_t largestWorker() const {
    constexpr size_t kLargest = size_t{640} << 20;
    return options_.memoryMiB > 0 ? std::min(kLargest, (options_.memoryMiB << 20) / 2) : kLargest;
  }

  double limit() const {
    return hangs_ < kManyHangs ? options_.timeoutSeconds : std::min(kShortSeconds, options_.timeoutSeconds);
  }

  void take(size_t i, const JobOutcome& outcome) {
    const Status status = statusOf(outcome);
    if (i > 0) return record(verdictOf(tests_[i - 1], status, known_));
    opened_ = outcome.kind == JobOutcome::Kind::Answered ? status : status.withContext("backend " + options_.backend);
  }

  /// A test that gave no answer fails with the cause.
  Status statusOf(const JobOutcome& outcome) {
    if (outcome.kind == JobOutcome::Kind::Answered) return SuiteJob::statusOf(outcome.answer);
    const std::string cause = placedLossText(outcome, limit());
    hangs_ += outcome.kind == JobOutcome::Kind::TimedOut;
    return Status::internal("{}", cause);
  }

  void record(const Verdict& verdict) {
    ++counts_[verdict.outcome];
    ++done_;
    fmt::print("{:<15} {:<26} {}\n", nameOf(verdict.outcome), verdict.name,
               verdict.reason.empty() ? verdict.summary : verdict.reason);
    std::fflush(stdout);
    document_.push_back({{"test", verdict.name}, {"outcome", nameOf(verdict.outcome)}, {"reason", verdict.reason}});
  }

  Result<int> finish() {
    std::string summary;
    for (const auto& [outcome, count] : counts_)
      summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, nameOf(outcome));
    fmt::print("{}: {}\n", options_.backend, summary.empty() ? "no test" : summary);
    for (size_t i = done_; i < tests_.size(); ++i)
      document_.push_back({{"test", tests_[i].name}, {"outcome", "not run"}, {"reason", "interrupted"}});
    OPKIT_TRY(cli::writeJson(options_.json, document_));
    if (interrupted()) {
      printInterrupted(done_, {{options_.backend, tests_.size()}}, "tests", options_.json);
      return cli::kCheckFailed;
    }
    if (counts_[Outcome::Fail] + counts_[Outcome::UnexpectedPass] > 0) return cli::kCheckFailed;
    if (counts_[Outcome::Pass] > 0) return cli::kSuccess;
    return nothingRan(tests_.empty() ? "no test of the suite is called so" : "no test passed or failed");
  }

  const BackendSuiteOptions& options_;
  const std::vector<Test> tests_;
  KnownFailures known_;
  Status opened_;
  size_t hangs_ = 0, done_ = 0;
  std::map<Outcome, size_t> counts_;
  Json document_ = Json::array();
};

}  // namespace

void addBackendSuiteCommand(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<BackendSuiteOptions>();  // shared: the callback outlives this function
  CLI::App& command = *app.add_subcommand("backend", "Run the conformance suite that every backend must pass");
  command.add_option("NAME", options->backend, "The backend; op-harness devices lists them")->required();
  command.add_option("--device", options->device, "Use the device with this index, part of a name, or UUID");
  command.add_option("--filter", options->filter, "Run only tests with this text in their name");
  command
      .add_option("--timeout", options->timeoutSeconds,
                  "Fail a test after this many seconds, without waiting for busy cores; after three hangs the limit of "
                  "the others is 5 seconds at most")
      ->capture_default_str()
      ->check(cli::seconds());
  command.add_option("--memory", options->memoryMiB, "Limit the memory of the worker, in MiB; 0 is no limit")
      ->capture_default_str()
      ->check(cli::wholeNumber(0, 1u << 30));
  command.add_option(
      "--known-failures", options->knownFailures,
      "Read known failures from this file, {\"test\": \"reason\"}: they may fail; one that passes is an error");
  command.add_option("--json", options->json, "Write the verdicts to this file")->check(cli::outputFile());
  command.footer("Example:\n  op-harness backend vulkan --filter copies");
  command.callback([&context, options] { context.run = [options] { return SuiteRun(*options).run(); }; });
}

}  // namespace opkit::harness
