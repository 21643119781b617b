#include "harness/watch/watch.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/model/model.h"
#include "harness/cases/data.h"
#include "harness/check/check.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/source_table.h"
#include "harness/run/terminal.h"
#include "harness/shaders/shader_workshop.h"
#include "harness/trace/case_access.h"
#include "harness/watch/operator_build.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kBlocks = 3;

void addFiles(const fs::path& folder, const char* extension, std::vector<std::string>& files) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
}

size_t bytesOf(const CaseGroup& group) {
  size_t bytes = 0;
  for (const Case& c : group.cases)
    for (const auto& input : c.inputs) bytes += input ? input->sizeBytes() : 0;
  return bytes;
}

/// The best of a few runs on the device's clock; 0 if it has none.
double deviceNs(const PreparedCase& c, const OpRegistry& registry, const std::shared_ptr<Runtime>& runtime) {
  const auto interpreter = makeOpInterpreter(c.description, registry, c.inputs);
  if (!interpreter) return 0;
  const auto session = (*interpreter)->createSession({.backend = "vulkan", .profile = true}, runtime);
  if (!session || !feed(**session, c.description, c.inputs).isOk()) return 0;
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    if (!(*session)->run().isOk()) return 0;
    double sum = 0;
    for (const Placement& row : (*session)->placement()) sum += std::max(row.deviceNs, 0.0);
    if (i == 0 || sum < best) best = sum;
  }
  return best;
}

/// The smallest entry that has a size, else the largest case that was checked.
const Case* caseToTrace(const Catalogue& catalogue, const PreparedGroup& largest) {
  const Case* smallest = nullptr;
  size_t least = SIZE_MAX;
  for (const CaseGroup& group : catalogue.sized)
    if (const size_t bytes = bytesOf(group); bytes < least && group.cases.front().fallback.empty()) {
      least = bytes;
      smallest = &group.cases.front();
    }
  return smallest ? smallest : largest.cases.empty() ? nullptr : &largest.cases.front().description;
}

/// Adds what the case asks of a GPU's memory; nothing if it cannot be traced.
void addAccess(const Case* c, const OpRegistry& registry, const std::shared_ptr<vulkan::VulkanRuntime>& runtime,
               Json& round) {
  if (!c) return;
  const auto inputs = makeInputs(*c, *registry.find(c->op));
  if (!inputs) return;
  const auto trace = traceCase(*c, *inputs, registry, runtime, {});
  if (!trace || trace->dispatches.empty()) return;
  const Gpu* const gpu = &gpus()[0];
  const CaseAccess access = accessOf(*trace, *inputs, {&gpu, 1});
  round["efficiency"] = access.sums.efficiency;
  round["requests"] = access.sums.requests;
  round["traced"] = c->id();
}

/// The shaders of the source tree that replace the build's, and the results of compiling them.
struct Sources {
  ShaderWorkshop workshop;
  bool all = false;
  bool include = false;           // a shared file changed: every shader may differ
  std::set<std::string> changed;  // paths
  std::string error;
  std::map<std::string, size_t> words;  // by variant

  std::span<const uint32_t> choose(const vulkan::ShaderCode& code) {
    const std::string path = workshop.pathOf(shaderOf(code.name));
    if (!all && !include && !changed.contains(path)) return code.spirv;
    const auto made = workshop.compile(code.name);
    if (!made) {
      error = made.error().message();
      return code.spirv;
    }
    words[code.name] = made->size();
    return *made;
  }
};

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
  return options_.buildOperators && (path.ends_with(".cpp") || path.ends_with(".h")) &&
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

/// The backends that the last changes concern: kernels of one backend that backend, other C++ and cases both, all else
/// Vulkan.
std::vector<std::string> Watcher::chooseBackends(const std::vector<std::string>& code) {
  std::set<std::string> paths(fresh_);
  if (fresh_.empty()) {  // the first round
    paths.insert(code.begin(), code.end());
    std::ranges::copy(changedCases(), std::inserter(paths, paths.end()));
  }
  fresh_.clear();
  bool cpu = false, vulkan = false;
  for (const std::string& path : paths) {
    const bool isCode = path.ends_with(".cpp") || path.ends_with(".h");
    const bool isCases = path.ends_with(".cases.json");
    const bool isVulkan = (!isCode && !isCases) || path.ends_with("_vulkan.cpp") || path.ends_with("_vulkan.h");
    const bool isCpu = isCode && (path.ends_with("_cpu.cpp") || path.ends_with("_onednn.cpp") ||
                                  path.ends_with("_vectors.cpp") || path.ends_with("_wide.cpp"));
    vulkan = vulkan || !isCpu;
    cpu = cpu || !isVulkan;
  }
  if (!cpu) return {"vulkan"};
  return vulkan ? std::vector<std::string>{"cpu", "vulkan"} : std::vector<std::string>{"cpu"};
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

/// The first case names a group.
static std::string groupName(const CaseGroup& group, const std::string& backend) {
  return backend + " " + group.cases.front().id();
}

Result<Catalogue> Watcher::readCases(const OpRegistry& registry) const {
  Catalogue catalogue;
  for (const std::string& folder : folders_) {
    const std::string path = fmt::format("{0}/ops/{1}/{1}.cases.json", options_.source, folder);
    OPKIT_ASSIGN(const auto bytes, readFile(path));
    OPKIT_ASSIGN(Catalogue one, parseCaseFile(path, {bytes.begin(), bytes.end()}, registry));
    catalogue.append(std::move(one));
  }
  OPKIT_ASSIGN(catalogue, applyFilter(std::move(catalogue), {.ops = options_.ops}, registry));
  std::stable_sort(catalogue.groups.begin(), catalogue.groups.end(),
                   [](const CaseGroup& a, const CaseGroup& b) { return bytesOf(a) < bytesOf(b); });
  return catalogue;
}

/// What a worker needs besides the options.
struct Watcher::Job {
  std::string library;  // of the operators' C++; empty: the program's
  std::vector<std::string> backends;
};

namespace {

/// A round on one backend, in a worker.
class RoundChecks {
 public:
  RoundChecks(const OpRegistry& registry, std::shared_ptr<Runtime> runtime, std::string backend, Json& round)
      : registry_(registry), runtime_(std::move(runtime)), backend_(std::move(backend)), round_(round) {}

  /// Checks groups, smallest first but for those that failed, for so many seconds, and at least one.
  void check(std::vector<CaseGroup> groups, const std::set<std::string>& failing, double seconds,
             const std::string& error) {
    std::ranges::stable_sort(groups, {},
                             [&](const CaseGroup& group) { return !failing.contains(groupName(group, backend_)); });
    const auto begin = std::chrono::steady_clock::now();
    Checker checker(registry_, backend_, runtime_);
    size_t done = 0;
    for (const CaseGroup& group : groups) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (elapsed.count() > seconds && done > 0) break;
      PreparedGroup prepared = prepareGroup(group, registry_);
      for (const CaseResult& result : checker.checkGroup(prepared)) add(result, group);
      if (!error.empty()) return;
      if (!prepared.cases.empty() && prepared.cases[0].status.isOk()) largest_ = std::move(prepared);
      ++done;
    }
    round_["groups"] = round_["groups"].get<size_t>() + done;
    round_["left"] = round_["left"].get<size_t>() + groups.size() - done;
  }

  const PreparedGroup& largest() const { return largest_; }

 private:
  void add(const CaseResult& result, const CaseGroup& group) {
    if (result.accuracy)
      round_["margin"] = std::max(round_["margin"].get<double>(), std::min(result.accuracy->margin, 1e9));
    if (!isFailure(result.status)) return;
    round_["failures"] = round_["failures"].get<size_t>() + 1;
    const std::string name = groupName(group, backend_);
    if (round_["failing"].empty() || round_["failing"].back() != name) round_["failing"].push_back(name);
    if (round_["blocks"].size() < kBlocks) round_["blocks"].push_back(failureBlock(result, ""));
  }

  const OpRegistry& registry_;
  std::shared_ptr<Runtime> runtime_;  // shared with its Sessions
  std::string backend_;
  Json& round_;
  PreparedGroup largest_;
};

}  // namespace

/// In a worker: the round as JSON.
std::string Watcher::work(const Job& job) const {
  const auto failed = [](const Status& status) { return Json{{"error", status.message()}}.dump(); };
  std::optional<OpRegistry> own;
  if (!job.library.empty()) {
    auto replaced = withLibrary(registry_, folders_, job.library);
    if (!replaced) return failed(replaced.error());
    own = *std::move(replaced);
  }
  const OpRegistry& registry = own ? *own : registry_;
  const auto catalogue = readCases(registry);
  if (!catalogue) return failed(catalogue.error());
  Json round = {{"groups", 0},
                {"left", 0},
                {"failures", 0},
                {"margin", 0.0},
                {"blocks", Json::array()},
                {"failing", Json::array()}};
  auto sources = std::make_shared<Sources>(Sources{ShaderWorkshop(options_.source), all_, false, changed_, "", {}});
  for (const std::string& path : changed_) sources->include = sources->include || path.ends_with(".glsl");
  for (const std::string& backend : job.backends) {
    const auto runtime = createRuntime(backend, {.cacheDir = "off"});
    if (!runtime) return failed(runtime.error());
    const auto device = vulkan::asVulkan(*runtime);
    if (device) device->setShaderSource([sources](const vulkan::ShaderCode& code) { return sources->choose(code); });
    RoundChecks checks(registry, *runtime, backend, round);
    checks.check(catalogue->groups, failing_, options_.budgetSeconds, sources->error);
    if (!sources->error.empty()) return Json{{"error", sources->error}}.dump();
    if (!device || round["failures"] != 0) continue;
    if (!checks.largest().cases.empty()) round["deviceNs"] = deviceNs(checks.largest().cases[0], registry, device);
    addAccess(caseToTrace(*catalogue, checks.largest()), registry, device, round);
  }
  size_t words = 0;
  for (const auto& [variant, size] : sources->words) words += size;
  round["words"] = words;
  return round.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  Job job{.backends = round.backends = chooseBackends(code)};
  if (!code.empty()) {
    const auto start = std::chrono::steady_clock::now();
    auto library = options_.buildOperators();
    round.buildSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!library) {
      round.error = library.error().message();
      return round;
    }
    job.library = *std::move(library);
  }
  const IsolationLimits limits{.workers = 1, .timeoutSeconds = options_.timeoutSeconds};
  const Status status = runIsolated(
      1, limits, [&](size_t) { return work(job); },
      [&](size_t, const JobOutcome& outcome) {
        const Json answer = Json::parse(outcome.answer, nullptr, false);
        if (outcome.kind != JobOutcome::Kind::Answered || !answer.is_object()) {
          round.crashed = true;
          round.error = outcome.kind == JobOutcome::Kind::TimedOut ? "it hangs" : "it crashes: " + outcome.answer;
          return;
        }
        round.error = answer.value("error", "");
        round.groups = answer.value("groups", size_t{0});
        round.groupsLeft = answer.value("left", size_t{0});
        round.failures = answer.value("failures", size_t{0});
        round.blocks = answer.value("blocks", std::vector<std::string>());
        failing_ = answer.value("failing", std::set<std::string>());
        round.margin = answer.value("margin", 0.0);
        round.deviceNs = answer.value("deviceNs", 0.0);
        round.efficiency = answer.value("efficiency", 0.0);
        round.requests = answer.value("requests", 0.0);
        round.tracedCase = answer.value("traced", "");
        round.spirvWords = answer.value("words", size_t{0});
      });
  if (!status.isOk()) round.error = status.message();
  return round;
}

}  // namespace opkit::harness
