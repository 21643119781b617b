#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "engine/base/printable.h"
#include "harness/check/shrink.h"
#include "harness/commands/chosen_groups.h"
#include "harness/export/case_folder.h"
#include "harness/export/folder_lock.h"
#include "harness/export/read_back.h"
#include "harness/export/round_trip.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kExportTimeoutSeconds = 600;  // of a group
constexpr int kLatestOpset = 1000;

struct ExportArguments {
  GroupChoice choice;
  ExportOptions form;
  std::string folder;
  std::string capsule;  // takes the place of a choice of cases; empty: none
  size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  bool roundTrip = false;
  bool verbose = false;
};

/// The work of one process: the models of a group in folders. The answer is JSON: "folders", "left" with ids and
/// reasons, and "error", which ends the run.
class ExportJob {
 public:
  ExportJob(const ExportArguments& options, const OpRegistry& registry, const OnnxRules& rules)
      : options_(options), registry_(registry), rules_(rules) {}

  std::string run(const CaseGroup& group) {
    noteWork(group.cases.front().id());
    Json answer = {{"folders", Json::array()}, {"left", Json::array()}};
    const ExportedGroup exported = exportGroup(group, registry_, rules_, options_.form);
    for (const auto& [c, reason] : exported.left) answer["left"].push_back({c.id(), reason});
    for (const ExportedModel& model : exported.models) {
      auto folder = write(model);
      if (folder) {
        answer["folders"].push_back(*std::move(folder));
        continue;
      }
      answer["error"] = folder.error().message();
      break;
    }
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

 private:
  Result<Json> write(const ExportedModel& model) const {
    const Case& first = model.sets.front().description;
    const std::string name = folderName(first);
    OPKIT_ASSIGN(const size_t bytes, writeCaseFolder(options_.folder, name, model));
    Json json = {{"op", first.op},
                 {"bytes", bytes},
                 {"cases", model.sets.size()},
                 {"asCase", model.returnsAsCase},
                 {"id", first.id()}};
    if (!options_.roundTrip) return json;
    const fs::path folder = fs::path(options_.folder) / name;
    const Status same = checkRoundTrip(folder.string(), model, registry_, rules_);
    if (!same.isOk()) json["difference"] = same.message();
    std::error_code error;
    fs::remove_all(folder, error);
    if (error) return Status::invalidArgument("cannot remove '{}': {}", folder.string(), error.message());
    return json;
  }

  const ExportArguments& options_;
  const OpRegistry& registry_;
  const OnnxRules& rules_;
};

/// Counts of a run.
struct ExportTally {
  size_t cases = 0, folders = 0, bytes = 0;
  size_t equal = 0, asValues = 0;  // of --round-trip; `asValues`: of models that are imported as other nodes
  size_t failures = 0;
  std::set<std::string> operators;
  std::map<std::string, size_t> reasons;
  size_t left = 0;
  std::string lastReason;
};

/// The kind of a reason: its text before the details.
std::string kindOf(const std::string& reason) { return reason.substr(0, reason.find(": ")); }

class ExportRun {
 public:
  ExportRun(const ExportArguments& options, const OpRegistry& registry, const OnnxRules& rules)
      : options_(options), registry_(registry), rules_(rules) {}

  Result<int> run() {
    if (holdsOtherThanParts(options_.folder)) return notEmpty();
    OPKIT_ASSIGN(const std::vector<CaseGroup> groups, chosenGroups());
    OPKIT_TRY(checkFolderNames(groups));
    noteOldBuild();
    OPKIT_TRY(makeFolder());
    const Status status = exportInto(groups);
    std::error_code ignored;
    if (isNew_) fs::remove(options_.folder, ignored);  // if it is empty
    OPKIT_TRY(status);
    return finish(groups.empty());
  }

 private:
  Result<std::vector<CaseGroup>> chosenGroups() const {
    if (options_.capsule.empty()) return options_.choice.groups(registry_, limits());
    OPKIT_ASSIGN(Capsule capsule, readCapsule(options_.capsule, registry_));
    std::vector<CaseGroup> groups;
    groups.push_back(std::move(capsule.group));
    dropRepeated(groups);
    return groups;
  }

  IsolationLimits limits() const {
    return {
        .workers = options_.jobs, .timeoutSeconds = kExportTimeoutSeconds, .stop = [this] { return !broken_.isOk(); }};
  }

  Status makeFolder() {
    std::error_code error;
    isNew_ = fs::create_directories(options_.folder, error);
    if (error) return Status::invalidArgument("cannot make the folder '{}': {}", options_.folder, error.message());
    return Status::ok();
  }

  /// No other run has the folder meanwhile.
  Status exportInto(const std::vector<CaseGroup>& groups) {
    OPKIT_ASSIGN(const FolderLock lock, FolderLock::tryTake(options_.folder));
    if (holdsOtherThanParts(options_.folder)) return notEmpty();  // another run was faster
    removePartFolders(options_.folder);
    const Status status = exportAll(groups);
    removePartFolders(options_.folder);
    return status;
  }

  Status notEmpty() const {
    return Status::invalidArgument("'{}' is not empty, or cannot be read: expected a new folder", options_.folder);
  }

  Status exportAll(const std::vector<CaseGroup>& groups) {
    ExportJob job(options_, registry_, rules_);
    Progress progress(groups.size(), "groups");
    OPKIT_TRY(runIsolated(
        groups.size(), limits(), [&](size_t i) { return job.run(groups[i]); },
        [&](size_t i, const JobOutcome& outcome) {
          progress.clear();
          if (outcome.kind == JobOutcome::Kind::Answered)
            add(parseJson(outcome.answer));
          else
            fail(groups[i].cases.front().id(), placedLossText(outcome, kExportTimeoutSeconds));
          progress.step(groups[i].cases.front().op);
        }));
    return broken_;
  }

  void add(const Json& answer) {
    for (const Json& folder : answer["folders"]) {
      const size_t cases = folder["cases"];
      tally_.cases += cases;
      tally_.folders += 1;
      tally_.bytes += folder["bytes"].get<size_t>();
      tally_.operators.insert(folder["op"].get<std::string>());
      if (folder.contains("difference"))
        fail(folder["id"], folder["difference"]);
      else
        (folder["asCase"].get<bool>() ? tally_.equal : tally_.asValues) += cases;
    }
    for (const Json& left : answer["left"]) {
      tally_.lastReason = left[1];
      ++tally_.reasons[kindOf(tally_.lastReason)];
      ++tally_.left;
      if (options_.roundTrip && tally_.lastReason.starts_with(kOtherMeaning)) fail(left[0], tally_.lastReason);
      if (options_.verbose)
        fmt::print("no form {}: {}\n", printable(left[0].get<std::string>()), printable(tally_.lastReason));
    }
    if (answer.contains("error")) broken_ = Status::invalidArgument("{}", answer["error"].get<std::string>());
  }

  void fail(const std::string& id, const std::string& reason) {
    ++tally_.failures;
    fmt::print("{} {}: {}\n", coloured(CaseStatus::Fail, "fail"), printable(id), printable(reason));
  }

  Result<int> finish(bool isEmpty) const {
    const std::string& one = options_.capsule.empty() ? options_.choice.cases.id : options_.capsule;
    if (!one.empty() && tally_.left > 0 && tally_.cases == 0)
      return Status::unsupported("{}: no form in ONNX: {}", one, tally_.lastReason);
    if (interrupted()) return finishInterrupted();
    printCounts();
    printReasons();
    if (tally_.failures > 0) return cli::kCheckFailed;
    if (tally_.cases > 0) return cli::kSuccess;
    return nothingRan(isEmpty ? "no case was selected; see `op-harness list`" : "no case has a form in ONNX");
  }

  /// Workers that were ended had written folders of which they had not told.
  int finishInterrupted() const {
    std::error_code ignored;
    const fs::directory_iterator entries(options_.folder, ignored);
    fmt::print("interrupted: {} folders are whole\n", std::distance(fs::begin(entries), fs::end(entries)));
    return cli::kCheckFailed;  // runProgram replaces it by the signal's code
  }

  void printCounts() const {
    if (options_.roundTrip) {
      fmt::print(
          "{} cases of {} operators: {} equal, {} equal in values (imported as other nodes or constants), {} differ, "
          "{} "
          "without a form\n",
          tally_.cases + tally_.left, tally_.operators.size(), tally_.equal, tally_.asValues, tally_.failures,
          tally_.left);
      return;
    }
    fmt::print("{} cases of {} operators in {} folders, {:.1f} MB; {} cases without a form\n", tally_.cases,
               tally_.operators.size(), tally_.folders, static_cast<double>(tally_.bytes) * 1e-6, tally_.left);
  }

  void printReasons() const {
    std::vector<std::pair<size_t, std::string>> sorted;
    for (const auto& [reason, count] : tally_.reasons) sorted.emplace_back(count, reason);
    std::ranges::sort(sorted, std::greater<>());
    Table table({"cases", "without a form"});
    for (const auto& [count, reason] : sorted) table.add({std::to_string(count), printable(reason)});
    if (!table.empty()) fmt::print("{}", table.toString());
  }

  const ExportArguments& options_;
  const OpRegistry& registry_;
  const OnnxRules& rules_;
  ExportTally tally_;
  Status broken_;  // what ended the run
  bool isNew_ = false;
};

}  // namespace

void addExportCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("export", "Write cases as ONNX models with data, for other engines");
  auto options = std::make_shared<ExportArguments>();
  command->add_option("DIR", options->folder, "Write the folders into this new or empty folder")
      ->required()
      ->check(cli::outputFolder());
  options->choice.add(*command);
  command
      ->add_option("--opset", options->form.opset,
                   "Write nodes of this opset of ONNX (default: the oldest that has "
                   "the operator's newest form)")
      ->check(cli::wholeNumber(1, kLatestOpset));
  command->add_option("--jobs", options->jobs, "Use this many worker processes")
      ->capture_default_str()
      ->check(cli::wholeNumber(1, kMostWorkers));
  addShard(*command, options->choice.shard, "the cases");
  CLI::Option* const capsule =
      command->add_option("--capsule", options->capsule, "Take the cases of this file that `check --save` wrote");
  for (const char* choice : {"--op", "--filter", "--case", "--cases", "--seed", "--sample", "--budget", "--shard"})
    capsule->excludes(command->get_option(choice));
  command->add_flag("--round-trip", options->roundTrip,
                    "Read each folder back, compare it with its cases, and remove it");
  command->add_flag("--verbose", options->verbose, "Print each case without a form, with the reason");
  command->footer(
      "Examples:\n"
      "  op-harness export --op Softmax out/softmax\n"
      "  op-harness conformance --backend cpu out/softmax\n"
      "  op-harness export --capsule out/failures/Conv-cpu-accuracy.opcase out/conv\n"
      "  op-harness export --round-trip out/none");
  command->callback([options, &context] {
    context.run = [options]() -> Result<int> {
      const GracefulInterrupt graceful;
      return ExportRun(*options, plugins().registry(), plugins().onnxRules()).run();
    };
  });
}

}  // namespace opkit::harness
