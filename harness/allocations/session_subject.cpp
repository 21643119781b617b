#include "harness/allocations/session_subject.h"

#include <optional>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/tensor/objects.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif

namespace opkit::harness {
namespace {

void fill(Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.desc.elements());
  if (tensor.desc.dtype == DType::String) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) texts.push_back(fmt::format("a text of some length, number {}", i));
    tensor = stringTensor(tensor.desc.shape, std::move(texts));
    return;
  }
  Tensor values = *Tensor::onHost({DType::Float64, tensor.desc.shape});
  const bool whole = tensor.desc.dtype == DType::Int64;
  for (size_t i = 0; i < count; ++i) {
    const auto drawn = static_cast<double>((i * 7919 + 3) % 1000);
    values.data<double>()[i] = whole ? static_cast<double>((i * 7919 + 3) % 10) : drawn / 500 - 1;
  }
  convertElements(values, tensor);
}

/// Shape and bytes.
std::string bytesOf(const Tensor& value) {
  std::string bytes = value.desc.toString();
  if (value.desc.dtype == DType::String)
    for (const std::string& text : stringsOf(value)) bytes += text + '\0';
  else if (value.sizeBytes() > 0)
    bytes.append(reinterpret_cast<const char*>(value.bytes().data()), value.sizeBytes());
  return bytes;
}

#ifdef OPKIT_HAS_VULKAN
vulkan::Device* deviceOf(const std::shared_ptr<Runtime>& runtime) {
  auto* const vulkanRuntime = vulkan::asVulkan(runtime.get());
  return vulkanRuntime ? vulkanRuntime->vulkanDevice().get() : nullptr;
}
#endif

class SessionSubject final : public Subject {
 public:
  explicit SessionSubject(const Setting& setting) : setting_(setting) {}

  size_t stepCount() const override { return std::size(kSteps); }
  const char* nameOf(size_t step) const override { return kSteps[step].name; }
  Status step(size_t i) override { return (this->*kSteps[i].take)(); }

  std::string valuesAfter(size_t i) override {
    std::string all;
    if (kSteps[i].take == &SessionSubject::run)
      for (const Tensor& output : session_->outputs()) all += bytesOf(output);
    return all;
  }

#ifdef OPKIT_HAS_VULKAN
  void refuseCreation(uint64_t grants) override {
    if (vulkan::Device* const device = deviceOf(setting_.runtime))
      device->faults().failCreationAfter(static_cast<int64_t>(grants));
  }
  std::optional<uint64_t> dropRefusal() override {
    vulkan::Device* const device = deviceOf(setting_.runtime);
    if (!device) return kNone;
    const int64_t left = device->faults().creationsLeft();
    device->faults().clear();
    return left >= 0 ? std::optional(static_cast<uint64_t>(left)) : std::nullopt;
  }
#endif

 private:
  struct Step {
    const char* name;
    Status (SessionSubject::*take)();
  };
  static const Step kSteps[7];

  Status load() {
    return guarded([this]() -> Status {
      plugins_.reset();
      const OpRegistry* registry = setting_.registry;
      const OnnxRules* rules = setting_.rules;
      if (!setting_.plugin.empty()) {
        plugins_.emplace(*registry, *rules);
        OPKIT_TRY(plugins_->load(setting_.plugin).error());
        registry = &plugins_->registry();
        rules = &plugins_->onnxRules();
      }
      OPKIT_ASSIGN(Model model, readModelFile(setting_.file, *rules, *registry));
      OPKIT_ASSIGN(interpreter_, Interpreter::create(std::move(model), *registry));
      return Status::ok();
    });
  }

  Status start() {
    if (setting_.runtime) {
      OPKIT_ASSIGN(session_, interpreter_->createSession(setting_.config, setting_.runtime));
    } else {
      OPKIT_ASSIGN(session_, interpreter_->createSession(setting_.config));
    }
    return Status::ok();
  }

  Status takeShapes(const std::map<std::string, Shape>& shapes) {
    for (const auto& [name, shape] : shapes) OPKIT_TRY(session_->resizeInput(name, shape));
    return session_->resize();
  }
  Status takeSmall() { return takeShapes(setting_.small); }
  Status takeLarge() { return takeShapes(setting_.large); }

  Status run() {
    {
      const RefusalPause pause;
      for (const std::string& name : session_->inputNames()) fill(*session_->fillInput(name));
    }
    return session_->run();
  }

  const Setting& setting_;
  std::optional<PluginSet> plugins_;
  std::shared_ptr<Interpreter> interpreter_;  // shared: as the engine returns it
  std::unique_ptr<Session> session_;
};

const SessionSubject::Step SessionSubject::kSteps[7] = {{"load", &SessionSubject::load},
                                                        {"start", &SessionSubject::start},
                                                        {"resize", &SessionSubject::takeSmall},
                                                        {"run", &SessionSubject::run},
                                                        {"resize again", &SessionSubject::takeLarge},
                                                        {"run again", &SessionSubject::run},
                                                        {"run once more", &SessionSubject::run}};

}  // namespace

Network networkOf(const Setting& setting) {
  Network network{setting.name, [&setting] { return std::make_unique<SessionSubject>(setting); }};
#ifdef OPKIT_HAS_VULKAN
  if (vulkan::Device* const device = deviceOf(setting.runtime))
    network.deviceBlocks = [device] { return device->memory().statistics().ranges; };
#endif
  return network;
}

}  // namespace opkit::harness
