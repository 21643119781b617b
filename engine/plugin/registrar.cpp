#include "engine/plugin/registrar.h"

#include <re2/re2.h>

#include <cstring>

#include "engine/backend/loop_lowering.h"
#include "engine/plugin/call.h"
#include "engine/plugin/shader.h"

namespace opkit::plugin {

template <class T>
Result<T> copyStruct(const T* from, const char* what) {
  if (!from) return Status::invalidArgument("{} is NULL", what);
  if (from->abi_version != OPKIT_ABI_VERSION)
    return Status::invalidArgument("{}: expected abi_version {}, found {}; begin it with OPKIT_STRUCT", what,
                                   OPKIT_ABI_VERSION, from->abi_version);
  constexpr uint32_t kLargest = 1 << 16;
  if (from->struct_size < 2 * sizeof(uint32_t) || from->struct_size > kLargest)
    return Status::invalidArgument("{}: struct_size {} cannot be right; begin it with OPKIT_STRUCT", what,
                                   from->struct_size);
  T copy{};
  std::memcpy(&copy, from, std::min<size_t>(from->struct_size, sizeof(T)));
  return copy;
}

template Result<opkit_plugin> copyStruct(const opkit_plugin*, const char*);
template Result<opkit_dispatch> copyStruct(const opkit_dispatch*, const char*);
template Result<opkit_binding> copyStruct(const opkit_binding*, const char*);
template Result<opkit_constant> copyStruct(const opkit_constant*, const char*);

namespace {

constexpr size_t kMostItems = 1024;  // of one array: more is a mistake, not a wish

/// Calls body(copy) for each struct of an array.
template <class T, class Body>
Status forEach(const T* first, size_t count, const char* what, Body body) {
  if (count > kMostItems || (count > 0 && !first))
    return Status::invalidArgument("{}: expected an array of at most {}, got {} at {}", what, kMostItems, count,
                                   static_cast<const void*>(first));
  const auto* bytes = reinterpret_cast<const std::byte*>(first);
  for (size_t i = 0; i < count; ++i) {
    OPKIT_ASSIGN(const T copy, copyStruct(reinterpret_cast<const T*>(bytes + i * first->struct_size), what));
    OPKIT_TRY(body(copy));
  }
  return Status::ok();
}

std::string textOr(const char* text, const std::string& otherwise) { return text && *text ? text : otherwise; }

Status requireName(const char* text, const char* what, const char* pattern, const char* example) {
  constexpr size_t kLongest = 256;
  if (text && strnlen(text, kLongest + 1) <= kLongest && re2::RE2::FullMatch(text, pattern)) return Status::ok();
  return Status::invalidArgument("expected {} such as {}, got '{}'", what, example, oneLine(textOr(text, "")));
}

Result<DTypeSet> dtypesOf(uint32_t mask) {
  if ((mask & ~OPKIT_ANY_DTYPE) != 0)
    return Status::invalidArgument("dtypes {:#x} has bits of no dtype; write OPKIT_BIT(OPKIT_F32)", mask);
  DTypeSet dtypes;
  for (int dtype = OPKIT_F32; dtype <= OPKIT_BOOL; ++dtype)
    if ((mask & OPKIT_BIT(dtype)) != 0) dtypes = dtypes | DTypeSet(static_cast<DType>(dtype));
  return dtypes;
}

Result<std::vector<Port>> ports(const opkit_port* first, size_t count, const char* what) {
  std::vector<Port> list;
  const Status checked = forEach(first, count, what, [&](const opkit_port& port) -> Status {
    OPKIT_TRY(requireName(port.name, "the name of a port", "[A-Za-z_][A-Za-z0-9_.]*", "x"));
    if (port.kind < OPKIT_REQUIRED || port.kind > OPKIT_VARIADIC)
      return Status::invalidArgument("{} '{}': kind {} does not exist", what, port.name, port.kind);
    const auto dtypes = dtypesOf(port.dtypes == 0 ? OPKIT_ANY_DTYPE : port.dtypes);
    if (!dtypes) return dtypes.error().withContext(fmt::format("{} '{}'", what, port.name));
    if (port.kind == OPKIT_REQUIRED && !list.empty() && list.back().kind != Port::Kind::Required)
      return Status::invalidArgument("{} '{}' is required but follows an optional or variadic one", what, port.name);
    if (!list.empty() && list.back().kind == Port::Kind::Variadic)
      return Status::invalidArgument("{} '{}' follows a variadic one", what, port.name);
    list.push_back({port.name, *dtypes, static_cast<Port::Kind>(port.kind), port.contents != 0});
    return Status::ok();
  });
  OPKIT_TRY(checked);
  return list;
}

Result<std::shared_ptr<const AttributeSchema>> schemaOf(const opkit_operator& op) {
  Attributes attributes;
  const Status checked =
      forEach(op.attributes, op.attribute_count, "attribute", [&](const opkit_attribute& one) -> Status {
        OPKIT_TRY(requireName(one.name, "the name of an attribute", "[A-Za-z_][A-Za-z0-9_]*", "alpha"));
        attributes.push_back(
            {one.name, one.type, one.int_default, one.float_default, textOr(one.string_default, ""), {}, {}});
        return Status::ok();
      });
  OPKIT_TRY(checked);
  return AttributeSchema::create(std::move(attributes));
}

Result<KernelSpec> kernelOf(const opkit_kernel* from, const std::string& plugin) {
  OPKIT_ASSIGN(const opkit_kernel kernel, copyStruct(from, "opkit_kernel"));
  if (!kernel.execute) return Status::invalidArgument("opkit_kernel: execute is NULL");
  if (kernel.create && !kernel.destroy)
    return Status::invalidArgument("opkit_kernel: create without destroy would leak its state");
  return KernelSpec{textOr(kernel.provider, plugin), kernel};
}

Result<GlslSpec> glslOf(const opkit_glsl_kernel* from, const std::string& plugin) {
  OPKIT_ASSIGN(const opkit_glsl_kernel kernel, copyStruct(from, "opkit_glsl_kernel"));
  if (!kernel.source || !kernel.encode)
    return Status::invalidArgument("opkit_glsl_kernel: source and encode must be set");
  GlslSpec spec{textOr(kernel.provider, plugin), kernel, nullptr};
  OPKIT_ASSIGN(spec.shader, Shader::compile(textOr(kernel.name, plugin + ".comp"), kernel.source));
  return spec;
}

Result<OperatorSpec> operatorOf(const opkit_operator* from, const std::string& plugin) {
  OPKIT_ASSIGN(const opkit_operator op, copyStruct(from, "opkit_operator"));
  OPKIT_TRY(requireName(op.type, "an operator's type with its domain",
                        "[A-Za-z_][A-Za-z0-9_.]*::[A-Za-z_][A-Za-z0-9_]*", "com.acme::ScaledTanh"));
  if (!op.infer) return Status::invalidArgument("infer is NULL; every operator has a shape rule");
  if (op.output_count == 0) return Status::invalidArgument("expected at least one output");
  if (op.numeric < OPKIT_EXACT || op.numeric > OPKIT_CAST)
    return Status::invalidArgument("numeric {} does not exist", op.numeric);
  if (!op.cpu && !op.oracle) return Status::invalidArgument("expected a CPU kernel or an oracle, got neither");
  if (!(op.error_floor >= 0 && op.error_floor < 1))
    return Status::invalidArgument("error_floor must be in [0, 1), got {}", op.error_floor);
  if (!(op.low <= op.high)) return Status::invalidArgument("low {} must not exceed high {}", op.low, op.high);
  OperatorSpec spec{
      op.type, textOr(op.summary, op.type), {}, {}, nullptr, static_cast<NumericClass>(op.numeric), {}, op, {}, {}};
  if (op.low != 0 || op.high != 0) spec.domain = {op.low, op.high};
  OPKIT_ASSIGN(spec.inputs, ports(op.inputs, op.input_count, "input"));
  OPKIT_ASSIGN(spec.outputs, ports(op.outputs, op.output_count, "output"));
  OPKIT_ASSIGN(spec.schema, schemaOf(op));
  if (op.cpu) {
    OPKIT_ASSIGN(spec.cpu, kernelOf(op.cpu, plugin));
  }
  if (op.vulkan && Shader::available()) {
    OPKIT_ASSIGN(spec.vulkan, glslOf(op.vulkan, plugin));
  }
  return spec;
}

/// The provider of an added kernel. OpKit's own names would let a plugin's kernel pass for one of OpKit.
Status requireProvider(const std::string& provider) {
  OPKIT_TRY(requireName(provider.c_str(), "a provider", "[A-Za-z_][A-Za-z0-9_.-]*", "mykernels"));
  for (const char* own : {"opkit", "onednn", "reference", kLoopProvider, "raster", "folded", "control"})
    if (provider == own) return Status::invalidArgument("provider '{}' is OpKit's own; expected another name", own);
  return Status::ok();
}

Status requireFunctionsOf(const opkit_operator_kernel& kernel) {
  const bool cpu = kernel.backend && std::strcmp(kernel.backend, "cpu") == 0;
  const bool vulkan = kernel.backend && std::strcmp(kernel.backend, "vulkan") == 0;
  if (!cpu && !vulkan)
    return Status::invalidArgument("expected backend 'cpu' or 'vulkan', got '{}'", oneLine(textOr(kernel.backend, "")));
  if ((kernel.cpu != nullptr) != cpu || (kernel.vulkan != nullptr) != vulkan)
    return Status::invalidArgument("with backend '{0}', `{0}` must be set and `{1}` NULL", cpu ? "cpu" : "vulkan",
                                   cpu ? "vulkan" : "cpu");
  return Status::ok();
}

/// The kernel of a type that is a valid name.
Result<AddedKernelSpec> kernelOfType(const opkit_operator_kernel& kernel, const std::string& plugin) {
  OPKIT_TRY(requireFunctionsOf(kernel));
  if (kernel.dtypes == 0) return Status::invalidArgument("dtypes is 0; expected a mask such as OPKIT_BIT(OPKIT_F32)");
  if (kernel.name) OPKIT_TRY(requireName(kernel.name, "the name of a kernel", "[A-Za-z0-9_.-]+", "rows"));
  AddedKernelSpec spec{kernel.type, kernel.backend, textOr(kernel.name, ""), {}, kernel.user, {}, {}};
  OPKIT_ASSIGN(spec.dtypes, dtypesOf(kernel.dtypes));
  const auto complete = [&](auto& made) {
    made.provider = textOr(kernel.provider, made.provider);
    return requireProvider(made.provider);
  };
  if (kernel.cpu) {
    OPKIT_ASSIGN(spec.cpu, kernelOf(kernel.cpu, plugin));
    OPKIT_TRY(complete(*spec.cpu));
  } else if (Shader::available()) {
    OPKIT_ASSIGN(spec.vulkan, glslOf(kernel.vulkan, plugin));
    OPKIT_TRY(complete(*spec.vulkan));
  }
  return spec;
}

Result<AddedKernelSpec> addedKernelOf(const opkit_operator_kernel* from, const std::string& plugin) {
  OPKIT_ASSIGN(const opkit_operator_kernel kernel, copyStruct(from, "opkit_operator_kernel"));
  OPKIT_TRY(requireName(kernel.type, "an operator's type", "([A-Za-z_][A-Za-z0-9_.]*::)?[A-Za-z_][A-Za-z0-9_]*",
                        "Softmax or com.acme::ScaledTanh"));
  auto spec = kernelOfType(kernel, plugin);
  if (!spec) return spec.error().withContext(kernel.type);
  return spec;
}

Result<BackendSpec> backendOf(const opkit_backend* from, const std::string& plugin) {
  OPKIT_ASSIGN(const opkit_backend backend, copyStruct(from, "opkit_backend"));
  OPKIT_TRY(requireName(backend.name, "a backend's name", "[a-z][a-z0-9_-]*", "npu"));
  if (!backend.allocate || !backend.release || !backend.upload || !backend.download || !backend.kernel)
    return Status::invalidArgument("allocate, release, upload, download and kernel must be set");
  if (backend.open && !backend.close) return Status::invalidArgument("open without close would leak the device");
  if ((backend.alignment & (backend.alignment - 1)) != 0)
    return Status::invalidArgument("alignment must be a power of two, got {}", backend.alignment);
  BackendSpec spec{backend.name,
                   textOr(backend.summary, "a plugin's backend"),
                   textOr(backend.device_name, backend.name),
                   backend,
                   {}};
  OPKIT_ASSIGN(spec.kernel, kernelOf(backend.kernel, plugin));
  return spec;
}

Result<PassSpec> passOf(const opkit_pass* from) {
  OPKIT_ASSIGN(const opkit_pass pass, copyStruct(from, "opkit_pass"));
  OPKIT_TRY(requireName(pass.name, "a pass's name", "[A-Za-z_][A-Za-z0-9_.-]*", "acme.fold-negations"));
  if (!pass.run) return Status::invalidArgument("run is NULL");
  if (pass.position != OPKIT_BEFORE_LOWERING)
    return Status::invalidArgument("position {} is not open to plugins; expected OPKIT_BEFORE_LOWERING", pass.position);
  return PassSpec{pass.name, textOr(pass.summary, pass.name), pass};
}

}  // namespace
}  // namespace opkit::plugin

using namespace opkit;

opkit_code opkit_registrar::note(const std::string& what, const Status& status) {
  mistakes_.push_back(fmt::format("{}: {}", what, status.message()));
  return OPKIT_INVALID_ARGUMENT;
}

opkit_code opkit_registrar::addOperator(const opkit_operator* op) {
  auto spec = plugin::operatorOf(op, contents_.name);
  if (!spec) return note(fmt::format("operator {}", contents_.operators.size()), spec.error());
  contents_.operators.push_back(*std::move(spec));
  return OPKIT_OK;
}

opkit_code opkit_registrar::addKernel(const opkit_operator_kernel* kernel) {
  auto spec = plugin::addedKernelOf(kernel, contents_.name);
  if (!spec) return note(fmt::format("kernel {}", contents_.kernels.size()), spec.error());
  contents_.kernels.push_back(*std::move(spec));
  return OPKIT_OK;
}

opkit_code opkit_registrar::addBackend(const opkit_backend* backend) {
  auto spec = plugin::backendOf(backend, contents_.name);
  if (!spec) return note(fmt::format("backend {}", contents_.backends.size()), spec.error());
  contents_.backends.push_back(*std::move(spec));
  return OPKIT_OK;
}

opkit_code opkit_registrar::addPass(const opkit_pass* pass) {
  auto spec = plugin::passOf(pass);
  if (!spec) return note(fmt::format("pass {}", contents_.passes.size()), spec.error());
  contents_.passes.push_back(*std::move(spec));
  return OPKIT_OK;
}

opkit_code opkit_registrar::refuse(const char* what, opkit_code code, const std::string& message) {
  outOfMemory_ |= code == OPKIT_OUT_OF_MEMORY;
  if (!message.empty() && !outOfMemory_) note(what, plugin::makeStatus(code, message));
  return code;
}

opkit::Status opkit_registrar::verdict() const {
  if (outOfMemory_) return Status::outOfMemory("the host is out of memory while the plugin announces what it has");
  if (mistakes_.empty()) return Status::ok();
  return Status::invalidArgument("{}", plugin::oneLine(fmt::format("{}", fmt::join(mistakes_, "; "))));
}
