#include "reports/demo/demo_nights.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "engine/base/child_process.h"
#include "engine/base/interrupt.h"
#include "reports/demo/planted.h"
#include "reports/history/store.h"
#include "reports/results/record_json.h"

namespace opkit::reports::demo {
namespace {

constexpr const char* kBackends[] = {"cpu", "vulkan"};
constexpr size_t kRuns = 7, kSamples = 3;
constexpr size_t kBatch = 60'000;    // lines that are added to the history together
constexpr size_t kKeptNights = 2;    // whose lines the history keeps
constexpr size_t kKilledShare = 45;  // percent of its lines, after which a night is killed
constexpr const char* kJson = " --json results.jsonl";

struct FigureKind {
  const char* name;
  const char* noise;       // figure of the recorded noise
  double cpuUs, vulkanUs;  // 0: as the case says
};
constexpr FigureKind kFigures[] = {{"create", "create", 75, 214},
                                   {"resizeCold", "resizeCold", 16, 905},
                                   {"resizeWarm", "resizeWarm", 0.35, 38},
                                   {"executeWall", "executeWall", 0, 0},
                                   {"executeDevice", "executeWall", 0, 0}};
constexpr double kOnTheDevice = 0.7;  // share of the time that the host sees

bool isVulkan(const std::string& backend) { return backend == "vulkan"; }

double quietNs(const FigureKind& kind, const DemoCase& about, const std::string& backend) {
  const double us = isVulkan(backend) ? about.vulkanUs : about.cpuUs,
               own = isVulkan(backend) ? kind.vulkanUs : kind.cpuUs;
  return 1e3 * (own > 0 ? own : us) * (std::string_view(kind.name) == "executeDevice" ? kOnTheDevice : 1);
}

/// 16 hexadecimal digits that look like chance.
std::string hexOf(const std::string& text) {
  return fmt::format("{:016x}", harness::Rng(harness::hashText(text)).next());
}

std::string timeOfDay(size_t ago, size_t minute, size_t second) {
  return fmt::format("{}T{:02}:{:02}:{:02}Z", nightName(ago), 1 + minute / 60, minute % 60, second);
}

double rounded(double ns) { return std::round(ns * 10) / 10; }

/// Samples of one process run, the least first.
TimeRecord timeOf(double least) {
  static constexpr double kSlower[kSamples] = {1, 1.004, 1.013};
  TimeRecord time;
  for (const double factor : kSlower) time.samples.push_back(rounded(least * factor));
  time.min = time.samples[0], time.median = time.samples[1];
  time.mad = rounded(time.median - time.min);
  return time;
}

}  // namespace

/// Lines that a night may still write.
struct DemoNights::Lines {
  size_t left;
  bool take() { return left > 0 && left-- > 0; }
};

std::string nightName(size_t ago) {
  using namespace std::chrono;
  const year_month_day day = sys_days(year(2026) / November / 29) - days(static_cast<int64_t>(ago));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

DemoNights::DemoNights(const DemoOptions& options) : options_(options), machine_(options.seed), ago_(options.nights) {
  settings_.runs = options.series > 0 ? 1 : kRuns;
}

Result<std::unique_ptr<DemoNights>> DemoNights::create(const DemoOptions& options) {
  auto nights = std::unique_ptr<DemoNights>(new DemoNights(options));
  OPKIT_TRY(nights->readNoise());
  const size_t wanted = options.series;
  for (size_t number = 0; number == 0 || nights->seriesOfTimes() < wanted; ++number)
    for (const DemoCase& about : demoCases())
      for (const char* backend : kBackends)
        if (wanted == 0 || nights->seriesOfTimes() < wanted) nights->addTimed(about, number, backend);
  return nights;
}

Status DemoNights::readNoise() {
  OPKIT_ASSIGN(const std::vector<detect::Recorded> recorded, detect::builtInNoise());
  for (const detect::Recorded& series : recorded) {
    const std::string figure = series.name.substr(series.name.rfind(' ') + 1);
    for (detect::Residuals& one : residualsOf({series}, settings_)) residuals_[figure].push_back(std::move(one));
  }
  for (const FigureKind& kind : kFigures)
    if (residuals_[kind.noise].empty()) return Status::internal("the recorded noise has no series of {}", kind.noise);
  return Status::ok();
}

size_t DemoNights::seriesOfTimes() const {
  size_t count = 0;
  for (const TimedCase& timed : timed_) count += timed.figures.size();
  return count;
}

void DemoNights::addTimed(const DemoCase& about, size_t number, const std::string& backend) {
  size_t left = options_.series > 0 ? options_.series - seriesOfTimes() : std::size(kFigures);
  TimedCase& timed = timed_.emplace_back(TimedCase{&about, about.timedId(number), backend, {}});
  for (const FigureKind& kind : kFigures) {
    if (left == 0 || (!isVulkan(backend) && std::string_view(kind.name) == "executeDevice")) continue;
    --left;
    const std::string name = fmt::format("{} {} {}", timed.id, backend, kind.name);
    const uint64_t seed = harness::hashText(fmt::format("{} {}", options_.seed, name));
    const std::vector<detect::Residuals>& all = residuals_.at(kind.noise);
    timed.figures.push_back(
        {kind.name,
         quietNs(kind, about, backend),
         detect::NoiseSeries(all[harness::hashText("noise " + name) % all.size()], 0, settings_, seed),
         {}});
  }
}

bool DemoNights::isTimed(const TimedCase& timed) const {
  return options_.series > 0 || !isGone(timed.about->op, timed.backend, ago_);
}

size_t DemoNights::plannedLines() const {
  const auto times = std::ranges::count_if(timed_, [&](const TimedCase& timed) { return isTimed(timed); });
  return demoCases().size() * std::size(kBackends) + settings_.runs * static_cast<size_t>(times);
}

Status DemoNights::write(const std::string& path) {
  --ago_;
  for (TimedCase& timed : timed_)
    for (Figure& figure : timed.figures) figure.night = figure.noise.next();
  PlanRecord plan;
  plan.night = nightName(ago_);
  plan.runs = 1 + settings_.runs;
  OPKIT_ASSIGN(LineFile file, LineFile::open(path));
  OPKIT_TRY(file.append(toLine(plan)));
  OPKIT_TRY(file.close());
  Lines lines{plannedLines()};
  if (options_.series == 0 && isKilled(ago_)) lines.left = kKilledShare * lines.left / 100;
  OPKIT_TRY(writeCheck(path, lines));
  for (size_t run = 0; run < settings_.runs && lines.left > 0; ++run) OPKIT_TRY(writeBench(path, run, lines));
  return Status::ok();
}

Status DemoNights::writeCheck(const std::string& path, Lines& lines) {
  ResultWriter writer("demo");
  RunRecord run = runOf("check --backend cpu,vulkan", 0);
  for (const char* backend : kBackends) (*run.planned)[backend] = demoCases().size();
  OPKIT_TRY(writer.open(path, run));
  for (const char* backend : kBackends) writer.write(deviceOf(backend, false, 0));
  for (const DemoCase& about : demoCases())
    for (const char* backend : kBackends) {
      if (!lines.take()) return writer.status();
      writer.write(checked(about, backend));
    }
  writer.summary().ended = timeOfDay(ago_, 3, 0);
  return writer.close("complete");
}

Status DemoNights::writeBench(const std::string& path, size_t run, Lines& lines) {
  ResultWriter writer("demo");
  RunRecord facts = runOf("bench --backend cpu,vulkan --samples 3", 1 + run);
  for (const TimedCase& one : timed_) (*facts.planned)[one.backend] += isTimed(one);
  OPKIT_TRY(writer.open(path, facts));
  for (const char* backend : kBackends) writer.write(deviceOf(backend, true, run));
  for (const TimedCase& one : timed_) {
    if (!isTimed(one)) continue;
    if (!lines.take()) return writer.status();
    writer.write(timed(one, run));
  }
  writer.summary().ended = timeOfDay(ago_, 5 + 2 * run, 50);
  return writer.close("complete");
}

RunRecord DemoNights::runOf(const std::string& command, size_t index) const {
  RunRecord run;
  run.run = hexOf(fmt::format("run {} {} {} {}", options_.seed, options_.series, ago_, index));
  run.tool = kDemonstrationTool;
  run.version = "demonstration";
  run.command = command + kJson;
  run.planned.emplace();
  run.started = timeOfDay(ago_, index == 0 ? 0 : 3 + 2 * index, 0);
  for (const char* part : {"a", "b", "c"}) run.commit += hexOf(fmt::format("commit {} {}", ago_, part));
  run.commit.resize(40);
  run.compiler = "g++ 12.2.0", run.build = "Release", run.host = "demonstration";
  run.os = "Linux 6.1 (demonstration)", run.cpu = "demonstration processor";
  run.cores = 8;
  run.seed = 7;
  return run;
}

DeviceRecord DemoNights::deviceOf(const std::string& backend, bool calibrated, size_t) {
  DeviceRecord device;
  device.backend = backend;
  if (isVulkan(backend)) {
    device.name = "demonstration device";
    device.driver = vulkanDriver(options_.series > 0 ? 0 : ago_);
    device.uuid = "de300000000000000000000000000001";
  } else {
    device.name = "demonstration processor";
  }
  if (!calibrated) return device;
  CalibrationRecord& speed = device.calibration.emplace();
  speed.loopNs = rounded(51'300 * (1 + machine_.uniform(0, 0.004)));
  speed.copyBytesPerNs = std::round(1e3 * 11.2 * (1 - machine_.uniform(0, 0.02))) / 1e3;
  return device;
}

CaseRecord DemoNights::caseOf(const char* kind, const DemoCase& about, const std::string& id,
                              const std::string& backend) const {
  CaseRecord record;
  record.kind = kind, record.id = id, record.op = about.op, record.backend = backend;
  record.dtype = "f32";
  record.device = isVulkan(backend) ? "demonstration device" : "demonstration processor";
  record.provider = "opkit";
  record.kernel = isVulkan(backend) ? "" : about.cpuKernel;
  record.repro = fmt::format("op-harness {} --backend {} --case {}", kind, backend, shellQuoted(id));
  return record;
}

CaseRecord DemoNights::checked(const DemoCase& about, const std::string& backend) const {
  CaseRecord record = caseOf("check", about, about.checkedId(), backend);
  record.checks = {"accuracy", "deterministic", "resized"};
  record.durationNs = 2'400'000;
  AccuracyRecord& errors = record.accuracy.emplace();
  const double more = isVulkan(backend) ? 1.3 : 1;
  errors.elements = 128;
  errors.margin = about.margin * more, errors.maxUlp = about.maxUlp * more;
  errors.maxAbs = errors.maxUlp * 0x1p-23, errors.nmse = errors.maxAbs * errors.maxAbs / 3;
  record.digest = hexOf("bits " + record.id + backend);
  if (isVulkan(backend)) record.dispatches = 1;
  if (options_.series == 0) plantInCheck(record, ago_);
  return record;
}

CaseRecord DemoNights::timed(const TimedCase& timed, size_t run) const {
  const DemoCase& about = *timed.about;
  CaseRecord record = caseOf("bench", about, timed.id, timed.backend);
  for (const Figure& figure : timed.figures) {
    const double factor = options_.series > 0 ? 1 : timeFactor(about.op, timed.backend, figure.name, ago_);
    record.times[figure.name] = timeOf(figure.ns * factor * std::exp(figure.night[run]));
    record.durationNs += record.times[figure.name].median * kSamples;
  }
  record.flops = 1e3 * about.kflops, record.bytes = 1e3 * about.kbytes;
  record.software = false;
  return record;
}

Result<DemoCounts> writeDemo(const std::string& folder, const DemoOptions& options) {
  OPKIT_ASSIGN(const std::unique_ptr<DemoNights> nights, DemoNights::create(options));
  const std::string results = folder + "/results.jsonl", history = folder + "/history.sqlite";
  DemoCounts counts{options.nights, 0, nights->seriesOfTimes()};
  std::vector<Results> batch;
  size_t lines = 0;
  for (size_t ago = options.nights; ago-- > 0;) {
    if (interrupted()) return Status::invalidArgument("interrupted; nothing was written");
    std::filesystem::remove(results);
    OPKIT_TRY(nights->write(results));
    // The history would compress the lines of older nights, and then drop them.
    OPKIT_TRY(readResults(results, batch.emplace_back(), {.keepLines = ago < kKeptNights}));
    lines += batch.back().cases.size();
    if (lines < kBatch && ago > 0) continue;
    OPKIT_TRY(Store::addTo(history, batch).error());
    batch.clear();
    counts.lines += std::exchange(lines, 0);
  }
  return counts;
}

}  // namespace opkit::reports::demo
