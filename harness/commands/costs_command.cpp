#include "harness/cases/costs.h"
#include "harness/check/prepared.h"
#include "harness/commands/commands.h"
#include "reports/results/reader.h"

namespace opkit::harness {
namespace {

constexpr size_t kFewest = 4;  // samples of an operator with rates of its own

using Samples = std::map<std::pair<std::string, std::string>, std::vector<CostSample>>;  // by operator and backend

bool isBrief(const CaseRecord& record) {
  return std::ranges::any_of(record.notRun, [](const auto& one) { return one.second == kBrief; });
}

/// Results of the cases that ran; "*" has those of all operators.
Samples samplesOf(const std::vector<const CaseRecord*>& records, const OpRegistry& registry) {
  Samples samples;
  for (const CaseRecord* record : records) {
    const OpDef* def = registry.find(record->op);
    const Result<Case> c = parseCaseId(record->id);
    if (!def || !c || record->durationNs <= 0 || isBrief(*record)) continue;
    const CostSample sample{workOf(*c, *def), record->durationNs * 1e-9};
    for (const std::string& op : {record->op, std::string("*")}) samples[{op, record->backend}].push_back(sample);
  }
  return samples;
}

/// Hashes of the core's groups. Draws are not in it: they change with the written cases.
std::vector<uint64_t> coreOf(const std::vector<const CaseRecord*>& records, const Catalogue& catalogue) {
  std::map<std::string, std::vector<const CaseRecord*>> byId;
  for (const CaseRecord* record : records) byId[record->id].push_back(record);
  std::map<std::string, size_t> numbers;  // of "backend operator provider/kernel" with a dtype or a sub-check
  std::vector<Offer> offers;
  std::vector<uint64_t> hashes, core;
  for (const CaseGroup& group : catalogue.groups) {
    Offer offer;
    for (const Case& c : group.cases)
      for (const CaseRecord* record : byId[c.id()]) {
        offer.seconds += record->durationNs * 1e-9;
        if (record->checks.empty()) continue;
        const std::string kernel =
            fmt::format("{} {} {}/{}", record->backend, record->op, record->provider, record->kernel);
        std::vector<std::string> parts = record->checks;
        parts.push_back(record->dtype);
        for (const std::string& part : parts)
          offer.brings.push_back(numbers.emplace(kernel + " " + part, numbers.size()).first->second);
      }
    if (offer.brings.empty()) continue;
    hashes.push_back(hashOf(group));
    offers.push_back(std::move(offer));
  }
  for (const size_t i : cheapestCover(offers)) core.push_back(hashes[i]);
  std::ranges::sort(core);
  return core;
}

Result<int> fit(const std::vector<std::string>& files) {
  reports::Results results;
  for (const std::string& file : files) OPKIT_TRY(reports::readResults(file, results));
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Catalogue catalogue, builtinCatalogue(registry));
  const Samples samples = samplesOf(results.ofKind("check"), registry);
  if (samples.empty()) return nothingRan("the files hold no results of check");
  fmt::print(
      "# Seconds of `op-harness check` per case, million elements, billion FLOPs, ten thousand steps and "
      "rows, and the most; "
      "see costs.h.\n"
      "# Written by `op-harness costs`.\n");
  for (const auto& [key, list] : samples) {
    if (list.size() < kFewest) continue;
    fmt::print("{}\t{}", key.first, key.second);
    for (const double rate : fitRates(list)) fmt::print("\t{:.3g}", rate);
    fmt::print("\t{:.3g}\n", std::ranges::max_element(list, {}, &CostSample::seconds)->seconds);
  }
  for (const uint64_t hash : coreOf(results.ofKind("check"), catalogue)) fmt::print("core\t{:016x}\n", hash);
  return cli::kSuccess;
}

}  // namespace

void addCostsCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("costs", "Fit the estimates of check's time to recorded results");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "Results of `check --json`")->required()->check(CLI::ExistingFile);
  command->footer(
      "Prints harness/cases/costs.tsv:\n  op-harness check --json all.jsonl && op-harness costs "
      "all.jsonl");
  command->callback([files, &context] { context.run = [files] { return fit(*files); }; });
}

}  // namespace opkit::harness
