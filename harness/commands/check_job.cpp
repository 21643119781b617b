#include "harness/commands/check_job.h"

#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

#include "engine/base/child_process.h"
#include "engine/tools/driver.h"
#include "harness/run/terminal.h"
#include "reports/results/record_json.h"

namespace opkit::harness {

using Json = nlohmann::json;

std::string JobReports::toText() const {
  Json list = Json::array();
  for (const JobReport& report : reports) list.push_back({{"record", toJson(report.record)}, {"block", report.block}});
  return Json{{"reports", list}, {"dispatches", dispatches}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

JobReports JobReports::fromText(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  JobReports job;
  if (!json.is_object()) return job;
  for (const Json& report : json.value("reports", Json::array()))
    job.reports.push_back({reports::caseFromJson(report.value("record", Json::object())), report.value("block", "")});
  job.dispatches = json.value("dispatches", uint64_t{0});
  return job;
}

std::string repeatCommand(const BackendOptions& backends, const std::string& backend, const std::string& id,
                          const std::string& op) {
  std::string command = fmt::format("op-harness check --backend {}", backend);
  if (!backends.mask.empty() && backend == "vulkan") command += " --mask " + shellQuoted(backends.mask);
  const char* const deviceClass = std::getenv("OPKIT_DEVICE_CLASS");
  if (deviceClass && backend == "vulkan") command += fmt::format(" --device-class {}", deviceClass);
  if (const std::string driver = cli::driverOptions(); !driver.empty() && backend == "vulkan") command += " " + driver;
  if (!backends.simd.empty() && backend == "cpu") command += " --simd " + backends.simd;
  const char* const validations[] = {"off", "core", "sync", "gpu"};
  if (backends.validation != Validation::Off && backend == "vulkan")
    command += fmt::format(" --validation {}", validations[static_cast<size_t>(backends.validation)]);
  for (const PluginInfo& plugin : plugins().plugins()) command += fmt::format(" --plugin {}", shellQuoted(plugin.path));
  return command + (id.starts_with("error:") ? " --op " + op : " --case " + shellQuoted(id));
}

Status CheckJob::open() {
  OPKIT_ASSIGN(const std::vector<BackendLane> lanes, openBackends(backends_));
  for (const BackendLane& lane : lanes) {
    checkers_.emplace_back(registry_, lane.name, lane.runtime);
    checkers_.back().setRuntimeOptions(lane.options);
    checkers_.back().setShaderLog(ShaderLog::attach(*lane.runtime));
  }
  return Status::ok();
}

void CheckJob::add(JobReports& job, const std::vector<CaseResult>& results) const {
  for (const CaseResult& result : results) {
    CaseRecord record = toRecord(result);
    record.repro = repeatCommand(backends_, result.backend, result.id, result.op);
    job.reports.push_back({record, isFailure(result.status) ? failureBlock(result, record.repro) : ""});
  }
}

JobReports CheckJob::run(const CheckUnit& unit) {
  JobReports job;
  if (checkers_.empty())
    if (const Status status = open(); !status.isOk()) {
      CaseResult result;
      result.kind = "check";
      result.check("session", status);
      add(job, {result});
      return job;
    }
  PreparedGroup prepared;
  if (!unit.error) {
    CaseGroup group = catalogue_.groups[unit.group];
    if (unit.only) group.cases = {group.cases[*unit.only]};
    prepared = prepareGroup(group, registry_);
    prepared.coldCaches = coldCaches_.contains(unit.group);
  }
  for (Checker& checker : checkers_) {
    if (unit.backend && checker.backend() != *unit.backend) continue;
    const uint64_t dispatches = checker.dispatches();
    std::vector<CaseResult> results;
    if (unit.error)
      results.push_back(checker.checkError(catalogue_.errors[*unit.error]));
    else
      results = checker.checkGroup(prepared);
    add(job, results);
    job.dispatches += checker.dispatches() - dispatches;
  }
  return job;
}

}  // namespace opkit::harness
