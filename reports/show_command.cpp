#include <algorithm>
#include <set>

#include "engine/base/printable.h"
#include "reports/causes.h"
#include "reports/commands.h"
#include "reports/history/store.h"
#include "reports/operator_facts.h"
#include "reports/operator_text.h"

namespace opkit::reports {
namespace {

constexpr size_t kNamesSuggested = 3, kLongestName = 64;

struct ShowArguments {
  std::string op, history;
  std::vector<std::string> results;
};

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Letters to insert, delete or replace to make one text of the other.
size_t editsBetween(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

/// Names that differ from `name` in case or in a few letters, or contain it; the nearest first.
std::vector<std::string> namesNear(const std::string& name, const std::set<std::string>& all) {
  const std::string wanted = lowered(name);
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& one : all) {
    if (std::max(one.size(), name.size()) > kLongestName) continue;
    const std::string other = lowered(one);
    const size_t edits = editsBetween(wanted, other);
    if (edits <= std::max<size_t>(1, wanted.size() / 3) || (!wanted.empty() && other.find(wanted) != std::string::npos))
      near.emplace_back(edits, one);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(near.size(), kNamesSuggested); ++i) names.push_back(near[i].second);
  return names;
}

Result<int> refuse(const std::string& name, const Results& results) {
  std::set<std::string> operators;
  for (const CaseRecord& record : results.cases)
    if (!record.op.empty() && (record.kind == "check" || record.kind == "bench")) operators.insert(record.op);
  const std::vector<std::string> near = namesNear(name, operators);
  const Terminal terminal = Terminal::ofEnvironment();
  fmt::print(stderr, "op-report: no checked or timed case of operator '{}' among {} operators{}\n",
             terminal.cut(terminal.plain(name), kLongestName), operators.size(),
             near.empty() ? "" : terminal.plain(fmt::format("; did you mean {}?", fmt::join(near, ", "))));
  return cli::kNothingRan;
}

/// Times and verdicts of a history; empty without one.
struct FromHistory {
  std::optional<TimeHistory> times;
  std::optional<Judged> judged;
};

Result<FromHistory> readHistory(const std::string& path) {
  FromHistory found;
  if (path.empty()) return found;
  OPKIT_ASSIGN(found.times, readTimeHistory(path));
  OPKIT_ASSIGN(const Store store, Store::open(path, Database::Mode::Read));
  OPKIT_ASSIGN(found.judged, judgeStore(store));
  return found;
}

Result<int> show(const ShowArguments& options) {
  OPKIT_ASSIGN(Results results, readSources("show", options.results, options.history));
  const auto isOther = [&](const CaseRecord& record) {
    return record.op != options.op || (record.kind != "check" && record.kind != "bench");
  };
  if (std::ranges::all_of(results.cases, isOther)) return refuse(options.op, results);
  OPKIT_ASSIGN(const FromHistory history, readHistory(options.history));
  for (const std::string& note : notesOf(results)) printNote("op-report", note);
  std::erase_if(results.cases, isOther);
  const TimeHistory* times = history.times ? &*history.times : nullptr;
  const std::vector<OperatorFacts> facts = operatorFacts(results, times);
  const OperatorSources sources{causesOf(results), times, history.judged ? &*history.judged : nullptr};
  fmt::print("{}", operatorText(facts.front(), sources, Terminal::ofEnvironment()));
  return cli::kSuccess;
}

}  // namespace

Result<Results> readSources(const std::string& command, const std::vector<std::string>& files,
                            const std::string& history) {
  if (history.empty() && files.empty())
    return Status::invalidArgument("{}: expected result files, --history, or both; got neither", command);
  Results results;
  for (const std::string& file : files) OPKIT_TRY(readResults(file, results));
  if (!files.empty()) return results;
  OPKIT_ASSIGN(const Store store, Store::open(history, Database::Mode::Read));
  return store.newest();
}

void addShowCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("show", "Print one operator: results, times over the nights, failures");
  auto options = std::make_shared<ShowArguments>();
  command->add_option("operator", options->op, "The operator, such as Softmax")->required();
  command->add_option("results", options->results, "Files that op-harness wrote with --json");
  command->add_option("--history", options->history,
                      "Add the times of earlier nights, from this history; without files, show its newest night");
  command->footer(
      "Under the line over the nights, ^ is a change that the detector found, | a change of driver, compiler or host.\n"
      "Example: op-report show Softmax --history out/history.sqlite");
  command->callback([options, &context] { context.run = [options] { return show(*options); }; });
}

}  // namespace opkit::reports
