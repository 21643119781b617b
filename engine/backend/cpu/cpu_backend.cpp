#include "engine/backend/cpu/cpu_backend.h"

#include "engine/backend/extra_creators.h"
#include "engine/backend/host/host_backend.h"
#include "engine/backend/host/host_devices.h"
#include "engine/backend/host/host_loop.h"
#include "engine/backend/host/host_raster.h"
#include "engine/backend/reference/oracle_execution.h"
#include "engine/op/op_registry.h"

namespace opkit::cpu {
namespace {

/// Rather slow than hot: one thread unless a number was asked for, and none that waits busily.
size_t threadsFor(const BackendConfig& config) {
  return config.power == PowerHint::Low && config.threads == 0 ? 1 : config.threads;
}

class CpuBackend final : public HostBackend {
 public:
  CpuBackend(const OpRegistry& registry, const BackendConfig& config)
      : HostBackend("cpu"), registry_(registry), pool_(threadsFor(config), config.power == PowerHint::Normal) {}

  std::span<const Creator> creators(const OpDef& def) const override {
    std::vector<Creator> last{reference::oracleCreator()};
    if (def.loop) last.insert(last.begin(), hostLoopCreator(threadPool));
    return tables_.of(registry_, name(), def, last);
  }
  Result<std::unique_ptr<RasterExecution>> createRaster() override {
    return std::unique_ptr<RasterExecution>(std::make_unique<HostRaster>(*this, &pool_));
  }
  ThreadPool& pool() { return pool_; }

 private:
  const OpRegistry& registry_;
  mutable CreatorTables tables_;  // filled on demand; a Backend is single-threaded
  ThreadPool pool_;
};

class CpuRuntime final : public Runtime {
 public:
  explicit CpuRuntime(DeviceInfo device) : device_(std::move(device)) {}
  const DeviceInfo& device() const override { return device_; }
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry& registry, const BackendConfig& config) override {
    return std::unique_ptr<Backend>(std::make_unique<CpuBackend>(registry, config));
  }

 private:
  DeviceInfo device_;
};

}  // namespace

Result<std::vector<DeviceInfo>> devices() { return std::vector{hostDevice("cpu")}; }

Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options) {
  DeviceInfo device = hostDevice("cpu");
  OPKIT_TRY(checkDevice(device, options.device));
  return std::shared_ptr<Runtime>(std::make_shared<CpuRuntime>(std::move(device)));
}

ThreadPool& threadPool(Backend& backend) {
  OPKIT_CHECK(backend.name() == "cpu");
  return static_cast<CpuBackend&>(backend).pool();
}

}  // namespace opkit::cpu
