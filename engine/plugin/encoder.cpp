#include "engine/plugin/encoder.h"

#include "engine/plugin/registrar.h"
#include "engine/plugin/shader.h"

#ifdef OPKIT_HAS_VULKAN
#include <cstring>

#include "engine/backend/vulkan/vulkan_execution.h"

/// The opaque struct of the C ABI.
struct opkit_encoder {
  opkit_call& call;
  const opkit::plugin::Shader& shader;
  opkit::vulkan::Encoder& encoder;
  opkit::Status refused = {};  // by the device; the C interface carries a code and a message only
};

namespace opkit::plugin {
namespace {

template <class T>
void store(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof(T));
}

/// A number as the shader declares it; the types are those of shader_build's reflection. Numbers that C++ cannot
/// convert without undefined behaviour are a plugin's mistake.
template <class Field>
Status writeNumber(const Shader& shader, const Field& field, double value, std::byte* at) {
  const std::string& type = field.type;
  const bool isSigned = type == "int32_t" || type == "int64_t";
  const bool wide = type == "uint64_t" || type == "int64_t";
  const double limit = wide ? 9007199254740992.0 : isSigned ? 2147483648.0 : 4294967296.0;
  if (type == "float")
    store(static_cast<float>(value), at);
  else if (type == "double")
    store(value, at);
  else if (!(value < limit && value >= (isSigned ? -limit : 0)))
    return Status::invalidArgument("{}: '{}' is a {}, got {}", shader.name(), field.name, type, value);
  else if (wide)
    store(static_cast<int64_t>(value), at);
  else if (isSigned)
    store(static_cast<int32_t>(value), at);
  else
    store(static_cast<uint32_t>(value), at);  // bool too
  return Status::ok();
}

template <class List, class Name>
std::string namesOf(const List& list, Name name) {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : ", ") + std::string(name(one));
  return text.empty() ? "none" : text;
}

/// The index in `known` of every item of a C array; each must be known and given once.
template <class T, class Known, class Name, class Take>
Status matchAll(const Shader& shader, const char* what, const T* first, size_t count, const Known& known, Name name,
                bool complete, Take take) {
  std::vector<bool> given(known.size(), false);
  for (size_t i = 0; i < count; ++i) {
    const auto* at = reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(first) + i * first->struct_size);
    OPKIT_ASSIGN(const T item, copyStruct(at, what));
    const std::string itemName = item.name ? item.name : "";
    size_t k = 0;
    while (k < known.size() && name(known[k]) != itemName) ++k;
    if (k == known.size())
      return Status::invalidArgument("{}: there is no {} '{}'; expected {}", shader.name(), what, itemName,
                                     namesOf(known, name));
    if (given[k]) return Status::invalidArgument("{}: {} '{}' is given twice", shader.name(), what, itemName);
    given[k] = true;
    OPKIT_TRY(take(k, item));
  }
  for (size_t k = 0; complete && k < known.size(); ++k)
    if (!given[k]) return Status::invalidArgument("{}: {} '{}' is not given", shader.name(), what, name(known[k]));
  return Status::ok();
}

Status record(opkit_encoder& target, const opkit_dispatch& dispatch) {
  const Shader& shader = target.shader;
  OPKIT_ASSIGN(const vulkan::ShaderCode* code, shader.variant(dispatch.variant ? dispatch.variant : ""));
  const auto itself = [](const std::string& name) { return name; };
  const auto named = [](const auto& one) { return one.name; };

  std::vector<const Tensor*> tensors(shader.bindings().size(), nullptr);
  const auto takeBinding = [&](size_t k, const opkit_binding& binding) {
    tensors[k] = target.call.tensorOf(binding.tensor);
    if (tensors[k]) return Status::ok();
    return Status::invalidArgument("{}: binding '{}' is no input or output of the call", shader.name(),
                                   shader.bindings()[k]);
  };
  OPKIT_TRY(matchAll(shader, "binding", dispatch.bindings, dispatch.binding_count, shader.bindings(), itself, true,
                     takeBinding));

  std::vector<std::byte> push(shader.pushBytes() + sizeof(double));
  const auto takePush = [&](size_t k, const opkit_constant& constant) {
    return writeNumber(shader, shader.push()[k], constant.value, push.data() + shader.push()[k].offset);
  };
  OPKIT_TRY(matchAll(shader, "push constant", dispatch.push_constants, dispatch.push_constant_count, shader.push(),
                     named, true, takePush));

  std::vector<uint32_t> constants;
  for (const Shader::Constant& constant : shader.constants()) constants.push_back(constant.defaultBits);
  const auto takeConstant = [&](size_t k, const opkit_constant& constant) {
    return writeNumber(shader, shader.constants()[k], constant.value, reinterpret_cast<std::byte*>(&constants[k]));
  };
  OPKIT_TRY(matchAll(shader, "specialisation constant", dispatch.specialization, dispatch.specialization_count,
                     shader.constants(), named, false, takeConstant));
  const vulkan::Groups groups{dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]};
  return target.encoder.dispatchRaw(*code, tensors, {push.data(), shader.pushBytes()}, constants, groups);
}

class PluginVulkan final : public vulkan::VulkanExecution {
 public:
  PluginVulkan(const std::string& plugin, const GlslSpec& kernel, void* user, const AttributeReader* reader,
               const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), kernel_(kernel), user_(user), call_(plugin, args.def, reader, args.paramBytes) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    call_.setTensors(inputs, outputs);
    opkit_encoder target{call_, *kernel_.shader, encoder};
    const Status status = call_.invoke("encode", [&] { return kernel_.functions.encode(&call_, &target, user_); });
    return status.isOk() || target.refused.isOk() ? status : target.refused;
  }

 private:
  GlslSpec kernel_;
  void* user_;
  opkit_call call_;
};

}  // namespace

opkit_code dispatch(opkit_encoder* encoder, const opkit_dispatch* from) {
  const auto copy = copyStruct(from, "opkit_dispatch");
  const Status status = copy ? record(*encoder, *copy) : copy.error();
  if (status.isOk()) return OPKIT_OK;
  if (status.isByDevice()) encoder->refused = status;
  return failDispatch(encoder, static_cast<opkit_code>(status.code()), status.message());
}

opkit_code failDispatch(opkit_encoder* encoder, opkit_code code, std::string message) {
  return encoder->call.fail(code, std::move(message));
}

void linearGroups(int64_t items, uint32_t localSize, uint32_t groups[3]) {
  const vulkan::Groups all = vulkan::Groups::linear(items, std::max(localSize, 1u));
  groups[0] = all.x;
  groups[1] = all.y;
  groups[2] = all.z;
}

Creator vulkanCreator(const std::string& plugin, const GlslSpec& spec, void* user,
                      const std::shared_ptr<const AttributeReader>& reader) {
  Creator creator;
  creator.provider = spec.provider;
  creator.supports = [=](const CreateArgs& args) {
    const opkit_glsl_kernel& kernel = spec.functions;
    OPKIT_TRY(spec.shader->requireStorage(args));
    if (!kernel.supports && !kernel.loop_passes) return Status::ok();
    opkit_call call(plugin, args.def, reader.get(), args.paramBytes);
    call.setInputs(args.inputs, args.constants);
    call.setOutputs(args.outputs);
    if (kernel.supports) OPKIT_TRY(call.invoke("supports", [&] { return kernel.supports(&call, user); }));
    if (!kernel.loop_passes) return Status::ok();
    int64_t passes = 0;
    OPKIT_TRY(call.invoke("loop_passes", [&] { return passes = kernel.loop_passes(&call, user), OPKIT_OK; }));
    return vulkan::requireLoops(args, passes);
  };
  creator.create = [=](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
    return std::unique_ptr<Execution>(std::make_unique<PluginVulkan>(plugin, spec, user, reader.get(), args, backend));
  };
  return creator;
}

}  // namespace opkit::plugin

#else

namespace opkit::plugin {

// Without Vulkan no plugin gets an encoder to call these with.
opkit_code dispatch(opkit_encoder*, const opkit_dispatch*) { return OPKIT_UNSUPPORTED; }
opkit_code failDispatch(opkit_encoder*, opkit_code code, std::string) { return code; }
void linearGroups(int64_t, uint32_t, uint32_t groups[3]) { groups[0] = groups[1] = groups[2] = 0; }
Creator vulkanCreator(const std::string&, const GlslSpec&, void*, const std::shared_ptr<const AttributeReader>&) {
  return {};
}

}  // namespace opkit::plugin
#endif
