#include "harness/results.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/build_facts.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 8> kStatusNames = {"pass",        "fail", "crash",    "hang",
                                                     "unsupported", "skip", "fallback", "mistrusted"};

/// JSON has no NaN and no infinity: those become null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json toJson(const Comparison& c, const Shape& shape) {
  Json line = {{"elements", c.elements},
               {"failed", c.failed},
               {"maxAbs", number(c.maxAbs)},
               {"maxRel", number(c.maxRel)},
               {"maxUlp", number(c.maxUlp)},
               {"nmse", number(c.nmse)},
               {"margin", number(c.margin)},
               {"tolerance", number(c.bound)},
               {"nanGot", c.nanGot},
               {"nanExpected", c.nanExpected},
               {"infGot", c.infGot},
               {"infExpected", c.infExpected}};
  if (c.worst >= 0) {
    line["worst"] = coordinates(shape, c.worst);
    line["expected"] = number(c.expected);
    line["got"] = number(c.got);
  }
  return line;
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

}  // namespace

const char* nameOf(CaseStatus status) { return kStatusNames[static_cast<size_t>(status)]; }

std::optional<CaseStatus> statusFromName(std::string_view name) {
  for (size_t i = 0; i < kStatusNames.size(); ++i)
    if (name == kStatusNames[i]) return static_cast<CaseStatus>(i);
  return std::nullopt;
}

bool isFailure(CaseStatus status) {
  return status != CaseStatus::Pass && status != CaseStatus::Unsupported && status != CaseStatus::Skip;
}

bool isExecuted(CaseStatus status) { return status != CaseStatus::Unsupported && status != CaseStatus::Skip; }

double Timing::min() const { return samples.empty() ? 0 : *std::min_element(samples.begin(), samples.end()); }
double Timing::median() const { return medianOf(samples); }
double Timing::mad() const {
  const double center = median();
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::fabs(sample - center));
  return medianOf(std::move(deviations));
}

Json toJson(const CaseResult& result) {
  Json line = {{"kind", "case"},
               {"suite", result.suite},
               {"id", result.id},
               {"op", result.op},
               {"dtype", result.dtype},
               {"backend", result.backend},
               {"device", result.device},
               {"software", result.software},
               {"provider", result.provider},
               {"status", nameOf(result.status)},
               {"reason", result.reason},
               {"elapsedNs", result.elapsedNs}};
  if (!result.name.empty()) line["name"] = result.name;
  for (const SubCheck& sub : result.subChecks)
    line["checks"][sub.name] = sub.ok ? Json("pass") : Json(sub.message.empty() ? "fail" : sub.message);
  if (result.accuracy) line["accuracy"] = toJson(*result.accuracy, result.worstShape);
  if (!result.fallbacks.empty()) line["fallbacks"] = result.fallbacks;
  for (const auto& [name, timing] : result.timings)
    line["times"][name] = {
        {"min", timing.min()}, {"median", timing.median()}, {"mad", timing.mad()}, {"samples", timing.samples}};
  if (!result.timings.empty()) {
    line["flops"] = result.flops;
    line["bytes"] = result.bytes;
  }
  return line;
}

Json runLine(const std::string& command) {
  utsname host = {};
  uname(&host);
  return {{"kind", "run"},
          {"schema", 1},
          {"tool", "op-harness"},
          {"version", OPKIT_VERSION},
          {"command", command},
          {"time", utcNow()},
          {"commit", OPKIT_COMMIT},
          {"dirty", OPKIT_DIRTY != 0},
          {"compiler", OPKIT_COMPILER},
          {"buildType", OPKIT_BUILD_TYPE},
          {"host", host.nodename},
          {"os", fmt::format("{} {} {}", host.sysname, host.release, host.machine)},
          {"cpu", cpuName()},
          {"cores", std::thread::hardware_concurrency()}};
}

ResultFile::~ResultFile() {
  if (file_) std::fclose(file_);
}

Status ResultFile::open(const std::string& path, const std::string& command) {
  if (path.empty()) return Status::ok();
  file_ = std::fopen(path.c_str(), "a");
  if (!file_) return Status::invalidArgument("--json {}: cannot be written: {}", path, std::strerror(errno));
  write(runLine(command));
  return Status::ok();
}

void ResultFile::write(const Json& line) {
  if (!file_) return;
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fflush(file_);
}

void ResultFile::write(const CaseResult& result) {
  if (file_) write(toJson(result));
}

}  // namespace opkit::harness
