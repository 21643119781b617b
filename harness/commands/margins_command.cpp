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

/// Other kernels than the device's own would be recorded under its name.
Status checkOptions(const reports::Results& results) {
  for (const reports::Run& run : results.runs)
    for (const char* option : {"--mask", "--device-class", "--seed"})
      if (run.facts.command.find(option) != std::string::npos)
        return Status::invalidArgument("expected results of the device as it is, got a run with {}", option);
  return Status::ok();
}

std::string environmentOf(const CaseRecord& record, const reports::Results& results) {
  const auto isItsDevice = [&](const reports::DeviceRecord& device) {
    return device.run == record.run && device.backend == record.backend;
  };
  const auto device = std::ranges::find_if(results.devices, isItsDevice);
  return marginEnvironment(record.backend, record.device, device != results.devices.end() && device->software);
}

RecordedMargins marginsOf(const reports::Results& results) {
  RecordedMargins margins;
  for (const CaseRecord* record : results.ofKind("check")) {
    const Result<Case> parsed = parseCaseId(record->id);
    const OpDef* const def = plugins().registry().find(record->op);
    // A case that fails for its margin alone is what a wanted change is recorded from.
    const bool isWithin = record->status == CaseStatus::Pass || record->failedCheck == "margin";
    if (!parsed || !def || !record->accuracy || !isWithin) continue;
    if (!hasMargin(*def, record->dtype)) continue;
    Case c = *parsed;
    c.name = record->name;
    if (const auto key = marginKeyOf(c, record->dtype, record->provider, record->kernel))
      margins.raise(*key, environmentOf(*record, results), record->accuracy->margin);
  }
  return margins;
}

Result<int> record(const MarginArguments& options) {
  reports::Results results;
  for (const std::string& file : options.results) OPKIT_TRY(reports::readResults(file, results));
  OPKIT_TRY(checkOptions(results));
  const RecordedMargins margins = marginsOf(results);
  if (margins.empty()) return nothingRan("the files hold no results of check with errors to record");
  OPKIT_ASSIGN(const auto bytes, readFile(options.update));
  auto old = RecordedMargins::parse({bytes.begin(), bytes.end()});
  if (!old) return old.error().withContext(options.update);
  RecordedMargins updated = *old;
  updated.replaceBy(margins);
  const std::vector<std::string> changes = old->changesTo(updated);
  for (const std::string& line : changes) fmt::print("{}\n", line);
  fmt::print("{} margins are new or others\n", changes.size());
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
      ->check(CLI::ExistingFile);
  command->add_option("--update", options->update, "The record: harness/check/margins.tsv")
      ->required()
      ->check(CLI::ExistingFile);
  command->footer(
      "Replaces the figures of the results' operators in their environments, and prints old and new ones.\n"
      "Example:\n  op-harness check --written --op Exp --json exp.jsonl && op-harness margins exp.jsonl --update "
      "harness/check/margins.tsv");
  command->callback([options, &context] { context.run = [options] { return record(*options); }; });
}

}  // namespace opkit::harness
