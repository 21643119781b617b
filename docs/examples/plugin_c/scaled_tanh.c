/* An operator in plain C: com.example::ScaledTanh, y = scale * tanh(gain * x).
 * It has a shape rule, a definition in double (the oracle), a CPU kernel and a Vulkan kernel. */
#include <math.h>

#include "opkit_plugin.h"

static const opkit_host* host; /* set in load, valid while the plugin is loaded */

static opkit_code infer(opkit_call* call, void* user) {
  const opkit_tensor* x = host->input(call, 0);
  (void)user;
  if (!(host->attribute_float(call, "gain") != 0))
    return host->fail(call, OPKIT_INVALID_ARGUMENT, "gain must not be 0");
  return host->set_output(call, 0, x->dtype, x->rank, x->shape);
}

static opkit_code oracle(opkit_call* call, void* user) {
  const opkit_wide_tensor* x = host->wide_input(call, 0);
  const opkit_wide_tensor* y = host->wide_output(call, 0);
  const double scale = host->attribute_float(call, "scale"), gain = host->attribute_float(call, "gain");
  (void)user;
  for (int64_t i = 0; i < x->elements; ++i) y->real[i] = scale * tanh(gain * x->real[i]);
  return OPKIT_OK;
}

static opkit_code supportsFloat(opkit_call* call, void* user) {
  (void)user;
  if (host->input(call, 0)->dtype == OPKIT_F32) return OPKIT_OK;
  return host->fail(call, OPKIT_UNSUPPORTED, "the C kernel computes f32 only"); /* the oracle takes over */
}

static opkit_code execute(opkit_call* call, void* user, void* state) {
  const opkit_tensor* x = host->input(call, 0);
  const float* from = x->data;
  float* to = host->output(call, 0)->data;
  const float scale = host->attribute_float(call, "scale"), gain = host->attribute_float(call, "gain");
  (void)user;
  (void)state;
  for (int64_t i = 0; i < x->elements; ++i) to[i] = scale * tanhf(gain * from[i]);
  return OPKIT_OK;
}

static const char kShader[] =
    "//! variant STORAGE: f32 f16\n"
    "#version 450\n"
    "#include \"common.glsl\"\n"
    "#include \"storage.glsl\"\n"
    "#include \"math.glsl\"\n"
    "layout(local_size_x = 64) in;\n"
    "layout(binding = 0) readonly buffer X { STORAGE x[]; };\n"
    "layout(binding = 1) writeonly buffer Y { STORAGE y[]; };\n"
    "layout(push_constant) uniform Push { uint count; float scale; float gain; } push;\n"
    "void main() {\n"
    "  const uint i = linearIndex();\n"
    "  if (i >= push.count) return;\n"
    "  // Built-in tanh may be off by much more than a budget, see numerics.md.\n"
    "  STORE(y, i, push.scale * mathTanh(push.gain * LOAD(x, i)));\n"
    "}\n";

static opkit_code encode(opkit_call* call, opkit_encoder* encoder, void* user) {
  const opkit_tensor *x = host->input(call, 0), *y = host->output(call, 0);
  const opkit_binding bindings[] = {{OPKIT_STRUCT(opkit_binding), "x", x}, {OPKIT_STRUCT(opkit_binding), "y", y}};
  const opkit_constant push[] = {
      {OPKIT_STRUCT(opkit_constant), "count", (double)x->elements},
      {OPKIT_STRUCT(opkit_constant), "scale", host->attribute_float(call, "scale")},
      {OPKIT_STRUCT(opkit_constant), "gain", host->attribute_float(call, "gain")},
  };
  opkit_dispatch dispatch = {OPKIT_STRUCT(opkit_dispatch)};
  (void)user;
  dispatch.variant = x->dtype == OPKIT_F16 ? "STORAGE=f16" : "STORAGE=f32";
  dispatch.bindings = bindings;
  dispatch.binding_count = 2;
  dispatch.push_constants = push;
  dispatch.push_constant_count = 3;
  host->linear_groups(x->elements, 64, dispatch.groups);
  return host->dispatch(encoder, &dispatch);
}

static opkit_code load(const opkit_host* functions, opkit_registrar* registrar) {
  const uint32_t floats = OPKIT_BIT(OPKIT_F32) | OPKIT_BIT(OPKIT_F16);
  const opkit_port x = {OPKIT_STRUCT(opkit_port), "x", floats, OPKIT_REQUIRED, 0};
  const opkit_port y = {OPKIT_STRUCT(opkit_port), "y", floats, OPKIT_REQUIRED, 0};
  const opkit_attribute attributes[] = {
      {OPKIT_STRUCT(opkit_attribute), "scale", OPKIT_FLOAT, 0, 1.0f, NULL},
      {OPKIT_STRUCT(opkit_attribute), "gain", OPKIT_FLOAT, 0, 1.0f, NULL},
  };
  opkit_kernel cpu = {OPKIT_STRUCT(opkit_kernel)};
  opkit_glsl_kernel vulkan = {OPKIT_STRUCT(opkit_glsl_kernel)};
  opkit_operator op = {OPKIT_STRUCT(opkit_operator)};
  host = functions;

  cpu.supports = supportsFloat;
  cpu.execute = execute;
  vulkan.name = "scaled_tanh.comp";
  vulkan.source = kShader;
  vulkan.encode = encode;

  op.type = "com.example::ScaledTanh";
  op.summary = "scale * tanh(gain * x)";
  op.inputs = &x;
  op.input_count = 1;
  op.outputs = &y;
  op.output_count = 1;
  op.attributes = attributes;
  op.attribute_count = 2;
  op.numeric = OPKIT_TRANSCENDENTAL;
  op.infer = infer;
  op.oracle = oracle;
  op.cpu = &cpu;
  op.vulkan = &vulkan;
  return functions->add_operator(registrar, &op);
}

OPKIT_PLUGIN_EXPORT const opkit_plugin* opkit_plugin_get(void) {
  static const opkit_plugin plugin = {OPKIT_STRUCT(opkit_plugin), "example_c", "1.0", load, NULL};
  return &plugin;
}
