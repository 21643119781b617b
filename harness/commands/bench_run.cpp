#include "harness/commands/bench_run.h"

#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "harness/bench/baseline.h"
#include "harness/run/worker_note.h"
#include "reports/results/kernel_names.h"
#include "reports/results/record_json.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

std::string textOf(const Json& answer) { return answer.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string repeatOf(const std::string& id, const std::string& backend) {
  return fmt::format("op-harness check --backend {} --case '{}'", backend, id);
}

std::string rate(double amount, const reports::TimeRecord& time) {
  return time.median <= 0 ? "-" : fmt::format("{:.3g}", amount / time.median);  // per ns: giga per second
}

/// Median absolute deviation as a share of the median: "2 %".
std::string spreadOf(const reports::TimeRecord& time) {
  return time.median > 0 ? fmt::format("{:.1f} %", 100 * time.mad / time.median) : "-";
}

}  // namespace

Status BenchJob::open() {
  if (!lanes_.empty()) return Status::ok();
  OPKIT_ASSIGN(lanes_, openBackends(plan_.backend));
  for (const BackendLane& lane : lanes_) shaders_.push_back(ShaderLog::attach(*lane.runtime));
  return Status::ok();
}

std::string BenchJob::measure() {
  if (const Status status = open(); !status.isOk()) return textOf({{"error", status.message()}});
  Json devices = Json::array();
  for (const BackendLane& lane : lanes_) {
    noteWork("measuring the device of " + lane.name);
    devices.push_back(measureDevice(lane, plan_.registry).toText());
  }
  return textOf({{"devices", devices}});
}

std::string BenchJob::time(size_t chosen, size_t lane) {
  const ChosenCase& c = plan_.chosen[chosen];
  CaseResult result{.kind = "bench", .id = c.description().id(), .op = c.description().op};
  result.backend = plan_.backend.backends[lane];
  if (const Status status = open(); !status.isOk()) {  // it worked in the worker before
    result.check("session", status);
  } else {
    noteWork(fmt::format("{} on {}", result.id, result.backend));
    if (prepared_ != chosen) group_ = prepareGroup(*c.group, plan_.registry);
    prepared_ = chosen;
    BenchOptions options = plan_.bench;
    options.shaders = shaders_[lane];
    result = benchCase(group_, c.index, plan_.registry, lanes_[lane].name, lanes_[lane].runtime, options);
  }
  if (plan_.areSized && result.status == CaseStatus::Fallback) result.status = CaseStatus::Unsupported;
  const std::string block = isFailure(result.status) ? failureBlock(result, repeatOf(result.id, result.backend)) : "";
  return textOf({{"record", reports::toJson(toRecord(result))}, {"block", block}});
}

BenchRun::BenchRun(const BenchPlan& plan, ResultFile& file, std::function<Status()> open)
    : plan_(plan),
      file_(file),
      open_(std::move(open)),
      table_({"case", "backend", "kernel", "create", "resize cold", "resize warm", "execute", "spread", "cpu", "device",
              "repeated", "GFLOP/s", "GB/s", "roofline"}),
      progress_(plan.chosen.size() * plan.backend.backends.size()) {}

Status BenchRun::run() {
  OPKIT_TRY(plan_.backend.check());
  const size_t lanes = plan_.backend.backends.size();
  BenchJob job(plan_);
  const IsolationLimits limits{
      .workers = 1,
      .timeoutSeconds = plan_.timeoutSeconds,
      .stop = [this] { return !opened_.isOk() || !file_.status().isOk(); },
      .timeoutOf = [this](size_t i) { return i == 0 ? devicesSeconds() : plan_.timeoutSeconds; }};
  OPKIT_TRY(runIsolated(
      1 + plan_.chosen.size() * lanes, limits,
      [&](size_t i) { return i == 0 ? job.measure() : job.time((i - 1) / lanes, (i - 1) % lanes); },
      [&](size_t i, const JobOutcome& outcome) {
        i == 0 ? takeDevices(outcome) : takeCase((i - 1) / lanes, (i - 1) % lanes, outcome);
      }));
  progress_.clear();
  OPKIT_TRY(opened_);
  return file_.status();
}

/// Devices are measured as long as they need, whatever one case may take.
double BenchRun::devicesSeconds() const { return std::max(1800.0, plan_.timeoutSeconds); }

/// The results say that they are a part, if they can be written.
Status BenchRun::lossOfDevices(const JobOutcome& outcome) {
  OPKIT_TRY(open_());
  return interrupted() ? Status::ok() : Status::internal("bench: {}", placedLossText(outcome, devicesSeconds()));
}

void BenchRun::takeDevices(const JobOutcome& outcome) {
  const Json answer = parseJson(outcome.answer);
  if (outcome.kind != JobOutcome::Kind::Answered)
    opened_ = lossOfDevices(outcome);
  else if (answer.contains("error"))
    opened_ = Status::invalidArgument("{}", answer.value("error", ""));
  else
    opened_ = open_();
  if (!opened_.isOk()) return;
  for (const Json& text : answer.value("devices", Json::array())) {
    const MeasuredDevice& device = devices_.emplace_back(MeasuredDevice::fromText(text.get<std::string>()));
    const reports::DeviceRecord& record = device.record;
    printDevice({.backend = record.backend, .name = record.name, .software = record.software});
    fmt::print("{}", device.lines);
    file_.write(record);
    if (device.clockFault.empty()) continue;
    CaseResult result{.kind = "bench", .id = "device clock", .backend = device.record.backend};
    result.device = device.record.name;
    result.check("clock", Status::internal("{}", device.clockFault));
    file_.write(result);
    failed_ = true;
  }
}

void BenchRun::takeCase(size_t chosen, size_t lane, const JobOutcome& outcome) {
  const Case& c = plan_.chosen[chosen].description();
  progress_.step(c.op);
  const Json answer = parseJson(outcome.answer);
  if (outcome.kind == JobOutcome::Kind::Answered)
    return record(reports::caseFromJson(answer.value("record", Json::object())), answer.value("block", ""));
  const CaseResult result = lost(c, plan_.backend.backends[lane], outcome);
  record(toRecord(result), failureBlock(result, repeatOf(result.id, result.backend)));
}

CaseResult BenchRun::lost(const Case& c, const std::string& backend, const JobOutcome& outcome) const {
  CaseResult result{.kind = "bench", .id = c.id(), .name = c.name, .op = c.op};
  result.backend = backend;
  result.status = outcome.kind == JobOutcome::Kind::TimedOut ? CaseStatus::Hang : CaseStatus::Crash;
  result.reason = lossText(outcome, plan_.timeoutSeconds);
  return result;
}

void BenchRun::record(CaseRecord one, const std::string& block) {
  for (const MeasuredDevice& device : devices_)
    for (const char* name : {"executeWall", "executeDevice", "executeRepeated"})
      if (device.record.backend == one.backend && one.times.contains(name))
        one.roofline = device.peaks.share(one.flops.value_or(0), one.bytes.value_or(0), one.times[name].median);
  file_.write(one);
  ++done_;
  executed_ += isExecuted(one.status);
  if (one.status == CaseStatus::Pass) addRow(one);
  if (!isFailure(one.status)) return;
  failed_ = true;
  progress_.clear();
  fmt::print("{}", block);
}

void BenchRun::addRow(const CaseRecord& one) {
  const auto timeOf = [&](const char* name) {
    const auto found = one.times.find(name);
    return found == one.times.end() ? reports::TimeRecord() : found->second;
  };
  const auto median = [&](const char* name) {
    return one.times.contains(name) ? cli::formatNs(timeOf(name).median) : std::string("-");
  };
  const reports::TimeRecord wall = timeOf("executeWall");
  const reports::TimeRecord execute = one.times.contains("executeDevice") ? timeOf("executeDevice") : wall;
  table_.add({one.id, one.backend, kernelName(one.provider, one.kernel), median("create"), median("resizeCold"),
              median("resizeWarm"), median("executeWall"), spreadOf(wall), wall.cpu ? cli::formatNs(*wall.cpu) : "-",
              median("executeDevice"), median("executeRepeated"), rate(one.flops.value_or(0), execute),
              rate(one.bytes.value_or(0), execute),
              one.roofline > 0 ? fmt::format("{:.0f} %", 100 * one.roofline) : "-"});
}

void BenchRun::print() const {
  fmt::print("{}", table_.toString());
  for (const MeasuredDevice& device : devices_) cautionOf(device.record.backend, device.record.software);
}

}  // namespace opkit::harness
