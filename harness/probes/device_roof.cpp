#include "harness/probes/device_roof.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backend/op_runner.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/clock.h"
#include "engine/op/op_registry.h"
#include "shaders/probes/roof_copy.h"
#include "shaders/probes/roof_flops.h"

namespace opkit::harness {
namespace {

constexpr uint32_t kSteps = 256;  // of a loop: below the limits of devices that end loops early
constexpr double kFlopsOfInvocation = kSteps * 8 * 4 * 2;  // chains, lanes of a vector, operations of a multiply-add
constexpr int64_t kFirstInvocations = 1 << 14, kMostInvocations = int64_t{1} << 30;
constexpr double kLongNs = 5e7;  // a launch and a wait are a small share of it; no device's watchdog ends it
constexpr int kRuns = 5;
constexpr int64_t kCopied[] = {1 << 14, 1 << 18, 1 << 21, 1 << 23, 1 << 26};  // floats: 64 KiB to 256 MiB, twice
constexpr uint32_t kCopyRounds = 16;                                          // vectors per invocation
constexpr double kClockTolerance = 0.1;
constexpr int kAttempts = 3;  // for a clock that seems wrong: a busy host wakes up late

/// Encodes one dispatch by a function.
class ProbeExecution final : public vulkan::VulkanExecution {
 public:
  using Encode = std::function<Status(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder)>;
  ProbeExecution(Backend& backend, Encode encode) : VulkanExecution(backend), encode_(std::move(encode)) {}
  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    return encode_(inputs, outputs, encoder);
  }

 private:
  Encode encode_;
};

struct Times {
  double deviceNs = -1;  // of the dispatch; -1 if the device has no clock
  double hostNs = 0;     // from submission to the end of the wait

  double best() const { return deviceNs > 0 ? deviceNs : hostNs; }
};

/// The run of several with the shortest host time.
Result<Times> timeProbe(Backend& backend, ProbeExecution::Encode encode, int64_t inputFloats, int64_t outputFloats,
                        int runs = kRuns) {
  const TensorDesc from{DType::Float32, {inputFloats}}, to{DType::Float32, {outputFloats}};
  const TensorDesc* const input = &from;
  OpRunner runner(backend, std::make_unique<ProbeExecution>(backend, std::move(encode)));
  OPKIT_TRY(runner.place({&input, 1}, {&to, 1}));
  OPKIT_ASSIGN(const Tensor host, Tensor::onHost(from));
  std::ranges::fill(host.data<float>(), 0.5f);
  OPKIT_TRY(runner.upload(0, host));
  OPKIT_TRY(runner.resize());
  OPKIT_TRY(runner.run());  // compiles
  Times best{.hostNs = std::numeric_limits<double>::infinity()};
  for (int i = 0; i < runs; ++i) {
    const double start = nowNs();
    OPKIT_TRY(runner.run());
    const double hostNs = nowNs() - start;
    std::vector<double> deviceNs;
    OPKIT_TRY(runner.appendTimesNs(deviceNs));
    if (hostNs < best.hostNs) best = {deviceNs.empty() ? -1 : deviceNs.back(), hostNs};
  }
  return best;
}

Result<Times> timeFlops(Backend& backend, int64_t invocations, int runs = kRuns) {
  const auto encode = [invocations](TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
    return encoder.dispatch<shaders::RoofFlops>({}, {.x = inputs[0], .y = outputs[0]}, {.steps = kSteps},
                                                vulkan::Items{invocations});
  };
  return timeProbe(backend, encode, 8, 128, runs);
}

Result<DevicePeaks::Bandwidth> copyRate(Backend& backend, int64_t floats) {
  const auto encode = [floats](TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
    return encoder.dispatch<shaders::RoofCopy>({}, {.x = inputs[0], .y = outputs[0]}, {.rounds = kCopyRounds},
                                               vulkan::Items{floats / 4 / kCopyRounds});
  };
  OPKIT_ASSIGN(const Times times, timeProbe(backend, encode, floats, floats));
  const double bytes = 2 * sizeof(float) * static_cast<double>(floats);
  return DevicePeaks::Bandwidth{bytes, bytes / times.best()};
}

bool isTooLarge(const Status& status) {
  return status.code() == StatusCode::OutOfMemory || status.code() == StatusCode::Unsupported;
}

/// Dispatches that grow until one takes long: the best rate of all, and the clocks during the last.
Status probeFlops(Backend& backend, DeviceRoof& roof) {
  int attempts = 0;
  for (int64_t invocations = kFirstInvocations;;) {
    OPKIT_ASSIGN(const Times times, timeFlops(backend, invocations, invocations == kFirstInvocations ? kRuns : 2));
    roof.peaks.flopsPerNs =
        std::max(roof.peaks.flopsPerNs, static_cast<double>(invocations) * kFlopsOfInvocation / times.hostNs);
    if (times.deviceNs >= 0) roof.clockRatio = times.deviceNs / times.hostNs;
    if (times.hostNs >= kLongNs && (roof.clockStatus().isOk() || ++attempts == kAttempts)) break;
    if (times.hostNs < kLongNs) invocations *= 4;
    if (invocations > kMostInvocations) break;
  }
  return Status::ok();
}

}  // namespace

double DeviceRoof::cacheBytesPerNs() const {
  double fastest = 0;
  for (const DevicePeaks::Bandwidth& each : peaks.bandwidths) fastest = std::max(fastest, each.bytesPerNs);
  return fastest;
}

double DeviceRoof::cacheBytes() const {
  double found = 0;
  for (const DevicePeaks::Bandwidth& each : peaks.bandwidths)
    if (each.bytesPerNs > 1.5 * peaks.bytesPerNs()) found = each.bytes;
  return found;
}

Status checkClock(double ratio) {
  if (ratio == 0 || std::fabs(ratio - 1) <= kClockTolerance) return Status::ok();
  return Status::internal(
      "the device's clock counts {:.3g} ns while the host's counts 1 (timestampPeriod, or a timestamp taken too "
      "early): "
      "times by the device are wrong",
      ratio);
}

Status DeviceRoof::clockStatus() const { return checkClock(clockRatio); }

Result<DeviceRoof> probeDeviceRoof(Runtime& runtime) {
  static const OpRegistry none;
  OPKIT_ASSIGN(const auto backend, runtime.createBackend(none, {.deviceTimestamps = true}));
  DeviceRoof roof;
  OPKIT_TRY(probeFlops(*backend, roof));
  OPKIT_ASSIGN(const Times launch, timeFlops(*backend, 1, 20));
  roof.launchNs = launch.best();
  for (const int64_t floats : kCopied) {
    const auto rate = copyRate(*backend, floats);
    if (!rate && !roof.peaks.bandwidths.empty() && isTooLarge(rate.error())) break;
    if (!rate) return rate.error();
    roof.peaks.bandwidths.push_back(*rate);
  }
  return roof;
}

}  // namespace opkit::harness
