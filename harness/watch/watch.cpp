#include "harness/watch/watch.h"

#include <chrono>

#include "harness/run/isolated_jobs.h"
#include "harness/run/source_table.h"
#include "harness/watch/edited_operators.h"
#include "harness/watch/operator_build.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlocksOfRound = 3;

void addFiles(const fs::path& folder, const char* extension, std::vector<std::string>& files) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
}

bool isShader(const std::string& path) { return path.ends_with(".comp") || path.ends_with(".glsl"); }

}  // namespace

Watcher::Watcher(WatchOptions options, const OpRegistry& registry) : options_(std::move(options)), registry_(registry) {
  for (const std::string& op : options_.ops)
    if (const OpDef* def = registry.find(op)) folders_.insert(def->folder);
  poll();
  changed_.clear();
  fresh_.clear();
}

std::vector<std::string> Watcher::watchedFiles() const {
  std::vector<std::string> files;
  const fs::path source = options_.source;
  // Any shader folder may belong to these operators (products share gemm's), and all files are small.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(source / "shaders", ignored))
    for (const char* extension : {".comp", ".glsl"}) addFiles(entry.path(), extension, files);
  for (const std::string& folder : folders_) {
    files.push_back((source / "ops" / folder / (folder + ".cases.json")).string());
    if (options_.buildOperators)
      for (const char* extension : {".cpp", ".h"}) addFiles(source / "ops" / folder, extension, files);
  }
  return files;
}

/// C++ of the operators' own folders, which a round compiles.
bool Watcher::isOwnCode(const std::string& path) const {
  return options_.buildOperators && (path.ends_with(".cpp") || path.ends_with(".h")) && !isOutsideLibrary(path) &&
         std::ranges::any_of(folders_,
                             [&](const std::string& folder) { return path.starts_with("ops/" + folder + "/"); });
}

/// Of the own C++, the files that differ from the program's.
std::vector<std::string> Watcher::changedCode() const {
  if (!options_.changedSources) return {};
  std::vector<std::string> changed = options_.changedSources(options_.source);
  std::erase_if(changed, [&](const std::string& path) { return !isOwnCode(path); });
  return changed;
}

/// The operators' case files that differ from the program's.
std::vector<std::string> Watcher::changedCases() const {
  if (!options_.changedSources) return {};
  std::vector<std::string> changed = options_.changedSources(options_.source);
  std::erase_if(changed, [this](const std::string& path) {
    return std::ranges::none_of(
        folders_, [&](const std::string& folder) { return path == fmt::format("ops/{0}/{0}.cases.json", folder); });
  });
  return changed;
}

/// Paths below the source tree that changed since the last round; in the first, those that differ from the program's.
std::set<std::string> Watcher::freshPaths(const std::vector<std::string>& code) {
  std::set<std::string> paths;
  for (const std::string& path : std::exchange(fresh_, {})) paths.insert(fs::relative(path, options_.source).string());
  if (!paths.empty()) return paths;
  paths.insert(code.begin(), code.end());
  std::ranges::copy(changedCases(), std::inserter(paths, paths.end()));
  return paths;
}

/// The backends that changes concern: kernels of one backend that backend, other C++ and cases both, all else Vulkan.
std::vector<std::string> Watcher::chooseBackends(const std::set<std::string>& fresh) const {
  bool cpu = false, vulkan = false;
  for (const std::string& path : fresh) {
    const bool isCode = path.ends_with(".cpp") || path.ends_with(".h");
    const bool isCases = path.ends_with(".cases.json");
    const bool isVulkan = (!isCode && !isCases) || path.ends_with("_vulkan.cpp") || path.ends_with("_vulkan.h");
    const bool isCpu = isCode && (path.ends_with("_cpu.cpp") || path.ends_with("_onednn.cpp") ||
                                  path.ends_with("_vectors.cpp") || path.ends_with("_wide.cpp"));
    vulkan = vulkan || !isCpu;
    cpu = cpu || !isVulkan;
  }
  if (!options_.backends.empty()) return options_.backends;
  if (!cpu) return {"vulkan"};
  return vulkan ? std::vector<std::string>{"cpu", "vulkan"} : std::vector<std::string>{"cpu"};
}

/// Shaders that changed since the start or differ from the program's, and C++ of kernels that differs.
std::vector<EditedFile> Watcher::editedSources() const {
  std::set<std::string> paths;
  for (const std::string& path : changed_)
    if (isShader(path)) paths.insert(fs::relative(path, options_.source).string());
  if (options_.changedSources)
    for (const std::string& path : options_.changedSources(options_.source))
      if (isShader(path) || isOwnCode(path)) paths.insert(path);
  return editedFiles(options_.source, paths);
}

bool Watcher::poll() {
  bool any = false;
  for (const std::string& path : watchedFiles()) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    if (error) continue;
    const auto [known, isNew] = times_.try_emplace(path, time);
    if (isNew || known->second == time) continue;
    known->second = time;
    changed_.insert(path);
    fresh_.insert(path);
    any = true;
  }
  return any;
}

std::vector<std::string> Watcher::unbuilt() const {
  if (!options_.changedSources) return {};
  std::vector<std::string> changed = options_.changedSources(options_.source);
  // Every round reads these from the tree.
  std::erase_if(changed, [this](const std::string& path) {
    return isOwnCode(path) || path.ends_with(".comp") || path.ends_with(".glsl") || path.ends_with(".cases.json");
  });
  return changed;
}

RoundPlan Watcher::planOf(const std::vector<std::string>& code) {
  const std::set<std::string> fresh = freshPaths(code);
  RoundPlan plan{.ops = options_.ops,
                 .folders = folders_,
                 .source = options_.source,
                 .filter = options_.filter,
                 .sanitize = options_.sanitize,
                 .library = "",
                 .backends = chooseBackends(fresh),
                 .edited = editedSources(),
                 .allFromTree = all_,
                 .draws = options_.draws,
                 .budgetSeconds = options_.budgetSeconds,
                 .failing = failing_,
                 .shaders = {}};
  plan.otherClasses = all_ || !fresh.empty() || !plan.edited.empty();
  plan.onlyShaders = !all_ && !plan.edited.empty() && std::ranges::all_of(fresh, isShader);
  if (!std::ranges::all_of(fresh, isShader)) shaders_.clear();
  plan.shaders = shaders_;
  return plan;
}

Status Watcher::build(const std::vector<std::string>& code, RoundPlan& plan, WatchRound& round) const {
  if (code.empty()) return Status::ok();
  const auto start = std::chrono::steady_clock::now();
  auto library = options_.buildOperators();
  round.buildSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  OPKIT_TRY(library.error());
  plan.library = *std::move(library);
  return Status::ok();
}

/// "shaders/gemm/gemm_thin.comp: no case of Softmax runs it in any device class; Gemm, MatMul do: `op-harness ...`"
std::string Watcher::describeUnseen(const EditedFile& file, const RoundPlan& plan) const {
  const std::string narrowed = options_.filter.empty() ? "" : fmt::format(" with --filter '{}'", options_.filter);
  const std::string mine = fmt::format("no case of {}{} runs it", fmt::join(options_.ops, ", "), narrowed);
  if (std::ranges::count(plan.backends, "vulkan") == 0)
    return fmt::format("{}: {}: only the backend vulkan does", file.path, mine);
  if (file.shaders.empty()) return fmt::format("{}: no shader includes it", file.path);
  std::vector<std::string> others;
  for (const std::string& shader : file.shaders)
    for (const std::string& op : operatorsOf(shader, options_.source, registry_))
      if (std::ranges::count(options_.ops, op) == 0 && std::ranges::count(others, op) == 0) others.push_back(op);
  const std::string text = fmt::format("{}: {} in any device class", file.path, mine);
  if (others.empty())
    return text + "; build op-harness: `op-harness check --backend vulkan` runs what the engine uses it for";
  return fmt::format("{}; `op-harness watch --op {} --once` may", text, fmt::join(others, ","));
}

void Watcher::take(const LaneReport& report, bool isLast, WatchRound& round) {
  round.error = report.error;
  round.groups += report.groups;
  round.groupsLeft += report.left;
  round.failures += report.failures;
  for (const std::string& block : report.blocks)
    if (round.blocks.size() < kBlocksOfRound) round.blocks.push_back(block);
  failing_.insert(report.failing.begin(), report.failing.end());
  round.margin = std::max(round.margin, report.margin);
  round.spirvWords = std::max(round.spirvWords, report.spirvWords);
  shaders_ = report.shaders;
  if (!isLast && report.groups > 0) round.lanes.push_back(report.lane);
  if (report.lane == "vulkan") round.own = report;
}

/// One after the other, to the first failure; then for edited files that none executed.
void Watcher::runLanes(const RoundPlan& plan, WatchRound& round) {
  const size_t jobs = plan.lanes() + 1;
  RoundWorker worker(plan, registry_);
  std::vector<EditedFile> unseen = plan.edited;
  bool ended = false;
  const IsolationLimits limits{.workers = 1, .timeoutSeconds = options_.timeoutSeconds, .stop = [&] { return ended; }};
  const Status status = runIsolated(
      jobs, limits, [&](size_t lane) { return worker.run(lane).toText(); },
      [&](size_t lane, const JobOutcome& outcome) {
        const auto report = LaneReport::fromText(outcome.answer);
        if (outcome.kind != JobOutcome::Kind::Answered || !report) {
          round.crashed = ended = true;
          const std::string where = lane < plan.lanes() ? plan.nameOf(lane) : "in a device class";
          round.error = (outcome.kind == JobOutcome::Kind::TimedOut ? "it hangs" : "it crashes: " + outcome.answer) +
                        " (" + where + ")";
          return;
        }
        take(*report, lane + 1 == jobs, round);
        unseen = report->unseen;
        ended = !round.error.empty() || round.failures > 0;
      });
  if (!status.isOk()) round.error = status.message();
  if (!ended && status.isOk())
    for (const EditedFile& file : unseen) round.unseen.push_back(describeUnseen(file, plan));
}

WatchRound Watcher::run() {
  WatchRound round;
  if (const std::vector<std::string> changed = unbuilt(); !changed.empty()) {
    round.error = fmt::format(
        "nothing was checked: this program was built of another {}; build op-harness, and start watch again once that "
        "went well",
        listOf(changed));
    return round;
  }
  const std::vector<std::string> code = changedCode();
  RoundPlan plan = planOf(code);
  if (const Status status = build(code, plan, round); !status.isOk()) {
    round.error = status.message();
    return round;
  }
  failing_.clear();
  runLanes(plan, round);
  return round;
}

}  // namespace opkit::harness
