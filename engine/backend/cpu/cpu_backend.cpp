#include "engine/backend/cpu/cpu_backend.h"

#include <xxhash.h>

#include <mutex>

#include "engine/backend/cache_file.h"
#include "engine/backend/cpu/kernel_hash.h"
#include "engine/backend/cpu/simd_target.h"
#include "engine/backend/cpu/widened.h"
#include "engine/backend/extra_creators.h"
#include "engine/backend/host/host_backend.h"
#include "engine/backend/host/host_devices.h"
#include "engine/backend/host/host_loop.h"
#include "engine/backend/host/host_raster.h"
#include "engine/backend/reference/oracle_execution.h"
#include "engine/backend/tuning_cache.h"
#include "engine/base/make_thread_pool.h"
#include "engine/op/internal_operators.h"
#include "engine/op/op_registry.h"

namespace opkit::cpu {
namespace {

/// Prefer low power over speed: one thread unless a number was given, and no busy waiting.
size_t threadsFor(const BackendConfig& config) {
  return config.power == PowerHint::Low && config.threads == 0 ? 1 : config.threads;
}

ThreadManner mannerFor(const BackendConfig& config) {
  return config.power == PowerHint::Low ? ThreadManner::Sleeps : ThreadManner::Spins;
}

class CpuBackend final : public HostBackend {
 public:
  CpuBackend(const OpRegistry& registry, std::shared_ptr<ThreadPool> pool)
      : HostBackend("cpu"), registry_(registry), pool_(std::move(pool)) {}

  std::span<const Creator> creators(const OpDef& def) const override {
    return tables_.of(registry_, name(), def, [&](std::span<const Creator> table) {
      if (&def == &convertCard()) return std::vector<Creator>();
      if (&def == &rasterCard()) return std::vector{hostRasterCreator(threadPool), reference::rasterOracleCreator()};
      std::vector<Creator> last = widenedKernels(def, table);
      if (def.loop) {
        last.push_back(hostLoopCreator(threadPool));
        last.push_back(widenedKernel(last.back()));  // it does not combine f16
      }
      last.push_back(reference::oracleCreator());
      return last;
    });
  }
  ThreadPool& pool() { return *pool_; }

 private:
  const OpRegistry& registry_;
  mutable CreatorTables tables_;      // filled on demand; a Backend is single-threaded
  std::shared_ptr<ThreadPool> pool_;  // shared with the session's other Backends
};

Result<std::shared_ptr<ThreadPool>> poolFor(const BackendConfig& config) {
  const std::shared_ptr<BackendShare> share = config.share ? config.share : std::make_shared<BackendShare>();
  const std::lock_guard lock(share->making);
  if (!share->pool) {
    OPKIT_ASSIGN(share->pool, makeThreadPool(threadsFor(config), mannerFor(config)));
  }
  return share->pool;
}

class CpuRuntime final : public Runtime {
 public:
  CpuRuntime(DeviceInfo device, std::string cacheDir) : device_(std::move(device)), cacheDir_(std::move(cacheDir)) {}
  ~CpuRuntime() override {
    if (tuning_) keepCache([this] { return tuning_->save(); });
  }

  /// Read at first use, written when the Runtime is destroyed. One file per processor and instruction set.
  TuningCache* measurements() override {
    std::call_once(tuningMade_, [this] {
      const auto folder = cacheFolder(cacheDir_);
      const std::string file = fmt::format("cpu-{:016x}.tuning", XXH3_64bits(device_.name.data(), device_.name.size()));
      tuning_ = std::make_unique<TuningCache>(folder ? *folder / file : std::filesystem::path(),
                                              fmt::format("{} kernels {}", device_.name, kKernelHash));
    });
    return tuning_.get();
  }

  const DeviceInfo& device() const override { return device_; }
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry& registry, const BackendConfig& config) override {
    OPKIT_ASSIGN(auto pool, poolFor(config));
    return std::unique_ptr<Backend>(std::make_unique<CpuBackend>(registry, std::move(pool)));
  }

 private:
  DeviceInfo device_;
  std::string cacheDir_;
  std::once_flag tuningMade_;
  std::unique_ptr<TuningCache> tuning_;
};

}  // namespace

Result<std::vector<DeviceInfo>> devices() { return std::vector{hostDevice("cpu")}; }

Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options) {
  OPKIT_TRY(checkSimd());
  DeviceInfo device = hostDevice("cpu");
  OPKIT_TRY(checkDevice(device, options.device));
  return std::shared_ptr<Runtime>(std::make_shared<CpuRuntime>(std::move(device), options.cacheDir));
}

ThreadPool& threadPool(Backend& backend) {
  OPKIT_CHECK(backend.name() == "cpu");
  return static_cast<CpuBackend&>(backend).pool();
}

}  // namespace opkit::cpu
