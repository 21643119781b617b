#include "harness/run/results.h"

#include <sys/utsname.h>

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "engine/base/interrupt.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 9> kStatusNames = {"pass", "fail",     "crash",      "hang",    "unsupported",
                                                     "skip", "fallback", "mistrusted", "unproved"};

/// JSON has no NaN and no infinity: they become strings.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json toJson(const Comparison& c, const Shape& shape) {
  Json line = {{"elements", c.elements},
               {"failed", c.failed},
               {"maxAbs", number(c.maxAbs)},
               {"maxRel", number(c.maxRel)},
               {"maxUlp", number(c.maxUlp)},
               {"nmse", number(c.nmse)},
               {"margin", number(c.margin)},
               {"tolerance", number(c.bound)},
               {"nan", c.nanGot},
               {"nanExpected", c.nanExpected},
               {"inf", c.infGot},
               {"infExpected", c.infExpected}};
  if (c.worst >= 0) {
    line["worstIndex"] = c.worst;
    line["worst"] = coordinates(shape, c.worst);
    line["expected"] = number(c.expected);
    line["got"] = number(c.got);
  }
  Json ulps = Json::object();
  for (size_t i = 0; i < c.ulps.size(); ++i)
    if (c.ulps[i] > 0) ulps[i < kUlpBuckets.size() ? fmt::format("{}", kUlpBuckets[i]) : "more"] = c.ulps[i];
  line["ulps"] = ulps;
  return line;
}

Json toJson(const LayerResult& layer) {
  const Comparison& c = layer.comparison;
  return {{"tensor", layer.tensor},
          {"op", layer.op},
          {"maxAbs", number(c.maxAbs)},
          {"maxUlp", number(c.maxUlp)},
          {"nmse", number(c.nmse)},
          {"margin", number(c.margin)},
          {"status", layer.departs ? "fail" : "pass"}};
}

double medianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string utcNow() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text = {};
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string newRunId() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

const char* nameOf(CaseStatus status) { return kStatusNames[static_cast<size_t>(status)]; }

std::optional<CaseStatus> statusFromName(std::string_view name) {
  for (size_t i = 0; i < kStatusNames.size(); ++i)
    if (name == kStatusNames[i]) return static_cast<CaseStatus>(i);
  return std::nullopt;
}

bool isFailure(CaseStatus status) { return status != CaseStatus::Pass && isExecuted(status); }

bool isExecuted(CaseStatus status) {
  return status != CaseStatus::Unsupported && status != CaseStatus::Skip && status != CaseStatus::Unproved;
}

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

Json toJson(const CaseResult& result) {
  Json line = {{"record", "case"},
               {"kind", result.kind},
               {"id", result.id},
               {"op", result.op},
               {"backend", result.backend},
               {"status", nameOf(result.status)},
               {"durationNs", result.durationNs}};
  const auto addText = [&](const char* key, const std::string& text) {
    if (!text.empty()) line[key] = text;
  };
  addText("name", result.name);
  addText("dtype", result.dtype);
  addText("device", result.device);
  addText("provider", result.provider);
  addText("kernel", result.kernel);
  addText("note", result.note);
  if (!result.departures.empty()) line["departures"] = result.departures;
  if (result.status != CaseStatus::Pass) line["reason"] = result.reason;
  for (const SubCheck& sub : result.subChecks) {
    line["checks"].push_back(sub.name);
    if (!sub.ok && !line.contains("failedCheck")) line["failedCheck"] = sub.name;
  }
  for (const NotRun& note : result.notRun) line["notRun"][note.name] = note.reason;
  if (result.stops) line["stops"] = result.stops;
  if (result.furtherStops) line["furtherStops"] = result.furtherStops;
  if (result.elements) line["size"] = {{"elements", result.elements}, {"rank", result.rank}, {"batch", result.batch}};
  if (!result.diagnosis.empty()) line["diagnosis"] = {{"kind", result.diagnosisKind}, {"text", result.diagnosis}};
  addText("map", result.map);
  if (result.accuracy) line["accuracy"] = toJson(*result.accuracy, result.worstShape);
  if (result.dispatches) line["dispatches"] = result.dispatches;
  for (const FallbackNote& note : result.fallbacks)
    line["fallbacks"].push_back({{"node", note.node}, {"op", note.op}, {"reason", note.reason}});
  for (const auto& [name, timing] : result.times)
    line["times"][name] = {
        {"min", timing.min()}, {"median", timing.median()}, {"mad", timing.mad()}, {"samples", timing.samples}};
  for (const auto& [name, timing] : result.times)
    if (!timing.cpuSamples.empty()) line["times"][name]["cpu"] = medianOf(timing.cpuSamples);
  if (!result.times.empty()) {
    if (result.roofline > 0) line["roofline"] = result.roofline;
    if (result.threads > 0) line["threads"] = result.threads;
    addText("roof", result.roof);
    line["flops"] = result.flops;
    line["bytes"] = result.bytes;
    line["software"] = result.software;
  }
  for (const LayerResult& layer : result.layers) line["layers"].push_back(toJson(layer));
  return line;
}

Status ResultFile::open(const std::string& path, const std::string& command, uint64_t seed, const RunPlan& planned) {
  if (path.empty()) return Status::ok();
  auto opened = LineFile::open(path);
  if (!opened) return opened.error().withContext("--json");
  file_.emplace(*std::move(opened));
  run_ = newRunId();
  utsname host = {};
  uname(&host);
  writeLine({{"record", "run"},
             {"schema", 1},
             {"tool", "op-harness"},
             {"version", kBuildFacts.version},
             {"command", command},
             {"planned", planned},
             {"started", utcNow()},
             {"commit", kBuildFacts.commit},
             {"dirty", kBuildFacts.dirty},
             {"compiler", kBuildFacts.compiler},
             {"build", kBuildFacts.buildType},
             {"host", host.nodename},
             {"os", fmt::format("{} {} {}", host.sysname, host.release, host.machine)},
             {"cpu", cpuName()},
             {"cores", std::thread::hardware_concurrency()},
             {"seed", seed}});
  return status_;
}

void ResultFile::plan(const RunPlan& more) { writeLine({{"record", "plan"}, {"planned", more}}); }

void ResultFile::writeLine(Json line) {
  if (!file_ || !status_.isOk()) return;
  line["run"] = run_;
  const Status written = file_->append(line.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (written.isOk()) return;
  status_ = Status::invalidArgument("--json: {}; {} cases are recorded in it", written.message(), lines_);
}

void ResultFile::write(const DeviceInfo& device, const std::string& profile) {
  Json line = {{"record", "device"},      {"backend", device.backend}, {"name", device.name},
               {"driver", device.driver}, {"uuid", device.uuid},       {"software", device.software}};
  if (!profile.empty()) line["profile"] = Json::parse(profile, nullptr, false);
  writeLine(line);
}

void ResultFile::write(const CaseResult& result) {
  if (file_) writeCase(toJson(result));
}

void ResultFile::writeCase(const Json& line) {
  ++counts_[nameOf(statusFromName(line.value("status", "fail")).value_or(CaseStatus::Fail))];
  writeLine(line);
  lines_ += status_.isOk();
}

void ResultFile::writeMutant(const Json& line) {
  ++counts_[line.value("fate", "invalid")];
  writeLine(line);
  lines_ += status_.isOk();
}

void ResultFile::addToSummary(const Json& fields) {
  Json all = Json::parse(summary_);
  all.update(fields);
  summary_ = all.dump();
}

Status ResultFile::close() {
  Json line = {{"record", "summary"}, {"outcome", interrupted() ? "interrupted" : "complete"}, {"ended", utcNow()}};
  line.update(Json::parse(summary_));
  size_t executed = 0;
  for (const char* name : kStatusNames) line[name] = 0;
  for (const auto& [name, count] : counts_) {
    line[name] = count;
    const auto status = statusFromName(name);
    if (!status || isExecuted(*status)) executed += count;
  }
  line["lines"] = lines_;
  line["executed"] = executed;
  writeLine(line);
  if (file_ && status_.isOk()) status_ = file_->close().withContext("--json");
  return status_;
}

}  // namespace opkit::harness
