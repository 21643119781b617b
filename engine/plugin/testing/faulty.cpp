// Plugins that are wrong on purpose, one per value of OPKIT_FAULT (see the CMakeLists), for plugin_set_test.
#include <cstring>
#include <stdexcept>

#include "opkit_plugin.h"

// FAULT_... are numbers, so that the preprocessor can choose.
#define FAULT_ABI_VERSION 1
#define FAULT_DUPLICATE_KEY 2
#define FAULT_GLSL 3
#define FAULT_DECLARATIONS 4
#define FAULT_NOTHING 5
#define FAULT_SHAPES 6
#define FAULT_DISPATCH 7
#define FAULT_BACKEND_TAKEN 8
#define FAULT_LOAD_THROWS 9

namespace {

const opkit_host* host = nullptr;

/// The attribute `how` chooses the fault, so that one library holds all faults of callbacks.
[[maybe_unused]] opkit_code infer(opkit_call* call, void*) {
  const char* how = host->attribute_string(call, "how");
  const opkit_tensor* x = host->input(call, 0);
  const int64_t huge[3] = {int64_t{1} << 40, int64_t{1} << 40, 8}, negative[1] = {-3};
  if (std::strcmp(how, "rank") == 0) return host->set_output(call, 0, OPKIT_F32, -2, x->shape);
  if (std::strcmp(how, "deep") == 0) return host->set_output(call, 0, OPKIT_F32, 1 << 30, x->shape);
  if (std::strcmp(how, "dtype") == 0) return host->set_output(call, 0, 77, x->rank, x->shape);
  if (std::strcmp(how, "huge") == 0) return host->set_output(call, 0, OPKIT_F32, 3, huge);
  if (std::strcmp(how, "negative") == 0) return host->set_output(call, 0, OPKIT_F32, 1, negative);
  if (std::strcmp(how, "index") == 0) return host->set_output(call, 5, OPKIT_F32, x->rank, x->shape);
  if (std::strcmp(how, "ignored") == 0) host->set_output(call, 0, 77, x->rank, x->shape);  // and goes on
  if (std::strcmp(how, "nothing") == 0) return OPKIT_OK;
  if (std::strcmp(how, "throws") == 0) throw std::runtime_error("out of\nluck");
  if (std::strcmp(how, "throws7") == 0) throw 7;
  if (std::strcmp(how, "silent") == 0) return OPKIT_UNSUPPORTED;
  if (std::strcmp(how, "code") == 0) return 1234;
  return host->set_output(call, 0, OPKIT_F32, x->rank, x->shape);
}

[[maybe_unused]] opkit_code execute(opkit_call* call, void*, void*) {
  const char* how = host->attribute_string(call, "how");
  if (std::strcmp(how, "run throws") == 0) throw std::runtime_error("in the middle");
  if (std::strcmp(how, "run fails") == 0) return host->fail(call, OPKIT_INTERNAL, "the kernel gave up");
  std::memcpy(host->output(call, 0)->data, host->input(call, 0)->data,
              static_cast<size_t>(host->input(call, 0)->elements) * sizeof(float));
  return OPKIT_OK;
}

[[maybe_unused]] opkit_code encode(opkit_call* call, opkit_encoder* encoder, void*) {
  const char* how = host->attribute_string(call, "how");
  opkit_binding bindings[] = {{OPKIT_STRUCT(opkit_binding), "x", host->input(call, 0)},
                              {OPKIT_STRUCT(opkit_binding), "y", host->output(call, 0)}};
  opkit_constant push[] = {{OPKIT_STRUCT(opkit_constant), "count", static_cast<double>(host->input(call, 0)->elements)},
                           {OPKIT_STRUCT(opkit_constant), "count", 1}};
  opkit_constant specialization[] = {{OPKIT_STRUCT(opkit_constant), "factor", 3}};
  const opkit_tensor stranger = *host->input(call, 0);
  opkit_dispatch dispatch{OPKIT_STRUCT(opkit_dispatch)};
  dispatch.bindings = bindings;
  dispatch.binding_count = 2;
  dispatch.push_constants = push;
  dispatch.push_constant_count = 1;
  dispatch.specialization = specialization;
  dispatch.specialization_count = 1;
  host->linear_groups(host->input(call, 0)->elements, 64, dispatch.groups);
  if (std::strcmp(how, "variant") == 0) dispatch.variant = "STORAGE=f64";
  if (std::strcmp(how, "binding") == 0) bindings[1].name = "z";
  if (std::strcmp(how, "missing") == 0) dispatch.binding_count = 1;
  if (std::strcmp(how, "stranger") == 0) bindings[0].tensor = &stranger;
  if (std::strcmp(how, "push") == 0) push[0].name = "amount";
  if (std::strcmp(how, "twice") == 0) dispatch.push_constant_count = 2;
  if (std::strcmp(how, "range") == 0) push[0].value = -1;
  if (std::strcmp(how, "constant") == 0) specialization[0].name = "divisor";
  return host->dispatch(encoder, &dispatch);
}

[[maybe_unused]] int64_t loopPasses(opkit_call* call, void*) {
  const char* how = host->attribute_string(call, "how");
  if (std::strcmp(how, "loops throw") == 0) throw std::runtime_error("no count");
  return std::strcmp(how, "loops") == 0 ? 1001 : 1000;
}

[[maybe_unused]] const char kGood[] =
    "#version 450\n#include \"common.glsl\"\nlayout(local_size_x = 64) in;\n"
    "layout(constant_id = 0) const int factor = 1;\n"
    "layout(binding = 0) readonly buffer X { float x[]; };\nlayout(binding = 1) writeonly buffer Y { float y[]; };\n"
    "layout(push_constant) uniform Push { uint count; } push;\n"
    "void main() {\n  const uint i = linearIndex();\n  if (i < push.count) y[i] = factor * x[i];\n}\n";
[[maybe_unused]] const char kBad[] =
    "#version 450\nlayout(local_size_x = 64) in;\nvoid main() {\n  y[0] = nothing;\n}\n";

/// An operator of one input and one output; `type` and `glsl` vary.
[[maybe_unused]] opkit_code addOperator(opkit_registrar* registrar, const char* type, const char* glsl) {
  const opkit_port x{OPKIT_STRUCT(opkit_port), "x", OPKIT_BIT(OPKIT_F32), OPKIT_REQUIRED, 0};
  const opkit_port y{OPKIT_STRUCT(opkit_port), "y", 0, OPKIT_REQUIRED, 0};
  const opkit_attribute how{OPKIT_STRUCT(opkit_attribute), "how", OPKIT_STRING, 0, 0, "works"};
  opkit_kernel cpu{OPKIT_STRUCT(opkit_kernel)};
  cpu.execute = execute;
  opkit_glsl_kernel vulkan{OPKIT_STRUCT(opkit_glsl_kernel)};
  vulkan.name = "faulty.comp";
  vulkan.source = glsl;
  vulkan.encode = encode;
  vulkan.loop_passes = loopPasses;
  opkit_operator op{OPKIT_STRUCT(opkit_operator)};
  op.type = type;
  op.inputs = &x;
  op.input_count = 1;
  op.outputs = &y;
  op.output_count = 1;
  op.attributes = &how;
  op.attribute_count = 1;
  op.infer = infer;
  op.cpu = &cpu;
  op.vulkan = glsl ? &vulkan : nullptr;
  return host->add_operator(registrar, &op);
}

opkit_code load(const opkit_host* functions, [[maybe_unused]] opkit_registrar* registrar) {
  host = functions;
#if OPKIT_FAULT == FAULT_DUPLICATE_KEY
  addOperator(registrar, "com.test::First", nullptr);
  return addOperator(registrar, "com.test::Faulty", nullptr);  // FAULT_SHAPES has it too
#elif OPKIT_FAULT == FAULT_GLSL
  return addOperator(registrar, "com.test::Glsl", kBad);
#elif OPKIT_FAULT == FAULT_DECLARATIONS
  // Every one of these is refused; the codes are ignored, as a careless plugin does.
  addOperator(registrar, "Softmax", nullptr);
  addOperator(registrar, nullptr, nullptr);
  host->add_operator(registrar, nullptr);
  opkit_operator empty{};
  host->add_operator(registrar, &empty);
  opkit_backend backend{OPKIT_STRUCT(opkit_backend)};
  backend.name = "halfmade";
  host->add_backend(registrar, &backend);
  opkit_pass pass{OPKIT_STRUCT(opkit_pass)};
  pass.name = "test.pass";
  host->add_pass(registrar, &pass);
  const opkit_attribute twins[] = {{OPKIT_STRUCT(opkit_attribute), "axis", OPKIT_INT, 0, 0, nullptr},
                                   {OPKIT_STRUCT(opkit_attribute), "axis", OPKIT_FLOAT, 0, 0, nullptr}};
  opkit_kernel cpu{OPKIT_STRUCT(opkit_kernel)};
  cpu.execute = execute;
  const opkit_port y{OPKIT_STRUCT(opkit_port), "y", 0, OPKIT_REQUIRED, 0};
  opkit_operator reserved{OPKIT_STRUCT(opkit_operator)};
  reserved.type = "com.test::Reserved";
  reserved.outputs = &y;
  reserved.output_count = 1;
  reserved.attributes = twins;
  reserved.attribute_count = 2;
  reserved.infer = infer;
  reserved.cpu = &cpu;
  host->add_operator(registrar, &reserved);
  return OPKIT_OK;
#elif OPKIT_FAULT == FAULT_SHAPES
  return addOperator(registrar, "com.test::Faulty", nullptr);
#elif OPKIT_FAULT == FAULT_DISPATCH
  return addOperator(registrar, "com.test::Dispatch", kGood);
#elif OPKIT_FAULT == FAULT_BACKEND_TAKEN
  opkit_kernel kernel{OPKIT_STRUCT(opkit_kernel)};
  kernel.execute = execute;
  opkit_backend backend{OPKIT_STRUCT(opkit_backend)};
  backend.allocate = [](void*, void*, uint64_t, void**) -> opkit_code { return OPKIT_OUT_OF_MEMORY; };
  backend.release = [](void*, void*, void*) {};
  backend.upload = [](void*, void*, const void*, void*, uint64_t, uint64_t) -> opkit_code { return OPKIT_OK; };
  backend.download = [](void*, void*, const void*, uint64_t, void*, uint64_t) -> opkit_code { return OPKIT_OK; };
  backend.kernel = &kernel;
  backend.name = "first";
  host->add_backend(registrar, &backend);
  backend.name = "cpu";
  return host->add_backend(registrar, &backend);
#elif OPKIT_FAULT == FAULT_LOAD_THROWS
  throw std::runtime_error("no licence");
#else
  return OPKIT_OK;
#endif
}

}  // namespace

extern "C" OPKIT_PLUGIN_EXPORT const opkit_plugin* opkit_plugin_get() {
  static opkit_plugin plugin{OPKIT_STRUCT(opkit_plugin), OPKIT_FAULT_NAME, "0", load, nullptr};
#if OPKIT_FAULT == FAULT_ABI_VERSION
  plugin.abi_version = 99;
#endif
  return &plugin;
}
