#include "harness/check/export_cpp.h"

#include <cmath>

#include "engine/backend/vulkan/shader_tables.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/decomposition.h"
#include "harness/check/export_template.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

struct Command {
  vulkan::ShaderCode code;  // a copy: a kernel may pass a temporary; the data it points to lives as long as the program
  std::vector<size_t> buffers;  // indices
  std::vector<std::byte> push;
  std::vector<uint32_t> constants;
  vulkan::Groups groups;
};

/// Converts a tensor to the form that the device reads through texels.
const char* texelFormat(DType dtype) {
  switch (dtype) {
    case DType::Float16: return "VK_FORMAT_R16G16B16A16_SFLOAT";
    case DType::UInt32: return "VK_FORMAT_R32G32B32A32_UINT";  // tables
    default: return "VK_FORMAT_R32G32B32A32_SFLOAT";
  }
}

/// Records dispatches instead of encoding them.
class Capture final : public vulkan::Encoder {
 public:
  explicit Capture(Backend& backend) : backend_(backend), tables_(backend) {}

  Status dispatchRaw(const vulkan::ShaderCode& code, std::span<const Tensor* const> bound,
                     std::span<const std::byte> push, std::span<const uint32_t> constants,
                     vulkan::Groups groups) override {
    Command command{code, {}, {push.begin(), push.end()}, {constants.begin(), constants.end()}, groups};
    for (size_t i = 0; i < bound.size(); ++i) {
      if (vulkan::isImage(code.bindings[i])) return Status::unsupported("{}: images cannot be exported", code.name);
      command.buffers.push_back(indexOf(*bound[i]));
    }
    if (groups.x > 0 && groups.y > 0 && groups.z > 0) commands.push_back(std::move(command));
    return Status::ok();
  }
  Status fillZero(const Tensor&) override { return Status::unsupported("fills cannot be exported"); }
  Status copyRuns(const Tensor&, const Tensor&, std::span<const vulkan::ByteRun>) override {
    return Status::unsupported("copies cannot be exported");
  }
  Status copyChannels(const Tensor&, const Tensor&, int64_t) override {
    return Status::unsupported("images cannot be exported");
  }
  size_t shortestRunBytes() const override { return SIZE_MAX; }
  uint64_t maxBindingBytes() const override { return UINT64_MAX; }
  const DeviceCaps& caps() const override { return backend_.caps(); }
  void beginDisjoint() override {}
  void endDisjoint() override {}
  Result<const Tensor*> scratch(TensorDesc desc) override {
    auto tensor = std::make_unique<Tensor>();
    tensor->desc = std::move(desc);
    OPKIT_ASSIGN(tensor->buffer, backend_.allocate(std::max<size_t>(tensor->sizeBytes(), 1)));
    scratch_.push_back(std::move(tensor));
    return static_cast<const Tensor*>(scratch_.back().get());
  }
  Result<const Tensor*> report(int64_t words, vulkan::DataReport) override { return scratch({DType::Int32, {words}}); }
  Result<const Tensor*> table(const std::vector<uint32_t>& words) override { return tables_.upload(words); }
  Result<size_t> choose(const vulkan::Alternatives& alternatives, TensorList, TensorList) override {
    return alternatives.standard;
  }

  size_t indexOf(const Tensor& tensor) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i]->buffer == tensor.buffer && tensors[i]->offsetBytes == tensor.offsetBytes) return i;
    tensors.push_back(&tensor);
    return tensors.size() - 1;
  }

  std::vector<const Tensor*> tensors;  // one per buffer of the program
  std::vector<Command> commands;

 private:
  Backend& backend_;
  vulkan::ShaderTables tables_;
  std::vector<std::unique_ptr<Tensor>> scratch_;
};

std::string wordsText(std::span<const std::byte> bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t word = 0;
    for (size_t b = 0; b < 4 && at + b < bytes.size(); ++b) word |= std::to_integer<uint32_t>(bytes[at + b]) << (8 * b);
    text += fmt::format("{:#x},{}", word, at % 48 == 44 ? "\n" : "");
  }
  return text.empty() ? "0" : text;
}

std::string doublesText(const std::vector<double>& values) {
  std::string text;
  for (const double v : values)
    text += std::isnan(v) ? "NAN," : std::isinf(v) ? (v > 0 ? "INFINITY," : "-INFINITY,") : fmt::format("{:.17g},", v);
  return text.empty() ? "0" : text;
}

class Exporter {
 public:
  Exporter(const PreparedCase& c, const OpRegistry& registry, Runtime& runtime)
      : case_(c), def_(*registry.find(c.description.op)), registry_(registry), runtime_(runtime) {}

  Result<std::string> run() {
    OPKIT_TRY(case_.status);
    if (def_.lower) return Status::unsupported("{}: regions are copies and cannot be exported", def_.type);
    OPKIT_ASSIGN(backend_, runtime_.createBackend(registry_, {}));
    OPKIT_TRY(place());
    OPKIT_TRY(create());
    auto* kernel = dynamic_cast<vulkan::VulkanExecution*>(execution_.get());
    if (!kernel) return Status::unsupported("{}: not a Vulkan kernel", def_.type);
    Capture capture(*backend_);
    for (const Tensor* tensor : outputs_) capture.indexOf(*tensor);  // the first buffer is the first output
    OPKIT_TRY(kernel->onEncode(inputs_, outputs_, capture));
    if (capture.commands.empty()) return Status::unsupported("{}: the kernel dispatches nothing", def_.type);
    return text(capture);
  }

 private:
  Status place() {
    memory_.reserve(case_.inputs.size() + case_.expected.size());
    for (const auto& input : case_.inputs) {
      inputs_.push_back(nullptr);
      if (!input) continue;
      OPKIT_ASSIGN(inputs_.back(), onDevice(*input));
    }
    for (const OracleTensor& output : case_.expected) {
      OPKIT_ASSIGN(const Tensor poison, Tensor::onHost(output.desc));
      std::ranges::fill(poison.bytes(), std::byte{0xFF});
      outputs_.push_back(nullptr);
      OPKIT_ASSIGN(outputs_.back(), onDevice(poison));
    }
    return Status::ok();
  }

  Result<const Tensor*> onDevice(const Tensor& host) {
    Tensor tensor;
    tensor.desc = host.desc;
    OPKIT_ASSIGN(tensor.buffer, backend_->allocate(std::max<size_t>(tensor.sizeBytes(), 1)));
    OPKIT_TRY(backend_->upload(host, tensor));
    memory_.push_back(std::move(tensor));
    return static_cast<const Tensor*>(&memory_.back());
  }

  Status create() {
    OPKIT_ASSIGN(params_, paramsFromJson(def_.params, case_.description.params));
    std::vector<const TensorDesc*> inputs;
    std::vector<TensorDesc> outputs;
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      inputs.push_back(case_.inputs[i] ? &case_.inputs[i]->desc : nullptr);
      constants.push_back(case_.inputs[i] && case_.description.isConstant(i) ? &*case_.inputs[i] : nullptr);
    }
    for (const OracleTensor& output : case_.expected) outputs.push_back(output.desc);
    OPKIT_ASSIGN(const Decomposition form, kernelForm(def_, {params_, inputs, constants, outputs.size()}, outputs));
    if (!form.parts().empty()) return Status::unsupported("{} in this form is made of other operators", def_.type);
    const CreateArgs args{def_, params_, inputs, outputs, constants, backend_->caps()};
    for (const Creator& creator : backend_->creators(def_)) {
      if (creator.layout != Layout::NCHW || !creator.dtypes.contains(keyDType(args)) || !creator.supports(args).isOk())
        continue;
      OPKIT_ASSIGN(execution_, creator.create(args, *backend_));
      return Status::ok();
    }
    return Status::unsupported("{}: no Vulkan kernel with buffers accepts the case", def_.type);
  }

  Result<std::string> text(const Capture& capture) {
    std::string buffers, list, dispatches;
    size_t total = 0;
    for (size_t i = 0; i < capture.tensors.size(); ++i) {
      const Tensor& tensor = *capture.tensors[i];
      total += tensor.sizeBytes();
      if (total > kMaxBytes) return Status::unsupported("the case holds over {} bytes: shrink it first", kMaxBytes);
      OPKIT_ASSIGN(const Tensor host, Tensor::onHost(tensor.desc));
      OPKIT_TRY(backend_->download(tensor, host));
      buffers += fmt::format("const uint32_t kData{}[] = {{{}}};  // {}\n", i, wordsText(host.bytes()),
                             tensor.desc.toString());
      list += fmt::format("  {{kData{}, {}, {}}},\n", i, tensor.sizeBytes(), texelFormat(tensor.desc.dtype));
    }
    for (size_t i = 0; i < capture.commands.size(); ++i) addDispatch(capture.commands[i], i, buffers, dispatches);
    const OracleTensor& expected = case_.expected[0];
    const Tolerance tolerance = toleranceOf(def_, case_.description.lane, expected, case_.description.boundScale);
    std::vector<double> want = expected.real, bound = tolerance.bound;
    if (!expected.isReal()) want.assign(expected.integer.begin(), expected.integer.end());
    bound.resize(want.size(), 0);
    return fmt::format(fmt::runtime(kExportTemplate), fmt::arg("id", case_.description.id()), fmt::arg("data", buffers),
                       fmt::arg("buffers", list), fmt::arg("dispatches", dispatches),
                       fmt::arg("dtype", nameOf(expected.desc.dtype)), fmt::arg("expected", doublesText(want)),
                       fmt::arg("bounds", doublesText(bound)), fmt::arg("count", want.size()));
  }

  static void addDispatch(const Command& command, size_t i, std::string& data, std::string& dispatches) {
    data += fmt::format("// {}\nconst uint32_t kSpirv{}[] = {{{}}};\n", command.code.name, i,
                        wordsText(std::as_bytes(command.code.spirv)));
    std::string texels;
    for (const vulkan::Access access : command.code.bindings) texels += access == vulkan::Access::Texel ? "1," : "0,";
    dispatches +=
        fmt::format("  {{kSpirv{}, sizeof(kSpirv{}), {{{}}}, {{{}}}, {{{}}}, {{{}}}, {}, {}, {}}},\n", i, i,
                    fmt::join(command.buffers, ","), texels, command.push.empty() ? "" : wordsText(command.push),
                    fmt::join(command.constants, ","), command.groups.x, command.groups.y, command.groups.z);
  }

  const PreparedCase& case_;
  const OpDef& def_;
  const OpRegistry& registry_;
  Runtime& runtime_;
  ParamBytes params_;
  std::unique_ptr<Backend> backend_;
  std::vector<Tensor> memory_;
  std::vector<const Tensor*> inputs_, outputs_;
  std::unique_ptr<Execution> execution_;
};

}  // namespace

Result<std::string> exportCpp(const PreparedCase& c, const OpRegistry& registry, Runtime& runtime) {
  return Exporter(c, registry, runtime).run();
}

}  // namespace opkit::harness
