#include "engine/backend/null/null_backend.h"

#include "engine/backend/host/host_recorder.h"

namespace opkit::null {
namespace {

DeviceInfo nullDevice() {
  DeviceInfo info;
  info.backend = "null";
  info.name = "null";
  info.driver = "none";
  return info;
}

/// State of one session.
class NullBackend final : public Backend {
 public:
  const std::string& name() const override { return name_; }

  // No kernels: the pipeline asks the next backend, and reports "null" as a refusal.
  std::span<const Creator> creators(const OpDef&) const override { return {}; }

  // The "device memory" is host memory. A real device subclasses Buffer.
  Result<std::shared_ptr<Buffer>> allocate(size_t sizeBytes) override {
    ++counters().allocations;
    OPKIT_ASSIGN(auto buffer, HostBuffer::create(sizeBytes));
    return std::shared_ptr<Buffer>(std::move(buffer));
  }
  size_t alignment() const override { return 64; }

  Status upload(const Tensor& host, const Tensor& device) override {
    convertElements(host, device);
    counters().bytesUploaded += device.sizeBytes();
    return Status::ok();
  }
  Status download(const Tensor& device, const Tensor& host) override {
    convertElements(device, host);
    counters().bytesDownloaded += device.sizeBytes();
    return Status::ok();
  }

  // Kernels would run when they are called. A real device returns a Recorder of its own.
  Result<std::unique_ptr<Recorder>> record() override { return std::unique_ptr<Recorder>(new HostRecorder); }

 private:
  std::string name_ = "null";
};

/// State that the sessions on one device share.
class NullRuntime final : public Runtime {
 public:
  const DeviceInfo& device() const override { return device_; }
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry&, const BackendConfig&) override {
    return std::unique_ptr<Backend>(std::make_unique<NullBackend>());
  }

 private:
  DeviceInfo device_ = nullDevice();
};

}  // namespace

Result<std::vector<DeviceInfo>> devices() { return std::vector{nullDevice()}; }

Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options) {
  if (!options.device.empty() && options.device != "0" && options.device != "null")
    return Status::unsupported("null: expected device 0 (null), got '{}'", options.device);
  return std::shared_ptr<Runtime>(std::make_shared<NullRuntime>());
}

}  // namespace opkit::null
