#include "harness/watch/round.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/cases/data.h"
#include "harness/cases/features.h"
#include "harness/cases/reach_catalogue.h"
#include "harness/run/terminal.h"
#include "harness/shaders/shader_workshop.h"
#include "harness/trace/case_access.h"
#include "harness/trace/sanitize_case.h"
#include "harness/watch/operator_build.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr size_t kBlocksOfLane = 3;
constexpr double kSecondsAfterFailure = 1;  // of a lane, also if it has all the time
constexpr double kOtherClassShare = 0.5;    // of the budget, in classes other than the device's own

size_t bytesOfGroup(const CaseGroup& group) {
  size_t bytes = 0;
  for (const Case& c : group.cases)
    for (const auto& input : c.inputs) bytes += input ? input->sizeBytes() : 0;
  return bytes;
}

constexpr int64_t kMostTraced = 16'384;  // elements of an input of a traced case

int64_t largestInput(const PreparedCase& c) {
  int64_t most = 0;
  for (const auto& input : c.description.inputs) most = std::max(most, input ? input->elements() : 0);
  return most;
}

bool intersect(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& one) { return b.contains(one); });
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
    if (const size_t bytes = bytesOfGroup(group); bytes < least && group.cases.front().fallback.empty()) {
      least = bytes;
      smallest = &group.cases.front();
    }
  return smallest ? smallest : &largest.cases.front().description;
}

/// The first case names a group.
std::string groupName(const CaseGroup& group) { return group.cases.front().id(); }

/// How failures name a group: it may fail in one lane only.
std::string failingName(const std::string& lane, const CaseGroup& group) { return lane + " " + groupName(group); }

}  // namespace

/// The shaders of the source tree that replace the build's, and the results of compiling them.
class Sources {
 public:
  explicit Sources(const RoundPlan& plan) : workshop_(plan.source), all_(plan.allFromTree) {
    for (const EditedFile& file : plan.edited)
      if (!file.isCode()) edited_.insert(file.shaders.begin(), file.shaders.end());
  }

  /// With `planned`, for sessions that will not run: notes the shader there, and compiles nothing.
  std::span<const uint32_t> choose(const vulkan::ShaderCode& code) {
    const std::string shader = shaderOf(code.name);
    if (planned) {
      planned->insert(shader);
      return code.spirv;
    }
    ran.insert(shader);
    if (!all_ && !edited_.contains(shader)) return code.spirv;
    const auto made = workshop_.compile(code.name);
    if (!made) {
      error = made.error().message();
      return code.spirv;
    }
    words[code.name] = made->size();
    return *made;
  }

  std::set<std::string>* planned = nullptr;
  std::set<std::string> ran;
  std::string error;
  std::map<std::string, size_t> words;  // by variant

 private:
  ShaderWorkshop workshop_;
  bool all_;
  std::set<std::string> edited_;
};

size_t RoundPlan::lanes() const {
  const bool hasVulkan = std::ranges::count(backends, "vulkan") > 0;
  return backends.size() + (hasVulkan && otherClasses ? 2 * deviceClasses().size() - 1 : 0);
}

std::string LaneReport::toText() const {
  Json unseenFiles = Json::array();
  for (const EditedFile& file : unseen) unseenFiles.push_back({{"path", file.path}, {"shaders", file.shaders}});
  const Json json = {{"lane", lane},          {"error", error},           {"groups", groups},    {"left", left},
                     {"failures", failures},  {"margin", margin},         {"blocks", blocks},    {"failing", failing},
                     {"unseen", unseenFiles}, {"shaders", shaders},       {"words", spirvWords}, {"deviceNs", deviceNs},
                     {"requests", requests},  {"efficiency", efficiency}, {"traced", tracedCase}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<LaneReport> LaneReport::fromText(const std::string& text) {
  const Json json = parseJson(text);
  if (!json.is_object()) return std::nullopt;
  LaneReport report{.lane = json.at("lane"),
                    .error = json.at("error"),
                    .groups = json.at("groups"),
                    .left = json.at("left"),
                    .failures = json.at("failures"),
                    .margin = json.at("margin"),
                    .blocks = json.at("blocks"),
                    .failing = json.at("failing"),
                    .unseen = {},
                    .shaders = json.at("shaders"),
                    .spirvWords = json.at("words"),
                    .deviceNs = json.at("deviceNs"),
                    .efficiency = json.at("efficiency"),
                    .requests = json.at("requests"),
                    .tracedCase = json.at("traced")};
  for (const Json& file : json.at("unseen")) report.unseen.push_back({file.at("path"), file.at("shaders")});
  return report;
}

RoundWorker::RoundWorker(RoundPlan plan, const OpRegistry& registry)
    : plan_(std::move(plan)), built_(registry), sources_(std::make_unique<Sources>(plan_)) {}

RoundWorker::~RoundWorker() = default;

Result<Catalogue> RoundWorker::readCases() const {
  const OpRegistry& registry = own_ ? *own_ : built_;
  Catalogue catalogue;
  for (const std::string& folder : plan_.folders) {
    const std::string path = fmt::format("{0}/ops/{1}/{1}.cases.json", plan_.source, folder);
    OPKIT_ASSIGN(const auto bytes, readFile(path));
    OPKIT_ASSIGN(Catalogue one, parseCaseFile(path, {bytes.begin(), bytes.end()}, registry));
    catalogue.append(std::move(one));
  }
  if (plan_.draws) {
    const ReachOptions options{.filter = plan_.filter, .threads = 1};
    OPKIT_ASSIGN(catalogue, reachCatalogue(std::move(catalogue), registry, plan_.ops, kDefaultSeed, options));
  }
  return applyFilter(std::move(catalogue), {.ops = plan_.ops, .text = plan_.filter}, registry);
}

/// In the worker, before the first lane.
Status RoundWorker::open() {
  if (isOpen_) return Status::ok();
  if (!plan_.library.empty()) {
    OPKIT_ASSIGN(own_, withLibrary(built_, plan_.folders, plan_.library));
  }
  OPKIT_ASSIGN(catalogue_, readCases());
  std::ranges::stable_sort(catalogue_.groups, {}, bytesOfGroup);
  isOpen_ = true;
  return Status::ok();
}

/// The backends as they are, then the other classes and storages of Vulkan.
Result<RoundWorker::Lane> RoundWorker::makeLane(size_t lane) {
  if (lane < plan_.backends.size()) {
    const std::string& backend = plan_.backends[lane];
    OPKIT_ASSIGN(const auto runtime, createRuntime(backend, {.cacheDir = "off"}));
    if (const auto device = vulkan::asVulkan(runtime)) {
      vulkan_ = device;
      device->setShaderSource([this](const vulkan::ShaderCode& code) { return sources_->choose(code); });
    }
    return Lane{backend, backend, true, runtime, {}};
  }
  if (!vulkan_) return Status::internal("lane {} before the one of the device's own class", lane);
  size_t next = plan_.backends.size();
  for (const bool other : {false, true})
    for (const DeviceClass& known : deviceClasses()) {
      const bool isOwn = std::string_view(known.name) == vulkan_->deviceClass().name;
      if ((isOwn && !other) || next++ != lane) continue;
      DeviceClass& made = classes_.emplace_back(known);
      if (other) made.prefersImages = !made.prefersImages;
      const char* storage = !other ? "" : made.prefersImages ? " with images" : " with buffers";
      return Lane{
          fmt::format("vulkan, device class {}{}", known.name, storage), "vulkan", false, vulkan_->inClass(made), {}};
    }
  return Status::internal("a round has {} lanes", plan_.lanes());
}

Result<RoundWorker::Lane*> RoundWorker::openLane(size_t lane) {
  if (const auto found = lanes_.find(lane); found != lanes_.end()) return &found->second;
  OPKIT_ASSIGN(Lane made, makeLane(lane));
  return &lanes_.emplace(lane, std::move(made)).first->second;
}

Checker RoundWorker::checkerFor(Lane& lane) {
  const OpRegistry& registry = own_ ? *own_ : built_;
  Checker checker(registry, lane.backend, lane.runtime);
  const auto runtime = vulkan::asVulkan(lane.runtime);
  if (!runtime) return checker;
  checker.setOneClass(lane.isOwnClass, plan_.source);
  if (plan_.sanitize.empty()) return checker;
  const SanitizerParts parts = *SanitizerParts::parse(plan_.sanitize);   // the command checked it
  const auto workshop = std::make_shared<ShaderWorkshop>(plan_.source);  // shared with copies of the function
  checker.setSanitizer([&registry, runtime, parts, workshop](const PreparedCase& c) {
    return sanitizeCase(c, registry, runtime, parts, {.workshop = workshop.get()});
  });
  return checker;
}

LaneReport RoundWorker::run(size_t lane) {
  LaneReport report;
  Status status = open();
  if (status.isOk() && lane == plan_.lanes()) {
    seek(report);
  } else if (status.isOk()) {
    const Result<Lane*> opened = openLane(lane);
    status = opened.error();
    if (opened) {
      report.lane = (*opened)->name;
      checkLane(**opened, report);
      if (report.error.empty() && report.failures == 0 && (*opened)->isOwnClass) measure(**opened, report);
    }
  }
  if (!status.isOk()) report.error = status.message();
  if (report.error.empty()) report.error = sources_->error;
  report.unseen = unseen();
  report.shaders = plan_.shaders;
  for (const auto& [variant, size] : sources_->words) report.spirvWords += size;
  return report;
}

/// Groups that failed first, then those that run an edited shader, then the smallest.
std::vector<const CaseGroup*> RoundWorker::orderedGroups(const Lane& lane) const {
  std::vector<const CaseGroup*> groups;
  for (const CaseGroup& group : catalogue_.groups) groups.push_back(&group);
  std::ranges::stable_sort(groups, {}, [&](const CaseGroup* group) {
    if (plan_.failing.contains(failingName(lane.name, *group))) return 0;
    return mayRunEdited(lane, *group) ? 1 : 2;
  });
  return groups;
}

/// False if its shaders are known and none was edited; true for groups that were not looked at if only these count.
bool RoundWorker::mayRunEdited(const Lane& lane, const CaseGroup& group) const {
  const auto of = plan_.shaders.find(lane.name);
  const bool isKnown = of != plan_.shaders.end() && of->second.contains(groupName(group));
  if (!isKnown) return plan_.onlyShaders;
  return std::ranges::any_of(
      plan_.edited, [&](const EditedFile& file) { return intersect(file.shaders, of->second.at(groupName(group))); });
}

bool RoundWorker::runsEdited(Lane& lane, const CaseGroup& group) {
  const std::set<std::string>& shaders = shadersOf(lane, group);
  return std::ranges::any_of(plan_.edited, [&](const EditedFile& file) { return intersect(file.shaders, shaders); });
}

/// Plans a Session per case, if they are not known.
const std::set<std::string>& RoundWorker::shadersOf(Lane& lane, const CaseGroup& group) {
  const auto [at, isNew] = plan_.shaders[lane.name].try_emplace(groupName(group));
  if (!isNew) return at->second;
  const OpRegistry& registry = own_ ? *own_ : built_;
  sources_->planned = &at->second;
  for (const Case& c : group.cases) {
    const auto inputs = makeInputs(c, *registry.find(c.op));
    if (!inputs) continue;
    const auto interpreter = makeOpInterpreter(c, registry, *inputs);
    if (!interpreter) continue;
    const auto session = (*interpreter)->createSession({.backend = lane.backend}, lane.runtime);
    if (session && feed(**session, c, *inputs).isOk()) (void)(*session)->resize();  // the check of the case says why
  }
  sources_->planned = nullptr;
  return at->second;
}

void RoundWorker::checkLane(Lane& lane, LaneReport& report) {
  const auto begin = std::chrono::steady_clock::now();
  const double most = plan_.budgetSeconds * (lane.isOwnClass ? 1 : kOtherClassShare);
  const auto isOver = [&] {
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return elapsed > (report.failures > 0 ? std::min(most, kSecondsAfterFailure) : most);
  };
  Checker checker = checkerFor(lane);
  const bool onlyEdited = plan_.onlyShaders && lane.backend == "vulkan";
  for (const CaseGroup* group : orderedGroups(lane)) {
    if (onlyEdited && !mayRunEdited(lane, *group)) continue;
    if (report.groups > 0 && isOver()) {
      ++report.left;
      continue;
    }
    if (onlyEdited && !runsEdited(lane, *group)) continue;
    checkGroup(lane, checker, *group, report);
    if (!sources_->error.empty()) return;
  }
  traceEdited(lane, report);
  if (lane.isOwnClass && !plan_.onlyShaders) checkRefusals(checker, report);
}

void RoundWorker::noteEdited(Lane& lane, const PreparedGroup& group) const {
  const std::set<std::string>& shaders = plan_.shaders.at(lane.name).at(group.cases.front().description.id());
  if (std::ranges::none_of(plan_.edited, [&](const EditedFile& file) { return intersect(file.shaders, shaders); }))
    return;
  for (const PreparedCase& c : group.cases) {
    const int64_t elements = largestInput(c);
    if (!c.status.isOk() || elements > kMostTraced) continue;
    if (!lane.smallest || elements < largestInput(*lane.smallest)) lane.smallest = c;
    if (!lane.largest || elements > largestInput(*lane.largest)) lane.largest = c;
  }
}

/// A race, or an access outside a tensor, may leave the values right.
void RoundWorker::traceEdited(Lane& lane, LaneReport& report) {
  const auto runtime = vulkan::asVulkan(lane.runtime);
  if (!lane.smallest || !plan_.sanitize.empty() || !runtime || report.failures > 0) return;
  const std::string smallest = lane.smallest->description.id();
  for (const PreparedCase* c : {&*lane.smallest, &*lane.largest}) {
    if (report.failures > 0 || (c == &*lane.largest && c->description.id() == smallest)) break;
    const Status status = sanitizeCase(*c, own_ ? *own_ : built_, runtime, {.race = true, .bounds = true, .init = true},
                                       {.source = plan_.source});
    if (status.isOk() || status.code() == StatusCode::Unsupported) continue;
    CaseResult result;
    result.id = c->description.id();
    result.name = c->description.name;
    result.op = c->description.op;
    result.check("sanitize", status);
    addResults({result}, lane.name, report);
  }
}

/// What the operators refuse, and stored shapes.
void RoundWorker::checkRefusals(Checker& checker, LaneReport& report) {
  std::vector<CaseResult> results;
  for (const ErrorCase& error : catalogue_.errors) results.push_back(checker.checkError(error));
  for (const CaseGroup& group : catalogue_.shapes) results.push_back(checker.checkShapes(group));
  addResults(results, checker.backend(), report);
}

/// True if one of them failed.
bool RoundWorker::addResults(const std::vector<CaseResult>& results, const std::string& lane, LaneReport& report) {
  const size_t before = report.failures;
  for (const CaseResult& result : results) {
    if (result.accuracy) report.margin = std::max(report.margin, std::min(result.accuracy->margin, 1e9));
    if (!isFailure(result.status)) continue;
    ++report.failures;
    if (report.blocks.size() >= kBlocksOfLane) continue;
    CaseResult named = result;
    named.backend = lane;
    report.blocks.push_back(failureBlock(named, ""));
  }
  return report.failures > before;
}

/// Briefly: in other classes, groups that run no edited shader; pairs of features.
void RoundWorker::checkGroup(Lane& lane, Checker& checker, const CaseGroup& group, LaneReport& report) {
  const OpRegistry& registry = own_ ? *own_ : built_;
  const bool isOther = !lane.isOwnClass && !plan_.onlyShaders && !runsEdited(lane, group);
  const bool isBrief = isOther || isDrawnPair(group.cases.front());
  PreparedGroup prepared = prepareGroup(group, registry, isBrief);
  const std::set<std::string> before = std::exchange(sources_->ran, {});
  const std::vector<CaseResult> results = checker.checkGroup(prepared);
  plan_.shaders[lane.name][groupName(group)] = sources_->ran;
  noteEdited(lane, prepared);
  sources_->ran.insert(before.begin(), before.end());
  lane.checked.insert(groupName(group));
  ++report.groups;
  if (addResults(results, lane.name, report)) report.failing.insert(failingName(lane.name, group));
  if (lane.isOwnClass && lane.backend == "vulkan" && !prepared.cases.empty() && prepared.cases[0].status.isOk())
    largest_ = std::move(prepared);
}

std::vector<EditedFile> RoundWorker::unseen() const {
  std::vector<EditedFile> files;
  for (const EditedFile& file : plan_.edited)
    if (!intersect(file.shaders, sources_->ran)) files.push_back(file);
  return files;
}

void RoundWorker::seek(LaneReport& report) {
  for (auto& entry : lanes_) {
    Lane& lane = entry.second;
    if (lane.backend != "vulkan") continue;
    Checker checker = checkerFor(lane);
    for (const CaseGroup& group : catalogue_.groups) {
      const std::vector<EditedFile> wanted = unseen();
      if (wanted.empty()) return;
      if (lane.checked.contains(groupName(group))) continue;
      const auto runs = [&](const EditedFile& file) { return intersect(file.shaders, shadersOf(lane, group)); };
      if (std::ranges::any_of(wanted, runs)) checkGroup(lane, checker, group, report);
      if (!sources_->error.empty()) return;
    }
  }
}

/// What the cases ask of a device and of a GPU's memory; nothing if it cannot be traced.
void RoundWorker::measure(Lane& lane, LaneReport& report) {
  const auto runtime = vulkan::asVulkan(lane.runtime);
  if (!runtime || largest_.cases.empty()) return;
  const OpRegistry& registry = own_ ? *own_ : built_;
  report.deviceNs = deviceNs(largest_.cases[0], registry, runtime);
  const Case& c = *caseToTrace(catalogue_, largest_);
  const auto inputs = makeInputs(c, *registry.find(c.op));
  if (!inputs) return;
  const auto trace = traceCase(c, *inputs, registry, runtime, {});
  if (!trace || trace->dispatches.empty()) return;
  const Gpu* const gpu = &gpus()[0];
  const CaseAccess access = accessOf(*trace, *inputs, {&gpu, 1});
  report.efficiency = access.sums.efficiency;
  report.requests = access.sums.requests;
  report.tracedCase = c.id();
}

}  // namespace opkit::harness
