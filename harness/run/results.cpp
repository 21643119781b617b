#include "harness/run/results.h"

#include <sys/utsname.h>
#include <xxhash.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "engine/base/interrupt.h"
#include "engine/tensor/objects.h"
#include "harness/bench/statistics.h"
#include "harness/run/build_facts.h"
#include "harness/run/closed_output.h"

namespace opkit::harness {
namespace {

reports::AccuracyRecord toRecord(const Comparison& c, const Shape& shape) {
  reports::AccuracyRecord record;
  record.elements = c.elements;
  record.failed = c.failed;
  record.maxAbs = c.maxAbs;
  record.maxRel = c.maxRel;
  record.maxUlp = c.maxUlp;
  record.nmse = c.nmse;
  record.margin = c.margin;
  record.tolerance = c.bound;
  record.nan = c.nanGot;
  record.nanExpected = c.nanExpected;
  record.inf = c.infGot;
  record.infExpected = c.infExpected;
  if (c.worst >= 0) {
    record.worstIndex = c.worst;
    record.worst = coordinates(shape, c.worst);
    record.expected = c.expected;
    record.got = c.got;
  }
  for (size_t i = 0; i < c.ulps.size(); ++i)
    if (c.ulps[i] > 0) record.ulps[i < kUlpBuckets.size() ? fmt::format("{}", kUlpBuckets[i]) : "more"] = c.ulps[i];
  return record;
}

reports::LayerRecord toRecord(const LayerResult& layer) {
  const Comparison& c = layer.comparison;
  return {layer.tensor,
          layer.op,
          c.maxAbs,
          c.maxUlp,
          c.nmse,
          c.margin,
          layer.departs ? CaseStatus::Fail : CaseStatus::Pass};
}

std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

reports::TimeRecord toRecord(const Timing& timing) {
  reports::TimeRecord record{timing.min(), timing.median(), timing.mad(), timing.samples, std::nullopt};
  if (!timing.cpuSamples.empty()) record.cpu = medianOf(timing.cpuSamples);
  return record;
}

/// Figures of a case that was timed.
void addTimes(const CaseResult& result, CaseRecord& record) {
  if (result.times.empty()) return;
  for (const auto& [name, timing] : result.times) record.times[name] = toRecord(timing);
  record.roofline = result.roofline;
  record.threads = result.threads;
  record.roof = result.roof;
  record.flops = result.flops;
  record.bytes = result.bytes;
  record.software = result.software;
}

void addSubChecks(const CaseResult& result, CaseRecord& record) {
  for (const SubCheck& sub : result.subChecks) {
    record.checks.push_back(sub.name);
    if (!sub.ok && record.failedCheck.empty()) record.failedCheck = sub.name;
  }
  for (const NotRun& note : result.notRun) record.notRun[note.name] = note.reason;
}

}  // namespace

double Timing::min() const { return samples.empty() ? 0 : *std::min_element(samples.begin(), samples.end()); }
double Timing::median() const { return medianOf(samples); }
double Timing::mad() const {
  const double center = median();
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::fabs(sample - center));
  return medianOf(std::move(deviations));
}

void CaseResult::check(const std::string& checkName, const Status& verdict) {
  subChecks.push_back({checkName, verdict.isOk(), verdict.message()});
  if (verdict.isOk() || status != CaseStatus::Pass) return;
  status = CaseStatus::Fail;
  reason = checkName + ": " + verdict.message();
}

bool CaseResult::failed(std::string_view checkName) const {
  return std::any_of(subChecks.begin(), subChecks.end(),
                     [&](const SubCheck& sub) { return sub.name == checkName && !sub.ok; });
}

CaseRecord toRecord(const CaseResult& result) {
  CaseRecord record;
  record.kind = result.kind;
  record.id = result.id;
  record.op = result.op;
  record.backend = result.backend;
  record.status = result.status;
  record.durationNs = result.durationNs;
  record.name = result.name;
  record.dtype = result.dtype;
  record.device = result.device;
  record.provider = result.provider;
  record.kernel = result.kernel;
  record.note = result.note;
  record.departures = result.departures;
  if (result.status != CaseStatus::Pass) record.reason = result.reason;
  addSubChecks(result, record);
  record.stops = result.stops;
  record.furtherStops = result.furtherStops;
  if (result.elements) record.size = {result.elements, result.rank, result.batch};
  if (!result.diagnosis.empty()) record.diagnosis = {result.diagnosisKind, result.diagnosis};
  record.map = result.map;
  if (result.accuracy) record.accuracy = toRecord(*result.accuracy, result.worstShape);
  record.dispatches = result.dispatches;
  for (const FallbackNote& note : result.fallbacks) record.fallbacks.push_back({note.node, note.op, note.reason});
  addTimes(result, record);
  for (const LayerResult& layer : result.layers) record.layers.push_back(toRecord(layer));
  record.digest = result.digest;
  record.shader = result.shader;
  record.shaderBytes = result.shaderBytes;
  record.arenaBytes = result.arenaBytes;
  record.allocations = result.allocations;
  record.repro = result.repro;
  record.access = result.access;
  return record;
}

std::string digestOf(const std::vector<Tensor>& outputs) {
  uint64_t hash = 0;
  const auto add = [&hash](std::span<const char> bytes) {
    hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash);
  };
  for (const Tensor& output : outputs) {
    add(describe(output));
    for (const Leaf& leaf : leavesOf(output)) {
      if (leaf.tensor.desc.dtype == DType::String)
        std::ranges::for_each(stringsOf(leaf.tensor), add);
      else if (const auto bytes = leaf.tensor.bytes(); true)
        add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  }
  return fmt::format("{:016x}", hash);
}

Status ResultFile::open(const std::string& path, const std::string& command, uint64_t seed, const RunPlan& planned) {
  if (path.empty()) return Status::ok();
  utsname host = {};
  uname(&host);
  reports::RunRecord run;
  run.tool = "op-harness";
  run.version = kBuildFacts.version;
  run.command = command;
  run.planned = planned;
  run.commit = kBuildFacts.commit;
  run.dirty = kBuildFacts.dirty;
  run.compiler = kBuildFacts.compiler;
  run.build = kBuildFacts.buildType;
  if (*kBuildFacts.simdAlone) run.build += fmt::format(", {} alone", kBuildFacts.simdAlone);
  if (*kBuildFacts.operators) run.build += fmt::format(", partial for {}", kBuildFacts.operators);
  run.host = host.nodename;
  run.os = fmt::format("{} {} {}", host.sysname, host.release, host.machine);
  run.cpu = cpuName();
  run.cores = std::thread::hardware_concurrency();
  run.seed = seed;
  return writer_.open(path, std::move(run));
}

void ResultFile::plan(const RunPlan& more) {
  reports::PlanRecord record;
  record.planned = more;
  writer_.write(std::move(record));
}

void ResultFile::write(const DeviceInfo& device, const std::string& profile,
                       const std::optional<reports::CalibrationRecord>& calibration,
                       const std::optional<reports::DeviceRoofRecord>& roof) {
  writer_.write(reports::DeviceRecord{
      "", device.backend, device.name, device.driver, device.uuid, device.software, {profile}, calibration, roof});
}

void ResultFile::write(const CaseResult& result) {
  if (writer_.isOpen()) writer_.write(toRecord(result));
}

Status ResultFile::close() {
  return writer_.close(interrupted() || ClosedOutput::isSeen() ? "interrupted" : "complete");
}

}  // namespace opkit::harness
