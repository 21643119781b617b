// Kernels of operators that exist, announced with one mistake, for the tests: OPKIT_KERNEL_FAULT says which. Without it
// they are right: Relu and Neg of two dimensions, provider "mykernels", and Relu on Vulkan.
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "opkit_plugin.h"

namespace {

const opkit_host* host = nullptr;

std::string_view chosenFault() {
  const char* const found = std::getenv("OPKIT_KERNEL_FAULT");
  return found ? found : "";
}
bool fault(std::string_view name) { return chosenFault() == name; }

/// X of the fault "what:X", else `otherwise`.
const char* replaced(std::string_view what, const char* otherwise) {
  const std::string_view found = chosenFault();
  const bool asked = found.size() > what.size() && found.substr(0, what.size()) == what && found[what.size()] == ':';
  return asked ? found.data() + what.size() + 1 : otherwise;
}

/// "wrong", or "once:FILE": in the first process that computes; it makes the file.
bool isWrong() {
  static const bool first = [] {
    const char* const path = replaced("once", nullptr);
    if (!path || std::ifstream(path)) return false;
    std::ofstream(path) << "computed\n";
    return true;
  }();
  return first || fault("wrong");
}

opkit_code infer(opkit_call* call, void*) {
  const opkit_tensor* x = host->input(call, 0);
  return host->set_output(call, 0, x->dtype, x->rank, x->shape);
}

opkit_code supports(opkit_call* call, void*) {
  if (host->input(call, 0)->rank == 2) return OPKIT_OK;
  return host->fail(call, OPKIT_UNSUPPORTED, "mykernels runs two dimensions");
}

opkit_code relu(opkit_call* call, void*, void*) {
  const opkit_tensor* x = host->input(call, 0);
  const auto* from = static_cast<const float*>(x->data);
  auto* to = static_cast<float*>(host->output(call, 0)->data);
  for (int64_t i = 0; i < x->elements; ++i) to[i] = from[i] > 0 || std::isnan(from[i]) ? from[i] : 0.0f;
  if (fault("crash")) std::raise(SIGKILL);
  if (isWrong() && x->elements > 0) to[x->elements - 1] += 0.5f;
  return OPKIT_OK;
}

opkit_code neg(opkit_call* call, void*, void*) {
  const opkit_tensor* x = host->input(call, 0);
  for (int64_t i = 0; i < x->elements; ++i)
    static_cast<float*>(host->output(call, 0)->data)[i] = -static_cast<const float*>(x->data)[i];
  return OPKIT_OK;
}

/// scale * tanh(gain * x), times 1,000 so that nobody confuses it.
opkit_code scaledTanh(opkit_call* call, void*, void*) {
  const opkit_tensor* x = host->input(call, 0);
  const float scale = host->attribute_float(call, "scale"), gain = host->attribute_float(call, "gain");
  for (int64_t i = 0; i < x->elements; ++i)
    static_cast<float*>(host->output(call, 0)->data)[i] =
        1000 * scale * std::tanh(gain * static_cast<const float*>(x->data)[i]);
  return OPKIT_OK;
}

const char kRelu[] =
    "#version 450\n#include \"common.glsl\"\nlayout(local_size_x = 64) in;\n"
    "layout(binding = 0) readonly buffer X { float x[]; };\nlayout(binding = 1) writeonly buffer Y { float y[]; };\n"
    "layout(push_constant) uniform Push { uint count; float added; } push;\n"
    "void main() {\n  const uint i = linearIndex();\n  if (i < push.count) y[i] = max(x[i], 0.0) + push.added;\n}\n";
// Wrong on devices with subgroups of four, as a kernel that assumes a size.
const char kSubgroupRelu[] =
    "#version 450\n#extension GL_KHR_shader_subgroup_basic : require\n#include \"common.glsl\"\n"
    "layout(local_size_x = 64) in;\nlayout(binding = 0) readonly buffer X { float x[]; };\n"
    "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
    "layout(push_constant) uniform Push { uint count; float added; } push;\n"
    "void main() {\n  const uint i = linearIndex();\n"
    "  if (i < push.count) y[i] = max(x[i], 0.0) + push.added + (gl_SubgroupSize == 4u ? 0.5 : 0.0);\n}\n";
const char kBad[] = "#version 450\nlayout(local_size_x = 64) in;\nvoid main() {\n  y[0] = nothing;\n}\n";

opkit_code encode(opkit_call* call, opkit_encoder* encoder, void*) {
  const opkit_binding bindings[] = {{OPKIT_STRUCT(opkit_binding), "x", host->input(call, 0)},
                                    {OPKIT_STRUCT(opkit_binding), "y", host->output(call, 0)}};
  const opkit_constant push[] = {
      {OPKIT_STRUCT(opkit_constant), "count", static_cast<double>(host->input(call, 0)->elements)},
      {OPKIT_STRUCT(opkit_constant), "added", isWrong() ? 0.5 : 0.0}};
  opkit_dispatch dispatch{OPKIT_STRUCT(opkit_dispatch)};
  dispatch.bindings = bindings;
  dispatch.binding_count = 2;
  dispatch.push_constants = push;
  dispatch.push_constant_count = 2;
  host->linear_groups(host->input(call, 0)->elements, 64, dispatch.groups);
  return host->dispatch(encoder, &dispatch);
}

opkit_operator_kernel kernelOf(const char* type, const char* backend) {
  opkit_operator_kernel kernel{OPKIT_STRUCT(opkit_operator_kernel)};
  kernel.type = type;
  kernel.backend = backend;
  kernel.provider = "mykernels";
  kernel.dtypes = OPKIT_BIT(OPKIT_F32);
  return kernel;
}

void addGood(opkit_registrar* registrar) {
  const opkit_port x{OPKIT_STRUCT(opkit_port), "x", OPKIT_BIT(OPKIT_F32), OPKIT_REQUIRED, 0};
  const opkit_kernel copy{OPKIT_STRUCT(opkit_kernel), nullptr, nullptr, nullptr, nullptr, neg, nullptr};
  opkit_operator op{OPKIT_STRUCT(opkit_operator)};
  op.type = "com.test::Beside";
  op.inputs = op.outputs = &x;
  op.input_count = op.output_count = 1;
  op.infer = infer;
  op.cpu = &copy;
  host->add_operator(registrar, &op);

  opkit_kernel functions{OPKIT_STRUCT(opkit_kernel)};
  functions.supports = supports;
  functions.execute = neg;
  opkit_operator_kernel kernel = kernelOf("Neg", "cpu");
  kernel.cpu = &functions;
  host->add_kernel(registrar, &kernel);
}

void addOnCpu(opkit_registrar* registrar) {
  opkit_kernel functions{OPKIT_STRUCT(opkit_kernel)};
  functions.supports = supports;
  functions.execute = fault("null execute") ? nullptr : fault("type:com.example::ScaledTanh") ? scaledTanh : relu;
  if (fault("no destroy")) functions.create = [](opkit_call*, void*, void**) -> opkit_code { return OPKIT_OK; };
  const opkit_glsl_kernel glsl{OPKIT_STRUCT(opkit_glsl_kernel)};
  opkit_operator_kernel kernel = kernelOf(replaced("type", "Relu"), replaced("backend", "cpu"));
  if (fault("null type")) kernel.type = nullptr;
  if (fault("null backend")) kernel.backend = nullptr;
  kernel.provider = replaced("provider", "mykernels");
  if (fault("no dtype")) kernel.dtypes = 0;
  if (fault("dtype")) kernel.dtypes = 1u << 31;
  kernel.name = fault("name") ? "a\nb" : nullptr;
  kernel.cpu = fault("null kernel") ? nullptr : &functions;
  kernel.vulkan = fault("both") ? &glsl : nullptr;
  host->add_kernel(registrar, fault("null") ? nullptr : &kernel);
  if (fault("overlap")) kernel.dtypes |= OPKIT_BIT(OPKIT_F16);
  if (fault("second")) kernel.name = "other";
  if (fault("twice") || fault("overlap") || fault("second")) host->add_kernel(registrar, &kernel);
}

void addOnVulkan(opkit_registrar* registrar) {
  opkit_glsl_kernel functions{OPKIT_STRUCT(opkit_glsl_kernel)};
  functions.name = "relu.comp";
  functions.source = fault("glsl") ? kBad : fault("subgroup") ? kSubgroupRelu : kRelu;
  functions.encode = fault("null encode") ? nullptr : encode;
  opkit_operator_kernel kernel = kernelOf("Relu", "vulkan");
  kernel.vulkan = &functions;
  host->add_kernel(registrar, &kernel);
}

opkit_code load(const opkit_host* functions, opkit_registrar* registrar) {
  host = functions;
  addGood(registrar);
  addOnCpu(registrar);  // the codes are ignored, as a careless plugin does
  addOnVulkan(registrar);
  return OPKIT_OK;
}

}  // namespace

extern "C" OPKIT_PLUGIN_EXPORT const opkit_plugin* opkit_plugin_get() {
  static const opkit_plugin plugin{OPKIT_STRUCT(opkit_plugin), "faulty_kernels", "0", load, nullptr};
  return &plugin;
}
