#include "harness/commands/check_job.h"

#include <chrono>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

#include "engine/base/child_process.h"
#include "engine/base/json_text.h"
#include "engine/tools/driver.h"
#include "harness/run/build_facts.h"
#include "harness/run/terminal.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/pipelines_made.h"
#include "harness/shaders/shader_workshop.h"
#include "harness/trace/sanitize_case.h"
#endif
#include "reports/results/record_json.h"

namespace opkit::harness {

using Json = nlohmann::json;

std::string JobReports::toText() const {
  Json list = Json::array();
  for (const JobReport& report : reports)
    list.push_back({{"record", toJson(report.record)}, {"block", report.block}, {"kernels", report.variantKernels}});
  return Json{{"reports", list}, {"dispatches", dispatches}, {"pipelines", pipelines}, {"makingSeconds", makingSeconds}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

JobReports JobReports::fromText(const std::string& text) {
  const Json json = parseJson(text);
  JobReports job;
  if (!json.is_object()) return job;
  for (const Json& report : json.value("reports", Json::array()))
    job.reports.push_back({reports::caseFromJson(report.value("record", Json::object())), report.value("block", ""),
                           report.value("kernels", std::set<std::string>())});
  job.dispatches = json.value("dispatches", uint64_t{0});
  job.pipelines = json.value("pipelines", uint64_t{0});
  job.makingSeconds = json.value("makingSeconds", 0.0);
  return job;
}

std::string repeatCommand(const BackendOptions& backends, const std::string& backend, const std::string& id,
                          const std::string& op) {
  std::string command = fmt::format("op-harness check --backend {}", backend);
  if (!backends.mask.empty() && backend == "vulkan") command += " --mask " + shellQuoted(backends.mask);
  const char* const deviceClass = std::getenv("OPKIT_DEVICE_CLASS");
  if (deviceClass && backend == "vulkan") command += fmt::format(" --device-class {}", deviceClass);
  if (const std::string driver = cli::driverOptions(); !driver.empty() && backend == "vulkan") command += " " + driver;
  if (!backends.sanitize.empty() && backend == "vulkan") command += " --sanitize " + backends.sanitize;
  if (!backends.oracle.path.empty()) command += " --oracle " + shellQuoted(backends.oracle.path);
  if (!backends.margins.empty()) command += " --margins " + shellQuoted(backends.margins);
  if (!backends.simd.empty() && backend == "cpu") command += " --simd " + backends.simd;
  const char* const validations[] = {"off", "core", "sync", "gpu"};
  if (backends.validation != Validation::Off && backend == "vulkan")
    command += fmt::format(" --validation {}", validations[static_cast<size_t>(backends.validation)]);
  for (const PluginInfo& plugin : plugins().plugins()) command += fmt::format(" --plugin {}", shellQuoted(plugin.path));
  const bool isCase = !id.starts_with("error:") && !id.starts_with("shapes:");
  return command + (!isCase ? " --op " + op : " --case " + shellQuoted(id));
}

Status CheckJob::open() {
  if (!backends_.oracle.path.empty()) {
    OPKIT_ASSIGN(ScriptOracle script, ScriptOracle::start(backends_.oracle));
    script_.emplace(std::move(script));
  }
  OPKIT_ASSIGN(const std::vector<BackendLane> lanes, openBackends(backends_));
  for (const BackendLane& lane : lanes) {
    checkers_.emplace_back(registry_, lane.name, lane.runtime);
    checkers_.back().setRuntimeOptions(lane.options);
    if (margins_) checkers_.back().setMargins(*margins_);
    checkers_.back().setShaderLog(ShaderLog::attach(*lane.runtime));
    OPKIT_TRY(addSanitizer(lane));
  }
  return Status::ok();
}

Status CheckJob::addSanitizer(const BackendLane& lane) {
#ifdef OPKIT_HAS_VULKAN
  const auto runtime = vulkan::asVulkan(lane.runtime);
  if (backends_.sanitize.empty() || !runtime) return Status::ok();
  OPKIT_ASSIGN(const SanitizerParts parts, SanitizerParts::parse(backends_.sanitize));
  const auto workshop = std::make_shared<ShaderWorkshop>(sourceFolder());
  checkers_.back().setSanitizer([this, runtime, parts, workshop](const PreparedCase& c) {
    return sanitizeCase(c, registry_, runtime, parts, {.workshop = workshop.get()});
  });
#endif
  return Status::ok();
}

void CheckJob::add(JobReports& job, const std::vector<CaseResult>& results) const {
  for (const CaseResult& result : results) {
    CaseRecord record = toRecord(result);
    record.repro = repeatCommand(backends_, result.backend, result.id, result.op);
    job.reports.push_back(
        {record, isFailure(result.status) ? failureBlock(result, record.repro) : "", result.variantKernels});
  }
}

std::optional<CaseResult> CheckJob::skipped(const Checker& checker, const Case& c, const std::string& id) const {
  const Expectation* const line = expectations_ ? expectations_->skipOf("check", id, checker.backend()) : nullptr;
  if (!line) return std::nullopt;
  CaseResult result;
  result.kind = "check";
  result.id = id;
  result.name = c.name;
  result.op = c.op;
  for (const auto& input : c.inputs)
    if (input && result.dtype.empty()) result.dtype = opkit::nameOf(input->dtype);
  result.backend = checker.backend();
  result.device = checker.device().name;
  result.status = CaseStatus::Skip;
  result.reason = fmt::format("{}: {}", line->where(), line->reason);
  return result;
}

CaseResult CheckJob::checkError(Checker& checker, const ErrorCase& error) const {
  const Case c = error.asCase();
  auto left = skipped(checker, c, "error:" + c.id());
  return left ? *std::move(left) : checker.checkError(error);
}

CaseResult CheckJob::checkShapes(Checker& checker, const CaseGroup& group) const {
  const Case& first = group.cases.front();
  auto left = skipped(checker, first, "shapes:" + first.op);
  return left ? *std::move(left) : checker.checkShapes(group);
}

/// One result per case, in order. `whole` is the prepared group, made once for all backends that leave out nothing.
std::vector<CaseResult> CheckJob::checkGroup(Checker& checker, const CheckUnit& unit, const CaseGroup& group,
                                             std::optional<PreparedGroup>& whole) {
  std::vector<std::optional<CaseResult>> left;
  CaseGroup rest;
  for (const Case& c : group.cases)
    if (!left.emplace_back(skipped(checker, c, c.id()))) rest.cases.push_back(c);
  const auto prepared = [&](const CaseGroup& chosen) {
    PreparedGroup made = prepareGroup(chosen, registry_, unit.brief, script());
    made.coldCaches = coldCaches_.contains(unit.group);
    return made;
  };
  std::vector<CaseResult> checked, results;
  if (rest.cases.size() == group.cases.size()) {
    if (!whole) whole = prepared(group);
    return checker.checkGroup(*whole);
  }
  if (!rest.cases.empty()) checked = checker.checkGroup(prepared(rest));
  auto next = checked.begin();
  for (std::optional<CaseResult>& one : left) results.push_back(one ? *std::move(one) : std::move(*next++));
  return results;
}

std::vector<CaseResult> CheckJob::checkUnit(Checker& checker, const CheckUnit& unit, const CaseGroup& group,
                                            std::optional<PreparedGroup>& whole) {
  if (unit.error) return {checkError(checker, catalogue_.errors[*unit.error])};
  if (unit.shapes) return {checkShapes(checker, catalogue_.shapes[*unit.shapes])};
  return checkGroup(checker, unit, group, whole);
}

void addSmallUnits(const Catalogue& catalogue, std::vector<CheckUnit>& units) {
  for (size_t i = 0; i < catalogue.errors.size(); ++i) units.push_back({.error = i});
  for (size_t i = 0; i < catalogue.shapes.size(); ++i) units.push_back({.shapes = i});
}

std::pair<Case, std::string> caseOf(const CheckUnit& unit, const Catalogue& catalogue) {
  if (unit.error) {
    const Case c = catalogue.errors[*unit.error].asCase();
    return {c, "error:" + c.id()};
  }
  const CaseGroup& group = unit.shapes ? catalogue.shapes[*unit.shapes] : catalogue.groups[unit.group];
  const Case& c = group.cases[unit.only.value_or(0)];
  return {c, unit.shapes ? "shapes:" + c.op : c.id()};
}

/// Spreads the time of a unit over its results in proportion to their own: expected values and walks through the group
/// take longest for the largest cases.
static void spread(double elapsedNs, std::vector<CaseResult>& results) {
  double own = 0;
  for (const CaseResult& result : results) own += result.durationNs;
  for (CaseResult& result : results)
    if (own > 0) result.durationNs *= std::max(elapsedNs / own, 1.0);
}

JobReports CheckJob::run(const CheckUnit& unit) {
#ifdef OPKIT_HAS_VULKAN
  const vulkan::PipelinesMade before = vulkan::pipelinesMade();
  JobReports job = runUnit(unit);
  const vulkan::PipelinesMade after = vulkan::pipelinesMade();
  job.pipelines = after.count - before.count;
  job.makingSeconds = (after.ns - before.ns) * 1e-9;
  return job;
#else
  return runUnit(unit);
#endif
}

JobReports CheckJob::runUnit(const CheckUnit& unit) {
  JobReports job;
  if (checkers_.empty())
    if (const Status status = open(); !status.isOk()) {
      CaseResult result;
      result.kind = "check";
      result.check("session", status);
      add(job, {result});
      return job;
    }
  CaseGroup group;
  if (unit.isGroup()) group = catalogue_.groups[unit.group];
  if (unit.only) group.cases = {group.cases[*unit.only]};
  std::optional<PreparedGroup> whole;
  for (Checker& checker : checkers_) {
    if (unit.backend && checker.backend() != *unit.backend) continue;
    const uint64_t dispatches = checker.dispatches();
    const auto start = std::chrono::steady_clock::now();
    auto results = checkUnit(checker, unit, group, whole);
    spread(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count(), results);
    add(job, results);
    job.dispatches += checker.dispatches() - dispatches;
  }
  return job;
}

}  // namespace opkit::harness
