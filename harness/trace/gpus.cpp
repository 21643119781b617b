#include "harness/trace/gpus.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace opkit::harness {
namespace {

constexpr double kGB = 1e9, kTFlops = 1e12, kMiB = 1024.0 * 1024.0;

// Figures of the makers' data sheets and architecture papers. Launch costs and the bandwidths of caches are round
// figures.
constexpr Gpu kGpus[] = {
    {"H100", 3350 * kGB, 5500 * kGB, 67 * kTFlops, 50 * kMiB, 132, 32, "discrete", 3e-6, "NVIDIA H100 SXM data sheet"},
    {"H200", 4800 * kGB, 5500 * kGB, 67 * kTFlops, 50 * kMiB, 132, 32, "discrete", 3e-6, "NVIDIA H200 SXM data sheet"},
    {"RTX4090", 1008 * kGB, 4500 * kGB, 82.6 * kTFlops, 72 * kMiB, 128, 32, "discrete", 3e-6,
     "NVIDIA Ada architecture paper"},
    {"RX7900XTX", 960 * kGB, 3500 * kGB, 61.4 * kTFlops, 96 * kMiB, 96, 64, "discrete", 4e-6,
     "AMD Radeon RX 7900 XTX specifications"},
    {"A770", 560 * kGB, 1500 * kGB, 19.7 * kTFlops, 16 * kMiB, 32, 32, "discrete", 5e-6,
     "Intel Arc A770 specifications"},
    {"Adreno750", 76.8 * kGB, 200 * kGB, 2.8 * kTFlops, 3 * kMiB, 6, 64, "integrated", 20e-6,
     "LPDDR5X of Snapdragon 8 Gen 3; FLOP/s estimated"},
    {"MaliG715", 68.2 * kGB, 150 * kGB, 1.9 * kTFlops, 4 * kMiB, 7, 16, "integrated", 20e-6,
     "LPDDR5X of Tensor G3; FLOP/s estimated"},
    {"M2", 100 * kGB, 250 * kGB, 3.6 * kTFlops, 8 * kMiB, 10, 32, "integrated", 10e-6, "Apple M2 specifications"},
};

}  // namespace

std::span<const Gpu> gpus() { return kGpus; }

Result<const Gpu*> gpuNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const Gpu& gpu : kGpus) {
    if (name == gpu.name) return &gpu;
    names.emplace_back(gpu.name);
  }
  return Status::invalidArgument("GPU: expected one of {}, got '{}'", fmt::join(names, ", "), name);
}

const char* nameOf(Limit limit) {
  constexpr const char* kNames[] = {"memory", "arithmetic", "groups", "launch"};
  return kNames[static_cast<size_t>(limit)];
}

Limit Estimate::limit() const { return static_cast<Limit>(std::ranges::max_element(part) - part.begin()); }

void Estimate::add(const Estimate& other) {
  seconds += other.seconds;
  needed += other.needed;
  for (size_t i = 0; i < part.size(); ++i) part[i] += other.part[i];
}

Estimate estimateOf(const DispatchProfile& profile, double flops, const Gpu& gpu) {
  const double footprint = profile.footprintBytes, requests = std::max(profile.all.requestBytes(), footprint);
  const double held = footprint > 0 ? std::min(1.0, gpu.cacheBytes / footprint) : 1;
  const double missed = footprint + (requests - footprint) * (1 - held);
  const double memory = std::max(missed / gpu.bandwidth, requests / gpu.cacheBandwidth);
  const double arithmetic = flops / gpu.flops;
  const double fill = std::min(1.0, static_cast<double>(std::max<uint64_t>(profile.groups, 1)) / gpu.units);
  const double work = std::max(memory, arithmetic) / fill;
  Estimate estimate;
  estimate.seconds = std::max(work, gpu.launchSeconds);
  estimate.needed = std::max(std::min(profile.tensorBytes, footprint) / gpu.bandwidth, arithmetic);
  const Limit limit = gpu.launchSeconds >= work ? Limit::Launch
                      : fill < 1                ? Limit::Groups
                      : memory >= arithmetic    ? Limit::Memory
                                                : Limit::Arithmetic;
  estimate.part[static_cast<size_t>(limit)] = estimate.seconds;
  return estimate;
}

}  // namespace opkit::harness
