#include <cfloat>

#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "engine/base/printable.h"
#include "harness/commands/model_job.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"
#include "reports/results/record_json.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

class ModelRun {
 public:
  explicit ModelRun(const ModelOptions& options) : options_(options) {}

  Result<int> run(const std::string& commandLine) {
    OPKIT_TRY(options_.backend.check());
    const GracefulInterrupt graceful;
    for (const std::string& backend : options_.backend.backends) planned_[backend] = std::size(ModelJob::kParts);
    OPKIT_TRY(file_.open(options_.json, commandLine, options_.seed, planned_));
    OPKIT_ASSIGN(const std::vector<DescribedDevice> devices, describeDevices(options_.backend));
    noteOldBuild();
    for (const DescribedDevice& device : devices) {
      if (interrupted()) break;
      heading_ = fmt::format("{}: {}{}, against {}\n", device.info.backend, device.info.name,
                             device.info.software ? " (software device)" : "", options_.reference);
      file_.write(device.info, device.profile);
      OPKIT_TRY(runOn(device.info.backend));
    }
    return finish();
  }

 private:
  /// A worker runs both parts. If it ends or hangs in the first part, another worker runs the second.
  Status runOn(const std::string& backend) {
    ModelJob job(options_, backend);
    const IsolationLimits limits{1, options_.timeoutSeconds, options_.memoryMiB << 20};
    Status wrong;
    OPKIT_TRY(runIsolated(
        std::size(ModelJob::kParts), limits,
        [&](size_t i) { return job.run(ModelJob::kParts[i]).dump(-1, ' ', false, Json::error_handler_t::replace); },
        [&](size_t i, const JobOutcome& outcome) {
          if (interrupted()) return;  // the comparison may be incomplete
          const Status status = take(ModelJob::kParts[i], backend, outcome);
          if (wrong.isOk()) wrong = status;
        }));
    return wrong;
  }

  /// Prints and records the result of a part; returns the error that the user must fix.
  Status take(ModelJob::Part part, const std::string& backend, const JobOutcome& outcome) {
    Json answer = parseJson(outcome.answer);
    if (outcome.kind != JobOutcome::Kind::Answered || !answer.is_object())
      answer = {{"record", toJson(lost(part, backend, outcome))}};
    messages_ += answer.value("messages", uint64_t{0});
    if (answer.contains("record")) record(part, reports::caseFromJson(answer["record"]), answer.value("text", ""));
    return answer.contains("error") ? Status::invalidArgument("{}", answer.value("error", "")) : Status::ok();
  }

  CaseRecord lost(ModelJob::Part part, const std::string& backend, const JobOutcome& outcome) const {
    const bool hang = outcome.kind == JobOutcome::Kind::TimedOut;
    CaseResult result;
    result.kind = "model";
    result.id = ModelJob::idOf(options_.model, part);
    result.backend = backend;
    result.status = hang ? CaseStatus::Hang : CaseStatus::Crash;
    result.reason = lossText(outcome, options_.timeoutSeconds);
    return toRecord(result);
  }

  void record(ModelJob::Part part, const CaseRecord& one, const std::string& text) {
    file_.write(one);
    ++done_;
    const bool outputs = part == ModelJob::Part::Outputs;
    fmt::print("{}{}:\n{}", std::exchange(heading_, ""),
               outputs ? "as production runs it, outputs" : "tensor by tensor, with nothing fused", text);
    fmt::print("{} {} on {}: {} {}{}{}\n", coloured(one.status, nameOf(one.status)), printable(one.id), one.backend,
               one.layers.size(), outputs ? "outputs" : "tensors", one.reason.empty() ? "" : ": ",
               printable(one.reason));
    std::fflush(stdout);
    failed_ = failed_ || isFailure(one.status);
    executed_ = executed_ || isExecuted(one.status);
  }

  Result<int> finish() {
    if (messages_ > 0) {
      fmt::print("fail: {} messages of the Vulkan validation layers\n", messages_);
      failed_ = true;
    }
    OPKIT_TRY(file_.close());
    if (interrupted()) {
      printInterrupted(done_, planned_, "comparisons", options_.json);
      return cli::kCheckFailed;
    }
    if (!executed_) return nothingRan("no backend runs this network");
    return failed_ ? cli::kCheckFailed : cli::kSuccess;
  }

  const ModelOptions& options_;
  ResultFile file_;
  RunPlan planned_;
  size_t done_ = 0;
  std::string heading_;    // of a backend, until its first result
  uint64_t messages_ = 0;  // of the validation layers
  bool failed_ = false, executed_ = false;
};

}  // namespace

void addModelCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("model", "Run a network on two backends and compare its outputs and every tensor");
  auto options = std::make_shared<ModelOptions>();
  options->backend.backends = {"vulkan"};
  command->add_option("MODEL", options->model, "zoo:NAME, or a file ending in .onnx or .opk")->required();
  options->backend.add(*command, "vulkan");
  command->add_option("--reference", options->reference, "Compare with this backend")->capture_default_str();
  command->add_option("--resize", options->resize, "Set the shape of an input: NAME=1x3x224x224 (repeatable)");
  command->add_option("--seed", options->seed, "Draw the random inputs from this seed")->capture_default_str();
  command->add_flag("--allow-fallback", options->allowFallback, "Accept nodes that ran on another backend");
  command->add_option("--bisect", options->bisect, "Save the smallest part of the network that departs in this file")
      ->check(cli::outputFile());
  command
      ->add_option(
          "--gate", options->gate,
          "A tensor departs above this normalised mean square error (default 1e-8; 1e-5 for networks with f16)")
      ->check(cli::finiteNumber(DBL_MIN));
  command
      ->add_option("--timeout", options->timeoutSeconds,
                   "Fail if one of the two runs takes more than this many seconds, without waiting for busy cores")
      ->capture_default_str()
      ->check(cli::seconds());
  command->add_option("--memory", options->memoryMiB, "Limit the memory of the runs, in MiB; 0 is no limit")
      ->capture_default_str();
  command->add_flag("--all", options->all, "Print every tensor");
  command->add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)")
      ->check(cli::appendedFile());
  command->footer(
      "Examples:\n"
      "  op-harness model zoo:resnet50 --backend vulkan\n"
      "  op-harness model net.onnx --backend vulkan --reference reference --resize x=1x3x64x64");
  command->callback([options, &context] {
    context.run = [options, &context] { return ModelRun(*options).run(context.commandLine); };
  });
}

}  // namespace opkit::harness
