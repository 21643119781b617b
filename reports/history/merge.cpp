#include "reports/history/merge.h"

#include <algorithm>
#include <map>

#include "reports/results/record_json.h"

namespace opkit::reports {
namespace {

/// True if `whole` begins with the lines of `part`.
bool continues(const Run& whole, const Run& part) {
  const size_t lines = part.content.size();
  return lines > 0 && whole.content.size() >= lines && whole.content[lines - 1] == part.content.back();
}

/// The plan of a file for the runs that follow; empty if it says nothing.
std::string planLine(size_t runs, const std::string& night) {
  PlanRecord plan;
  if (runs > 0) plan.runs = runs;
  plan.night = night;
  return runs > 0 || !night.empty() ? toLine(plan) + "\n" : "";
}

/// Of a file's first run; empty for a shard that was killed before it.
std::string startOf(const Results& file) { return file.runs.empty() ? "" : file.runs.front().facts.started; }

/// Lines that say which parts of which nights a file holds.
std::string shardLines(const Shards& shards) {
  std::string lines;
  for (const auto& [night, present] : shards)
    for (size_t part : present) {
      PlanRecord plan;
      plan.runs = 0;
      plan.night = night.first;
      plan.shard = fmt::format("{}/{}", part, night.second);
      lines += toLine(plan) + "\n";
    }
  return lines;
}

}  // namespace

Result<std::vector<Results>> readFiles(const std::vector<std::string>& paths) {
  std::vector<Results> files;
  for (const std::string& path : paths) {
    Results results;
    OPKIT_TRY(readResults(path, results, {.keepLines = true, .refuseCut = true}));
    if (results.runs.empty() && results.shards.empty())
      return Status::invalidArgument("{}: expected results of op-harness, found no run", path);
    files.push_back(std::move(results));
  }
  std::stable_sort(files.begin(), files.end(),
                   [](const Results& a, const Results& b) { return startOf(a) < startOf(b); });
  return files;
}

Result<Merged> mergeResults(const std::vector<Results>& files) {
  std::map<std::string, const Run*> longest;
  for (const Results& file : files)
    for (const Run& run : file.runs) {
      const Run*& best = longest.try_emplace(run.facts.run, &run).first->second;
      if (!continues(*best, run) && !continues(run, *best))
        return Status::invalidArgument("run {} ({}) comes twice with different content", run.facts.run,
                                       run.facts.command);
      if (run.content.size() > best->content.size()) best = &run;
    }
  Merged merged;
  std::map<std::string, bool> written;
  for (const Results& file : files) {
    merged.text += shardLines(file.shards);
    size_t known = 0;
    for (const Run& run : file.runs) known += written.contains(run.facts.run);
    size_t planned = file.plannedRuns - std::min(known, file.plannedRuns);
    std::optional<std::string> night;
    for (const Run& run : file.runs) {
      const bool isNew = written.try_emplace(run.facts.run, true).second;
      ++(isNew ? merged.runs : merged.known);
      if (!isNew) continue;
      if (night != run.night) merged.text += planLine(std::exchange(planned, 0), run.night);
      night = run.night;
      merged.text += longest[run.facts.run]->lines;
    }
    if (file.runs.empty()) merged.text += planLine(planned, file.shards.begin()->first.first);
  }
  return merged;
}

}  // namespace opkit::reports
