#include "harness/cases/costs.h"
#include "harness/check/prepared.h"
#include "harness/check/sub_checks.h"
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

/// True for a dtype and for the sub-checks of a brief check.
bool isOfBrief(const std::string& part) { return part.starts_with("dtype ") || isOfOneSession(part); }

/// Hashes of groups.
struct Core {
  std::vector<uint64_t> whole, brief;
};

std::vector<uint64_t> hashesOf(const std::vector<size_t>& chosen, const std::vector<uint64_t>& hashes) {
  std::vector<uint64_t> all;
  for (const size_t i : chosen) all.push_back(hashes[i]);
  std::ranges::sort(all);
  return all;
}

/// Draws are not in it: they change with the written cases.
Core coreOf(const std::vector<const CaseRecord*>& records, const Catalogue& catalogue) {
  std::map<std::string, std::vector<const CaseRecord*>> byId;
  for (const CaseRecord* record : records) byId[record->id].push_back(record);
  std::map<std::string, size_t> numbers;  // of "backend operator provider/kernel" with a dtype or a sub-check
  std::vector<Offer> offers, briefOffers;
  std::vector<uint64_t> hashes;
  for (const CaseGroup& group : catalogue.groups) {
    Offer offer, brief;
    for (const Case& c : group.cases)
      for (const CaseRecord* record : byId[c.id()]) {
        offer.seconds += record->durationNs * 1e-9;
        if (record->checks.empty()) continue;
        const std::string kernel =
            fmt::format("{} {} {}/{}", record->backend, record->op, record->provider, record->kernel);
        std::vector<std::string> parts = record->checks;
        parts.push_back("dtype " + record->dtype);
        for (const std::string& part : parts)
          (isOfBrief(part) ? brief : offer)
              .brings.push_back(numbers.emplace(kernel + " " + part, numbers.size()).first->second);
      }
    brief.seconds = offer.seconds;
    hashes.push_back(hashOf(group));
    offers.push_back(std::move(offer));
    briefOffers.push_back(std::move(brief));
  }
  const std::vector<size_t> whole = cheapestCover(offers);
  std::set<size_t> brought;
  for (const size_t i : whole) brought.insert(briefOffers[i].brings.begin(), briefOffers[i].brings.end());
  for (Offer& offer : briefOffers) std::erase_if(offer.brings, [&](size_t item) { return brought.contains(item); });
  return {hashesOf(whole, hashes), hashesOf(cheapestCover(briefOffers), hashes)};
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
  const Core core = coreOf(results.ofKind("check"), catalogue);
  for (const uint64_t hash : core.whole) fmt::print("core\t{:016x}\n", hash);
  for (const uint64_t hash : core.brief) fmt::print("brief\t{:016x}\n", hash);
  return cli::kSuccess;
}

}  // namespace

void addCostsCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("costs", "Estimate how long each case of check takes, from recorded results");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "Results of `check --json`")->required()->check(cli::existingFile());
  command->footer(
      "Prints the new harness/cases/costs.tsv. Example:\n  op-harness check --budget none --json all.jsonl && "
      "op-harness costs "
      "all.jsonl");
  command->callback([files, &context] { context.run = [files] { return fit(*files); }; });
}

}  // namespace opkit::harness
