#include <array>
#include <map>
#include <sstream>

#include "engine/model/model.h"
#include "harness/check/margins.h"
#include "harness/commands/commands.h"
#include "reports/results/reader.h"

namespace opkit::harness {
namespace {

struct MarginArguments {
  std::vector<std::string> results;
  std::string update;
};

using Scope = std::pair<std::string, std::string>;  // operator and environment

/// Options with which a run still has all written cases of its operators, by the device's own kernels.
constexpr std::array<std::string_view, 20> kWholeRun = {
    "--written",    "--brief",     "--op",      "--backend", "--device",      "--driver",           "--simd",
    "--validation", "--json",      "--junit",   "--jobs",    "--timeout",     "--memory",           "--save",
    "--margins",    "--subchecks", "--verbose", "--slowest", "--annotations", "--emit-expectations"};

/// What a part of the cases, or other kernels, lack would leave the record without a word.
Status checkRun(const reports::Run& run) {
  std::istringstream words(run.facts.command);
  bool isWritten = false;
  for (std::string word; words >> word;) {
    const std::string option = word.substr(0, word.find('='));
    isWritten = isWritten || option == "--written";
    if (option.starts_with("--") && std::ranges::find(kWholeRun, option) == kWholeRun.end())
      return Status::invalidArgument("expected runs of all written cases on the device as it is, got a run with {}",
                                     option);
  }
  if (!isWritten) return Status::invalidArgument("expected runs of `check --written`, got '{}'", run.facts.command);
  if (!run.complete())
    return Status::invalidArgument("expected complete runs, '{}' did not reach its end", run.facts.command);
  return Status::ok();
}

Status checkRecord(const CaseRecord& record) {
  if (isMasked(record)) return Status::invalidArgument("{} on {}: {}", record.id, record.backend, kOtherDevice);
  const bool failed =
      record.status == CaseStatus::Fail || record.status == CaseStatus::Crash || record.status == CaseStatus::Hang;
  if (!failed || isMeasured(record)) return Status::ok();
  return Status::invalidArgument("expected cases that pass, or fail for their margin alone; {} on {} fails ({})",
                                 record.id, record.backend, record.reason);
}

/// The driver is empty if the results do not name it.
DeviceInfo deviceOf(const CaseRecord& record, const reports::Results& results) {
  const auto isItsDevice = [&](const reports::DeviceRecord& device) {
    return device.run == record.run && device.backend == record.backend;
  };
  const auto device = std::ranges::find_if(results.devices, isItsDevice);
  if (device == results.devices.end()) return {.backend = record.backend, .name = record.device};
  return {.backend = record.backend, .name = device->name, .driver = device->driver, .software = device->software};
}

std::string environmentOf(const CaseRecord& record, const reports::Results& results) {
  return marginEnvironment(deviceOf(record, results));
}

/// No later run would meet a column without the driver.
Status checkDriver(const CaseRecord& record, const reports::Results& results) {
  if (record.backend != "vulkan" || !deviceOf(record, results).driver.empty()) return Status::ok();
  return Status::invalidArgument("expected results that name the driver, {} on {} has none", record.id, record.backend);
}

/// Figures of the last run of each operator in each environment: `check --json` appends to a file.
class Measured {
 public:
  static Result<Measured> of(const reports::Results& results) {
    Measured measured;
    std::map<Scope, std::string> last;  // ids of runs
    for (const CaseRecord* record : results.ofKind("check"))
      if (!record->op.empty()) last[{record->op, environmentOf(*record, results)}] = record->run;
    for (const reports::Run& run : results.runs)
      if (std::ranges::any_of(last, [&](const auto& one) { return one.second == run.facts.run; }))
        OPKIT_TRY(checkRun(run));
    for (const CaseRecord* record : results.ofKind("check")) {
      const Scope scope{record->op, environmentOf(*record, results)};
      if (record->op.empty() || last.at(scope) != record->run) continue;
      OPKIT_TRY(checkDriver(*record, results));
      OPKIT_TRY(checkRecord(*record));
      measured.add(*record, scope);
    }
    return measured;
  }

  RecordedMargins margins;
  RecordedMargins::Scopes scopes;

 private:
  void add(const CaseRecord& record, const Scope& scope) {
    scopes.insert(scope);
    const auto key = marginKeyOf(record);
    if (key && isMeasured(record)) margins.raise(*key, scope.second, record.accuracy->margin);
  }
};

Result<int> record(const MarginArguments& options) {
  reports::Results results;
  for (const std::string& file : options.results) OPKIT_TRY(reports::readResults(file, results));
  OPKIT_ASSIGN(const Measured measured, Measured::of(results));
  if (measured.margins.empty()) return nothingRan("the files hold no results of check with errors to record");
  OPKIT_ASSIGN(const RecordedMargins old, readMargins(options.update));
  RecordedMargins updated = old;
  updated.replaceBy(measured.margins, measured.scopes);
  const std::vector<std::string> changes = old.changesTo(updated);
  for (const std::string& line : changes) fmt::print("{}\n", line);
  fmt::print("{} margins added, changed or dropped\n", changes.size());
  const std::string text = updated.text();
  OPKIT_TRY(writeFile(options.update, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  return cli::kSuccess;
}

}  // namespace

void addMarginsCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("margins", "Record the worst errors of written cases, which check compares");
  auto options = std::make_shared<MarginArguments>();
  command->add_option("FILE", options->results, "Results of `check --written --json`")
      ->required()
      ->check(cli::existingFile());
  command->add_option("--update", options->update, "The record: harness/check/margins.tsv")
      ->required()
      ->check(cli::existingFile())
      ->check(cli::changedFile());
  command->footer(
      "Replaces the figures of the results' operators in their environments, and prints old and new ones. The last "
      "run\n"
      "of an operator in an environment counts. Runs must have all written cases of their operators.\n"
      "Example:\n  op-harness check --written --op Exp --json exp.jsonl && op-harness margins exp.jsonl --update "
      "harness/check/margins.tsv");
  command->callback([options, &context] { context.run = [options] { return record(*options); }; });
}

}  // namespace opkit::harness
