#include "engine/plugin/plugin_backend.h"

#include "engine/backend/host/host_recorder.h"
#include "engine/op/internal_operators.h"
#include "engine/plugin/call.h"
#include "engine/plugin/kernels.h"

namespace opkit::plugin {
namespace {

/// An open device, shared by the runtime, its sessions and their memory.
class Device {
 public:
  static Result<std::shared_ptr<Device>> open(const std::string& plugin, std::shared_ptr<const BackendSpec> spec,
                                              std::shared_ptr<const void> owner) {
    std::shared_ptr<Device> device(new Device(plugin, std::move(spec), std::move(owner)));
    const opkit_backend& functions = device->spec_->functions;
    opkit_call call(plugin);
    if (functions.open)
      OPKIT_TRY(call.invoke("open", [&] { return functions.open(&call, functions.user, &device->handle_); }));
    device->open_ = true;
    return device;
  }
  ~Device() {
    const opkit_backend& functions = spec_->functions;
    opkit_call call(plugin_);
    if (open_ && functions.close)
      static_cast<void>(call.invoke("close", [&] { return functions.close(functions.user, handle_), OPKIT_OK; }));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Calls one of the backend's functions with (user, device, arguments...).
  template <class Function, class... Arguments>
  Status call(const char* what, Function function, Arguments... arguments) {
    opkit_call call(plugin_);
    return call.invoke(what, [&] { return function(spec_->functions.user, handle_, arguments...); });
  }
  const std::string& plugin() const { return plugin_; }
  const BackendSpec& spec() const { return *spec_; }

 private:
  Device(std::string plugin, std::shared_ptr<const BackendSpec> spec, std::shared_ptr<const void> owner)
      : plugin_(std::move(plugin)), spec_(std::move(spec)), owner_(std::move(owner)) {}

  std::string plugin_;
  std::shared_ptr<const BackendSpec> spec_;
  std::shared_ptr<const void> owner_;  // the loaded library; the last member to go
  void* handle_ = nullptr;
  bool open_ = false;
};

class OwnedBuffer final : public PluginBuffer {
 public:
  OwnedBuffer(std::shared_ptr<Device> device, size_t sizeBytes, void* memory)
      : PluginBuffer(sizeBytes, memory), device_(std::move(device)) {}
  ~OwnedBuffer() override {
    static_cast<void>(device_->call("release", [this](void* user, void* handle) {
      device_->spec().functions.release(user, handle, memory());
      return OPKIT_OK;
    }));
  }

 private:
  std::shared_ptr<Device> device_;  // shared: memory may outlive its session
};

class PluginBackend final : public Backend {
 public:
  explicit PluginBackend(std::shared_ptr<Device> device) : device_(std::move(device)) {
    const BackendSpec& spec = device_->spec();
    kernel_.push_back(creatorOf(device_->plugin(), spec.kernel, spec.functions.user, nullptr));
  }

  const std::string& name() const override { return device_->spec().name; }
  /// The C interface has no regions.
  std::span<const Creator> creators(const OpDef& def) const override {
    return findInternalOperator(def.type) ? std::span<const Creator>() : kernel_;
  }

  Result<std::shared_ptr<Buffer>> allocate(size_t sizeBytes) override {
    ++counters().allocations;
    void* memory = nullptr;
    OPKIT_TRY(device_->call("allocate", device_->spec().functions.allocate, static_cast<uint64_t>(sizeBytes), &memory));
    return std::shared_ptr<Buffer>(std::make_shared<OwnedBuffer>(device_, sizeBytes, memory));
  }
  size_t alignment() const override { return std::max<size_t>(device_->spec().functions.alignment, 64); }

  Status upload(const Tensor& host, const Tensor& device) override {
    counters().bytesUploaded += device.sizeBytes();
    Tensor stored = host;
    if (!isStoredAlike(host, device)) {
      OPKIT_ASSIGN(stored, onHostAs(device));
      convertElements(host, stored);
    }
    return device_->call("upload", device_->spec().functions.upload, static_cast<const void*>(stored.bytes().data()),
                         memoryOf(device), static_cast<uint64_t>(device.offsetBytes),
                         static_cast<uint64_t>(device.sizeBytes()));
  }
  Status download(const Tensor& device, const Tensor& host) override {
    counters().bytesDownloaded += device.sizeBytes();
    Tensor stored = host;
    if (!isStoredAlike(host, device)) {
      OPKIT_ASSIGN(stored, onHostAs(device));
    }
    OPKIT_TRY(device_->call("download", device_->spec().functions.download, static_cast<const void*>(memoryOf(device)),
                            static_cast<uint64_t>(device.offsetBytes), static_cast<void*>(stored.bytes().data()),
                            static_cast<uint64_t>(device.sizeBytes())));
    if (stored.buffer != host.buffer) convertElements(stored, host);
    return Status::ok();
  }
  Result<std::unique_ptr<Recorder>> record() override { return std::unique_ptr<Recorder>(new HostRecorder); }

 private:
  /// A plugin copies bytes. Those of another dtype or layout are converted on the host.
  static bool isStoredAlike(const Tensor& host, const Tensor& device) {
    return host.desc.dtype == device.desc.dtype && host.layout == device.layout;
  }
  /// Host memory for the bytes of `device`, as they are stored there.
  static Result<Tensor> onHostAs(const Tensor& device) {
    Tensor tensor{device.desc};
    tensor.layout = device.layout;
    OPKIT_ASSIGN(tensor.buffer, HostBuffer::create(device.sizeBytes()));
    return tensor;
  }
  static void* memoryOf(const Tensor& tensor) { return static_cast<const PluginBuffer&>(*tensor.buffer).memory(); }

  std::shared_ptr<Device> device_;  // shared: sessions of one runtime are on one device
  std::vector<Creator> kernel_;     // one for every operator: it refuses what it does not run
};

DeviceInfo infoOf(const BackendSpec& spec, const std::string& plugin) {
  DeviceInfo info;
  info.backend = spec.name;
  info.name = spec.deviceName;
  info.driver = "plugin " + plugin;
  return info;
}

class PluginRuntime final : public Runtime {
 public:
  explicit PluginRuntime(std::shared_ptr<Device> device)
      : device_(std::move(device)), info_(infoOf(device_->spec(), device_->plugin())) {}
  const DeviceInfo& device() const override { return info_; }
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry&, const BackendConfig&) override {
    return std::unique_ptr<Backend>(std::make_unique<PluginBackend>(device_));
  }

 private:
  std::shared_ptr<Device> device_;
  DeviceInfo info_;
};

}  // namespace

BackendKind backendKindOf(const std::string& plugin, const std::shared_ptr<const BackendSpec>& spec,
                          const std::weak_ptr<const void>& owner) {
  BackendKind kind;
  kind.name = spec->name;
  kind.summary = spec->summary;
  kind.devices = [spec, plugin]() -> Result<std::vector<DeviceInfo>> { return std::vector{infoOf(*spec, plugin)}; };
  kind.createRuntime = [spec, plugin, owner](const RuntimeOptions& options) -> Result<std::shared_ptr<Runtime>> {
    if (!options.device.empty() && options.device != "0" && options.device != spec->deviceName)
      return Status::unsupported("{}: expected device 0 ({}), got '{}'", spec->name, spec->deviceName, options.device);
    const auto held = owner.lock();
    if (!held) return Status::invalidArgument("backend '{}': its plugin was unloaded", spec->name);
    OPKIT_ASSIGN(auto device, Device::open(plugin, spec, held));
    return std::shared_ptr<Runtime>(std::make_shared<PluginRuntime>(std::move(device)));
  };
  return kind;
}

}  // namespace opkit::plugin
