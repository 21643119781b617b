#include "harness/bench/calibrate.h"

#include <functional>

#include "engine/base/clock.h"
#include "harness/bench/roof_loops.h"
#include "harness/bench/statistics.h"

namespace opkit::harness {
namespace {

constexpr int kCalibrationRounds = 9;
constexpr int64_t kSteps = 2'000'000;        // some ms
constexpr int64_t kCopiedFloats = 16 << 20;  // 64 MiB

double medianNs(const std::function<void()>& body) {
  body();  // touches the memory
  std::vector<double> times;
  for (int round = 0; round < kCalibrationRounds; ++round) {
    const double start = nowNs();
    body();
    times.push_back(nowNs() - start);
  }
  return medianOf(times);
}

}  // namespace

reports::CalibrationRecord calibrate(const DevicePeaks* peaks) {
  reports::CalibrationRecord record;
  volatile float kept = 0;  // so that no loop is left out
  record.loopNs = medianNs([&] { kept = multiplyAdds(kSteps); });
  std::vector<float> from(kCopiedFloats, 1.0f), to(kCopiedFloats, 2.0f);
  record.copyBytesPerNs = static_cast<double>(2 * kCopiedFloats) * sizeof(float) /
                          medianNs([&] { streamCopy(from.data(), to.data(), kCopiedFloats); });
  kept = to[1];
  if (!peaks) return record;
  record.flopsPerNs = peaks->flopsPerNs;
  record.bytesPerNs = peaks->bytesPerNs();
  return record;
}

}  // namespace opkit::harness
