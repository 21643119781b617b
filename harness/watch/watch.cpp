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
}

std::vector<std::string> Watcher::watchedFiles() const {
  std::vector<std::string> files;
  const fs::path source = options_.source;
  // Any shader folder may belong to these operators (products share gemm's), and all files are small.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(source / "shaders", ignored))
    for (const char* extension : {".comp", ".glsl"}) addFiles(entry.path(), extension, files);
  for (const std::string& folder : folders_)
    files.push_back((source / "ops" / folder / (folder + ".cases.json")).string());
  return files;
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
    any = true;
  }
  return any;
}

std::vector<std::string> Watcher::unbuilt() const {
  if (!options_.changedSources) return {};
  std::vector<std::string> changed = options_.changedSources(options_.source);
  // Every round reads these from the tree.
  std::erase_if(changed, [](const std::string& path) {
    return path.ends_with(".comp") || path.ends_with(".glsl") || path.ends_with(".cases.json");
  });
  return changed;
}

Result<Catalogue> Watcher::readCases() const {
  Catalogue catalogue;
  for (const std::string& folder : folders_) {
    const std::string path = fmt::format("{0}/ops/{1}/{1}.cases.json", options_.source, folder);
    OPKIT_ASSIGN(const auto bytes, readFile(path));
    OPKIT_ASSIGN(Catalogue one, parseCaseFile(path, {bytes.begin(), bytes.end()}, registry_));
    catalogue.append(std::move(one));
  }
  OPKIT_ASSIGN(catalogue, applyFilter(std::move(catalogue), {.ops = options_.ops}, registry_));
  std::stable_sort(catalogue.groups.begin(), catalogue.groups.end(),
                   [](const CaseGroup& a, const CaseGroup& b) { return bytesOf(a) < bytesOf(b); });
  return catalogue;
}

/// In a worker: the round as JSON.
std::string Watcher::work() const {
  const auto begin = std::chrono::steady_clock::now();
  const auto catalogue = readCases();
  if (!catalogue) return Json{{"error", catalogue.error().message()}}.dump();
  auto made = createRuntime("vulkan", {.cacheDir = "off"});
  if (!made) return Json{{"error", made.error().message()}}.dump();
  const auto runtime = std::dynamic_pointer_cast<vulkan::VulkanRuntime>(*made);
  auto sources = std::make_shared<Sources>(Sources{ShaderWorkshop(options_.source), all_, false, changed_, "", {}});
  for (const std::string& path : changed_) sources->include = sources->include || path.ends_with(".glsl");
  runtime->setShaderSource([sources](const vulkan::ShaderCode& code) { return sources->choose(code); });

  Json round = {{"groups", 0}, {"failures", 0}, {"margin", 0.0}, {"blocks", Json::array()}};
  Checker checker(registry_, "vulkan", runtime);
  PreparedGroup largest;
  size_t done = 0;
  for (const CaseGroup& group : catalogue->groups) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (elapsed.count() > options_.budgetSeconds && done > 0) break;
    PreparedGroup prepared = prepareGroup(group, registry_);
    for (const CaseResult& result : checker.checkGroup(prepared)) {
      if (result.accuracy)
        round["margin"] = std::max(round["margin"].get<double>(), std::min(result.accuracy->margin, 1e9));
      if (!isFailure(result.status)) continue;
      round["failures"] = round["failures"].get<size_t>() + 1;
      if (round["blocks"].size() < kBlocks) round["blocks"].push_back(failureBlock(result, ""));
    }
    if (!sources->error.empty()) return Json{{"error", sources->error}}.dump();
    if (!prepared.cases.empty() && prepared.cases[0].status.isOk()) largest = std::move(prepared);
    ++done;
  }
  round["groups"] = done;
  round["left"] = catalogue->groups.size() - done;
  if (!largest.cases.empty() && round["failures"] == 0)
    round["deviceNs"] = deviceNs(largest.cases[0], registry_, runtime);
  if (round["failures"] == 0) addAccess(caseToTrace(*catalogue, largest), registry_, runtime, round);
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
  const IsolationLimits limits{.workers = 1, .timeoutSeconds = options_.timeoutSeconds};
  const Status status = runIsolated(
      1, limits, [&](size_t) { return work(); },
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
