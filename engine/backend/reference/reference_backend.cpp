#include "engine/backend/reference/reference_backend.h"

#include "engine/backend/host/host_backend.h"
#include "engine/backend/host/host_devices.h"
#include "engine/backend/host/host_loop.h"
#include "engine/backend/host/host_raster.h"
#include "engine/backend/reference/oracle_execution.h"
#include "engine/op/internal_operators.h"

namespace opkit::reference {
namespace {

class ReferenceBackend final : public HostBackend {
 public:
  ReferenceBackend() : HostBackend("reference") {}
  /// The oracle; the loop after it runs only if forced.
  std::span<const Creator> creators(const OpDef& def) const override {
    if (&def == &convertCard()) return {};
    if (&def == &rasterCard()) return rasters_;
    return {creators_, def.loop ? 2u : 1u};
  }

 private:
  static ThreadPool& poolOf(Backend& backend) { return static_cast<ReferenceBackend&>(backend).pool_; }

  ThreadPool pool_;  // the caller's thread only
  Creator creators_[2] = {oracleCreator(), hostLoopCreator(poolOf)};
  Creator rasters_[2] = {hostRasterCreator(poolOf), rasterOracleCreator()};  // folding needs the fast one
};

class ReferenceRuntime final : public Runtime {
 public:
  explicit ReferenceRuntime(DeviceInfo device) : device_(std::move(device)) {}
  const DeviceInfo& device() const override { return device_; }
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry&, const BackendConfig&) override {
    return std::unique_ptr<Backend>(std::make_unique<ReferenceBackend>());
  }

 private:
  DeviceInfo device_;
};

}  // namespace

Result<std::vector<DeviceInfo>> devices() { return std::vector{hostDevice("reference")}; }

Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options) {
  DeviceInfo device = hostDevice("reference");
  OPKIT_TRY(checkDevice(device, options.device));
  return std::shared_ptr<Runtime>(std::make_shared<ReferenceRuntime>(std::move(device)));
}

}  // namespace opkit::reference
