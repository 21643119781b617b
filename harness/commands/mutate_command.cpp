#include <thread>

#include "engine/base/interrupt.h"
#include "harness/commands/commands.h"
#include "harness/mutate/mutation_run.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

struct MutateArguments {
  CaseOptions cases;
  MutationOptions mutation;
  std::vector<std::string> backends = {"cpu", "vulkan"};
  double threshold = 90;
  std::string json;
};

void printSurvivors(const std::vector<MutantResult>& results) {
  for (const MutantResult& result : results) {
    if (result.fate != MutantResult::Fate::Survived) continue;
    fmt::print("survived {} on {}: {}\n", result.subject, result.backend, result.where);
    if (!result.before.empty())
      fmt::print("  - {}\n  + {}\n", result.before, result.after.empty() ? "(dropped)" : result.after);
  }
}

/// The score of each backend.
void printScores(const std::vector<MutantResult>& results) {
  std::map<std::string, std::pair<size_t, size_t>> scores;
  for (const MutantResult& result : results) {
    auto& [killed, counted] = scores[result.backend];
    killed += result.fate == MutantResult::Fate::Killed;
    counted += result.fate == MutantResult::Fate::Killed || result.fate == MutantResult::Fate::Survived;
  }
  for (const auto& [backend, score] : scores)
    fmt::print("{}: {} of {} killed, {:.1f} %\n", backend, score.first, score.second,
               100.0 * static_cast<double>(score.first) / static_cast<double>(std::max<size_t>(score.second, 1)));
}

/// Marks that the cases refute: a line may stand in a shader several times, and a mark is wrong when all are killed.
bool printWrongMarks(const std::vector<MutantResult>& results) {
  bool any = false;
  const auto excused = [&](const MutantResult& killed) {
    return std::any_of(results.begin(), results.end(), [&](const MutantResult& other) {
      return other.fate == MutantResult::Fate::Equivalent && other.subject == killed.subject && !other.before.empty() &&
             other.before == killed.before && other.after == killed.after;
    });
  };
  for (const MutantResult& result : results) {
    if (!result.wrongMark || excused(result)) continue;
    any = true;
    fmt::print("fail: {} on {}, {}: marked as equivalent, but killed by {}\n", result.subject, result.backend,
               result.where, result.by);
  }
  return any;
}

/// Per operator (CPU) and shader (Vulkan): how many were killed of those that count.
double printTable(const std::vector<MutantResult>& results) {
  struct Row {
    size_t killed = 0, survived = 0, equivalent = 0, invalid = 0;
  };
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const MutantResult& result : results) {
    Row& row = rows[{result.subject, result.backend}];
    row.killed += result.fate == MutantResult::Fate::Killed;
    row.survived += result.fate == MutantResult::Fate::Survived;
    row.equivalent += result.fate == MutantResult::Fate::Equivalent;
    row.invalid += result.fate == MutantResult::Fate::Invalid;
  }
  Table table({"subject", "backend", "killed", "survived", "equivalent", "invalid", "score"});
  size_t killed = 0, counted = 0;
  for (const auto& [key, row] : rows) {
    const size_t all = row.killed + row.survived;
    killed += row.killed;
    counted += all;
    table.add(
        {key.first, key.second, std::to_string(row.killed), std::to_string(row.survived),
         std::to_string(row.equivalent), std::to_string(row.invalid),
         all == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(row.killed) / static_cast<double>(all))});
  }
  fmt::print("{}", table.toString());
  printScores(results);
  const double score = counted == 0 ? 0 : 100.0 * static_cast<double>(killed) / static_cast<double>(counted);
  if (counted > 0) fmt::print("mutation score: {} of {} killed, {:.1f} %\n", killed, counted, score);
  return counted == 0 ? -1 : score;
}

reports::MutantRecord toRecord(const MutantResult& result, const std::string& repro) {
  return {"",           result.subject,      result.backend, result.where,     result.before,
          result.after, nameOf(result.fate), result.by,      result.wrongMark, repro};
}

/// Mutants are recorded when their fates are known. Their number is known only after the cases ran unbroken.
class MutateRun {
 public:
  explicit MutateRun(const MutateArguments& options) : options_(options) {}

  Result<int> run(const std::string& commandLine) {
    const OpRegistry& registry = plugins().registry();
    for (const std::string& backend : options_.backends)
      if (backend != "cpu" && backend != "vulkan")
        return Status::invalidArgument("--backend: mutants exist for cpu and vulkan, got '{}'", backend);
    OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options_.cases, registry));
    OPKIT_TRY(file_.open(options_.json, commandLine, options_.cases.seed.value_or(kDefaultSeed), {}));
    noteOldBuild();
    for (const std::string& backend : options_.backends)
      if (!interrupted()) OPKIT_TRY(hunt(backend, catalogue, registry));
    return finish();
  }

 private:
  Status hunt(const std::string& backend, const Catalogue& catalogue, const OpRegistry& registry) {
    Progress progress(0);
    const std::string ops =
        options_.cases.ops.empty() ? "" : fmt::format(" --op {}", fmt::join(options_.cases.ops, ","));
    const std::string repro =
        fmt::format("op-harness mutate --backend {}{} --limit {}", backend, ops, options_.mutation.limit);
    MutationOptions options = options_.mutation;
    const CaseOptions& cases = options_.cases;
    options.ownersCases = cases.filter.empty() && cases.id.empty() && cases.casesFile.empty();
    const MutationEvents events{.planned =
                                    [&](size_t count) {
                                      planned_[backend] = count;
                                      file_.plan({{backend, count}});
                                    },
                                .done =
                                    [&](const MutantResult& result) {
                                      progress.step(fmt::format("{} {}", result.subject, result.where));
                                      file_.write(toRecord(result, repro));
                                      results_.push_back(result);
                                    },
                                .stop = [this] { return !file_.status().isOk(); }};
    if (backend == "cpu") {
      OPKIT_TRY(mutateCpu(catalogue, registry, options, events));
      return file_.status();
    }
#ifdef OPKIT_HAS_VULKAN
    OPKIT_TRY(mutateShaders(catalogue, registry, options, events));
    return file_.status();
#else
    return Status::unsupported("--backend vulkan: this build has no Vulkan backend");
#endif
  }

  Result<int> finish() {
    OPKIT_TRY(file_.close());
    printSurvivors(results_);
    const double score = printTable(results_);
    const bool wrongMarks = printWrongMarks(results_);
    if (interrupted()) {
      printInterrupted(results_.size(), planned_, "mutants", options_.json);
      return cli::kCheckFailed;
    }
    if (score < 0) return nothingRan("no mutant was tried");
    if (score < options_.threshold) fmt::print("fail: the score is below {:.1f} %\n", options_.threshold);
    return wrongMarks || score < options_.threshold ? cli::kCheckFailed : cli::kSuccess;
  }

  const MutateArguments& options_;
  ResultFile file_;
  RunPlan planned_;
  std::vector<MutantResult> results_;
};

}  // namespace

void addMutateCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("mutate", "Break kernels on purpose and count the faults that their cases find");
  auto options = std::make_shared<MutateArguments>();
  options->cases.add(*command);
  command->add_option("--backend", options->backends, "Break kernels of cpu, vulkan or both")->delimiter(',');
  command->add_option("--limit", options->mutation.limit, "Make at most this many mutants per shader; 0 makes all")
      ->capture_default_str();
  command->add_flag("--shared", options->mutation.shared,
                    "Also break the files of shaders/include and shaders/loop that the shaders include");
  command->add_option("--jobs", options->mutation.jobs, "Use this many worker processes")
      ->capture_default_str()
      ->check(cli::wholeNumber(1, kMostWorkers));
  command
      ->add_option("--timeout", options->mutation.timeoutSeconds,
                   "Count a mutant as killed after this many seconds, without waiting for busy cores")
      ->check(cli::seconds())
      ->capture_default_str();
  command->add_option("--threshold", options->threshold, "Fail below this score, in percent")
      ->check(cli::finiteNumber(0, 100))
      ->capture_default_str();
  command->add_option("--source", options->mutation.source, "Read shaders/ and ops/ of this source tree")
      ->check(cli::existingFolder())
      ->capture_default_str();
  command->add_option("--json", options->json, "Append each mutant and its result as JSON lines (reports/schema.md)")
      ->check(cli::appendedFile());
  command->footer(
      "ops/<op>/<op>.mutants.json lists mutants that compute the same as the original, each with a reason.\n"
      "Examples:\n"
      "  op-harness mutate --op Softmax\n"
      "  op-harness mutate --backend vulkan --op Conv --limit 0 --shared");
  command->callback([options, &context] {
    context.run = [options, &context] {
      const GracefulInterrupt graceful;
      return MutateRun(*options).run(context.commandLine);
    };
  });
}

}  // namespace opkit::harness
