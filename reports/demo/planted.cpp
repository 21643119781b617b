#include "reports/demo/planted.h"

#include <algorithm>
#include <iterator>

namespace opkit::reports::demo {
namespace {

constexpr double kSlower = 1.12, kLostDigit = 8, kNewDriver = 1.06;
constexpr size_t kFlakeListed = 3;  // nights ago, from which on an expectation file names the flake

constexpr Planted kPlanted[] = {
    {Change::SlowKernel, "a slow kernel", 1, "Softmax", "vulkan", "execute times are 12 % longer",
     "first table, row \"new worse ... of Softmax on vulkan\": the code is the suspect, with commands to repeat it and "
     "to "
     "compare the builds; op-report detect exits with 1"},
    {Change::LostDigit, "a lost digit", 6, "LayerNormalization", "cpu",
     "errors are 8 times as large, still in the bound",
     "first table, row \"worse ... of LayerNormalization on cpu, nmse\"; operators, LayerNormalization: its share of "
     "the "
     "bound"},
    {Change::Driver, "a new driver", 20, "", "vulkan", "execute times are 6 % longer, and so are those of each kernel",
     "first table, row \"worse: ... series on vulkan\" with the suspect \"the environment: driver\""},
    {Change::Flake, "a flake", 4, "GridSample", "vulkan",
     "fails, passes for three nights, fails tonight; an expectation file names it since its second morning",
     "\"1 flaky\" in the first line; \"Expected failures\" has its line and reason"},
    {Change::Mended, "a mended fault", 30, "Resize", "vulkan", "fails for thirty nights and passes tonight",
     "\"Since the night before\", row \"fail, pass\""},
    {Change::Killed, "a killed night", 9, "", "", "ends in the middle of a run, with less than half of its records",
     "\"Since the night before\", \"Nights\": \"cut off\"; it moves no figure, and no case vanishes the night after"},
    {Change::Vanished, "a vanished case", 0, "ConvTranspose", "vulkan", "is checked, but no longer timed",
     "\"1 case vanished\" in the third line; \"Vanished\" has its last night and its command"},
};
static_assert(std::size(kPlanted) == kChangeCount);

bool isOf(const Planted& one, const std::string& op, const std::string& backend) {
  return (*one.op == 0 || op == one.op) && (*one.backend == 0 || backend == one.backend);
}

void scale(AccuracyRecord& errors, double factor) {
  errors.margin *= factor, errors.maxAbs *= factor, errors.maxUlp *= factor, errors.nmse *= factor * factor;
}

void fail(CaseRecord& record, const char* reason) {
  AccuracyRecord& errors = *record.accuracy;
  record.status = CaseStatus::Fail;
  record.failedCheck = "accuracy";
  record.reason = reason;
  errors.failed = 1;
  errors.margin = 37.5;
  record.digest.front() = record.digest.front() == '0' ? '1' : '0';
}

/// Fails on its first night and tonight.
void flake(CaseRecord& record, size_t ago) {
  if (ago != planted(Change::Flake).first && ago != 0) return;
  fail(record, "1 of 32 elements is beyond its bound: [0,1,3,2]: expected 0.4127, got 0.4130");
  record.rerun = CaseStatus::Pass;
  if (ago > kFlakeListed) return;
  record.expectation = {"vulkan-demonstration-device.flakes:1", "demonstration: fails now and then", CaseStatus::Fail};
  record.status = CaseStatus::Flake;
}

}  // namespace

std::span<const Planted> planted() { return kPlanted; }

const Planted& planted(Change change) { return *std::ranges::find(kPlanted, change, &Planted::change); }

double timeFactor(const std::string& op, const std::string& backend, const std::string& figure, size_t ago) {
  double factor = 1;
  if (!figure.starts_with("execute")) return factor;
  for (const auto& [change, times] : {std::pair(Change::SlowKernel, kSlower), {Change::Driver, kNewDriver}})
    if (isOf(planted(change), op, backend) && ago <= planted(change).first) factor *= times;
  return factor;
}

std::string vulkanDriver(size_t ago) {
  return ago <= planted(Change::Driver).first ? "demonstration driver 24.2.0" : "demonstration driver 24.1.3";
}

bool isKilled(size_t ago) { return ago == planted(Change::Killed).first; }

bool isGone(const std::string& op, const std::string& backend, size_t ago) {
  return isOf(planted(Change::Vanished), op, backend) && ago <= planted(Change::Vanished).first;
}

void plantInCheck(CaseRecord& record, size_t ago) {
  const auto has = [&](Change change) {
    return isOf(planted(change), record.op, record.backend) && ago <= planted(change).first;
  };
  if (has(Change::LostDigit)) {
    scale(*record.accuracy, kLostDigit);
    record.digest.front() = record.digest.front() == '0' ? '1' : '0';
  }
  if (has(Change::Flake)) flake(record, ago);
  if (has(Change::Mended) && ago > 0)
    fail(record, "16 of 128 elements are beyond their bound, first [0,0,7,7]: expected 1.2031, got 0.9807");
}

}  // namespace opkit::reports::demo
