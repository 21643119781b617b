#include "engine/model/model.h"
#include "harness/backend_suite/suite.h"
#include "harness/commands/commands.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

using namespace backend_suite;

struct BackendSuiteOptions {
  std::string backend, device, filter, knownFailures, json;
};

Result<int> runBackendSuite(const BackendSuiteOptions& options) {
  KnownFailures known;
  if (!options.knownFailures.empty()) {
    OPKIT_ASSIGN(const auto bytes, readFile(options.knownFailures));
    OPKIT_ASSIGN(known, parseKnownFailures({bytes.begin(), bytes.end()}));
  }
  OPKIT_ASSIGN(auto runtime, createRuntime(options.backend, {options.device}));
  const auto& all = backendKinds();
  const auto kind =
      std::find_if(all.begin(), all.end(), [&](const BackendKind& each) { return each.name == options.backend; });
  OPKIT_ASSIGN(const auto verdicts, runSuite({*kind, std::move(runtime), plugins().registry()}, options.filter, known));
  std::map<Outcome, size_t> counts;
  nlohmann::json document = nlohmann::json::array();
  for (const Verdict& verdict : verdicts) {
    ++counts[verdict.outcome];
    fmt::print("{:<15} {:<26} {}\n", nameOf(verdict.outcome), verdict.name,
               verdict.reason.empty() ? verdict.summary : verdict.reason);
    document.push_back({{"test", verdict.name}, {"outcome", nameOf(verdict.outcome)}, {"reason", verdict.reason}});
  }
  std::string summary;
  for (const auto& [outcome, count] : counts)
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, nameOf(outcome));
  fmt::print("{}: {}\n", options.backend, summary.empty() ? "no test" : summary);
  OPKIT_TRY(cli::writeJson(options.json, document));
  if (counts[Outcome::Fail] + counts[Outcome::UnexpectedPass] > 0) return cli::kCheckFailed;
  if (counts[Outcome::Pass] > 0) return cli::kSuccess;
  return nothingRan(verdicts.empty() ? "no test of the suite is called so" : "no test passed or failed");
}

}  // namespace

void addBackendSuiteCommand(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<BackendSuiteOptions>();  // shared: the callback outlives this function
  CLI::App& command = *app.add_subcommand("backend", "Run the conformance suite that every backend must pass");
  command.add_option("NAME", options->backend, "The backend; op-harness devices lists them")->required();
  command.add_option("--device", options->device, "Use the device with this index, part of a name, or UUID");
  command.add_option("--filter", options->filter, "Run only tests with this text in their name");
  command.add_option(
      "--known-failures", options->knownFailures,
      "Read known failures from this file, {\"test\": \"reason\"}: they may fail; one that passes is an error");
  command.add_option("--json", options->json, "Write the verdicts to this file")->check(cli::outputFile());
  command.footer("Example:\n  op-harness backend vulkan --filter copies");
  command.callback([&context, options] { context.run = [options] { return runBackendSuite(*options); }; });
}

}  // namespace opkit::harness
