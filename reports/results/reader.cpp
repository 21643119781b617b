#include "reports/results/reader.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/base/checked_file.h"
#include "engine/base/json_text.h"
#include "reports/results/common.h"
#include "reports/results/record_json.h"

namespace opkit::reports {
namespace {

/// The records of one file. Lines name their run; lines without a name belong to the run that began last.
class Reader {
 public:
  Reader(Results& results, const ReadOptions& options)
      : results_(results), options_(options), first_(results.runs.size()) {}

  Status add(const nlohmann::json& line, const std::string& text) {
    OPKIT_ASSIGN(Record record, recordFromJson(line));
    Run* owner = nullptr;
    bool isPlain = false;
    if (RunRecord* run = std::get_if<RunRecord>(&record)) {
      owner = &begin(std::move(*run), text);
    } else if (PlanRecord* more = std::get_if<PlanRecord>(&record)) {
      OPKIT_TRY(addShard(*more));
      owner = plan(*more);
    } else if (DeviceRecord* device = std::get_if<DeviceRecord>(&record)) {
      owner = ownerOf(device->run);
      results_.devices.push_back(std::move(*device));
    } else if (CommonRecord* common = std::get_if<CommonRecord>(&record)) {
      owner = ownerOf(common->run);
      commons_[{common->run, common->common}] = std::move(*common);
    } else if (CaseRecord* one = std::get_if<CaseRecord>(&record)) {
      owner = count(one->run);
      if (one->common > 0) OPKIT_TRY(takeCommon(*one));
      isPlain = isPlainPass(*one);
      results_.cases.push_back(std::move(*one));
    } else if (MutantRecord* mutant = std::get_if<MutantRecord>(&record)) {
      owner = count(mutant->run);
      results_.mutants.push_back(std::move(*mutant));
    } else if (SummaryRecord* summary = std::get_if<SummaryRecord>(&record)) {
      owner = ownerOf(summary->run);
      if (owner) end(*summary, *owner);
    }
    if (owner) keep(text, isPlain, *owner);
    return Status::ok();
  }

 private:
  Run& begin(RunRecord facts, const std::string& text) {
    if (facts.run.empty()) facts.run = fmt::format("unnamed-{:016x}", XXH3_64bits(text.data(), text.size()));
    Run& run = results_.runs.emplace_back();
    run.facts = std::move(facts);
    if (run.facts.tool == kDemonstrationTool) warnOfDemonstration();
    run.night = night_;
    plan(run, run.facts.planned);
    return run;
  }

  void warnOfDemonstration() {
    const std::string text =
        "DEMONSTRATION: op-report demo drew these figures from recorded noise; nothing was measured, no device ran";
    std::vector<std::string>& all = results_.warnings;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.insert(all.begin(), text);
  }

  static void end(const SummaryRecord& summary, Run& run) {
    run.outcome = summary.outcome.empty() ? "complete" : summary.outcome;
    run.ended = summary.ended;
    run.part = summary.part;
  }

  Status addShard(const PlanRecord& plan) {
    if (plan.shard.empty()) return Status::ok();
    size_t part = 0, parts = 0;
    const char* end = plan.shard.data() + plan.shard.size();
    const auto [slash, partError] = std::from_chars(plan.shard.data(), end, part);
    const bool isPair = partError == std::errc() && slash != end && *slash == '/';
    const auto [rest, partsError] = std::from_chars(isPair ? slash + 1 : end, end, parts);
    if (!isPair || partsError != std::errc() || rest != end || part < 1 || part > parts)
      return Status::corrupt("a plan record: field 'shard': expected I/N with 1 <= I <= N, found \"{}\"", plan.shard);
    results_.shards[{plan.night, parts}].insert(part);
    return Status::ok();
  }

  /// A line outside a run plans for the file.
  Run* plan(PlanRecord& more) {
    results_.plannedRuns += more.runs.value_or(0);
    if (more.runs || !more.night.empty()) night_ = more.night;
    Run* owner = more.runs || !more.night.empty() ? nullptr : ownerOf(more.run);
    if (owner) plan(*owner, more.planned);
    return owner;
  }

  Status takeCommon(CaseRecord& record) const {
    const auto found = commons_.find({record.run, record.common});
    if (found == commons_.end())
      return Status::corrupt("a case record: field 'common': no line above has number {} in run {}", record.common,
                             record.run);
    complete(record, found->second);
    return Status::ok();
  }

  void keep(const std::string& text, bool isPlain, Run& run) const {
    const uint64_t before = run.content.empty() ? 0 : run.content.back();
    run.content.push_back(XXH3_64bits_withSeed(text.data(), text.size(), before));
    if (!options_.keepLines) return;
    run.lines += text + "\n";
    run.plain.push_back(isPlain);
  }

  static void plan(Run& run, const std::optional<Counts>& more) {
    if (!more) return;
    run.planned = run.planned.value_or(0);
    for (const auto& [backend, lines] : *more) *run.planned += lines;
  }

  Run* count(std::string& id) {
    Run* run = ownerOf(id);
    if (run) ++run->written;
    return run;
  }

  /// The run of this id, or the last one if the line names none; sets the id.
  Run* ownerOf(std::string& id) {
    for (size_t i = results_.runs.size(); i > first_; --i) {
      Run& run = results_.runs[i - 1];
      if (!id.empty() && run.facts.run != id) continue;
      id = run.facts.run;
      return &run;
    }
    return nullptr;
  }

  Results& results_;
  const ReadOptions& options_;
  size_t first_;  // run of this file
  std::string night_;
  std::map<std::pair<std::string, size_t>, CommonRecord> commons_;  // by run and number
};

/// "1 of 2 shards is missing, first 2/2"; empty if every night has all of its shards.
std::string missingShards(const Shards& shards) {
  size_t all = 0, missing = 0;
  std::string first;
  for (const auto& [night, present] : shards) {
    const size_t parts = night.second;
    all += parts;
    missing += parts - present.size();
    for (size_t part = 1; first.empty() && part <= parts; ++part)
      if (!present.contains(part)) first = fmt::format("{}/{}", part, parts);
  }
  if (missing == 0) return "";
  return fmt::format("{} of {} shards {} missing, first {}", missing, all, missing == 1 ? "is" : "are", first);
}

/// True if the line begins a run, so that an unfinished line may stand before it.
bool beginsRun(const nlohmann::json& line) {
  const auto kind = line.is_object() ? line.find("record") : line.end();
  return kind != line.end() && *kind == RunRecord::kName;
}

}  // namespace

std::vector<const CaseRecord*> Results::ofKind(const std::string& kind) const {
  std::vector<const CaseRecord*> selected;
  for (const CaseRecord& record : cases)
    if (record.kind == kind) selected.push_back(&record);
  return selected;
}

bool Results::complete() const {
  return runs.size() >= plannedRuns && missingShards(shards).empty() &&
         std::all_of(runs.begin(), runs.end(), [](const Run& run) { return run.complete(); });
}

std::string Results::missing() const {
  if (complete()) return "";
  size_t planned = 0, written = 0, cut = 0;
  for (const Run& run : runs) {
    planned += run.planned.value_or(0);
    written += run.planned ? std::min(run.written, *run.planned) : 0;
    cut += !run.complete();
  }
  std::vector<std::string> causes;
  if (cut > 0)
    causes.push_back(fmt::format("{} of {} runs did not reach {} end", cut, runs.size(), cut == 1 ? "its" : "their"));
  if (runs.size() < plannedRuns)
    causes.push_back(fmt::format("{} of {} planned runs never began", plannedRuns - runs.size(), plannedRuns));
  if (const std::string absent = missingShards(shards); !absent.empty()) causes.push_back(absent);
  const std::string share = planned == 0
                                ? ""
                                : fmt::format("{} of {} planned cases{} ({:.1f} %); ", written, planned,
                                              mutants.empty() ? "" : " and mutants",
                                              100 * static_cast<double>(written) / static_cast<double>(planned));
  return fmt::format("INCOMPLETE: {}{}", share, fmt::join(causes, ", "));
}

Status readResults(const std::string& path, Results& results, const ReadOptions& options) {
  OPKIT_ASSIGN(std::ifstream file, openLines(path, "a file of JSON lines"));
  return readResults(file, path, results, options);
}

Status readResults(std::istream& stream, const std::string& name, Results& results, const ReadOptions& options) {
  Reader reader(results, options);
  std::string cutAt, cutText;  // of a line that is no JSON, as long as it may be a cut line
  bool any = false, followed = false;
  LineReader lines(stream, name);
  while (lines.next()) {
    const std::string& line = lines.line();
    if (line.empty()) continue;
    const std::string where = lines.where();
    const nlohmann::json record = parseJson(line);
    if (record.is_discarded()) OPKIT_TRY(checkJsonDepth(line).withContext(where));
    followed = !cutAt.empty() && !beginsRun(record);
    if (followed) break;
    if (!cutAt.empty()) results.warnings.push_back(cutAt + ": the line was cut short; it is left out");
    cutAt = record.is_discarded() ? where : "";
    cutText = line.substr(0, 60);
    if (!cutAt.empty() && options.refuseCut)
      return Status::corrupt("{}: expected a line of JSON, found '{}'", cutAt, cutText);
    if (!cutAt.empty()) continue;
    any = true;
    OPKIT_TRY(reader.add(record, line).withContext(where));
  }
  OPKIT_TRY(lines.status());
  if (cutAt.empty()) return Status::ok();
  if (!any || followed) return Status::corrupt("{}: expected a line of JSON, found '{}'", cutAt, cutText);
  results.warnings.push_back(cutAt + ": the line was cut short; it is left out");
  return Status::ok();
}

std::vector<std::string> notesOf(const Results& results) {
  std::vector<std::string> notes = results.warnings;
  if (!results.complete()) notes.push_back(results.missing());
  return notes;
}

}  // namespace opkit::reports
