/* Kernels of an operator that exists, in plain C: Softmax of OpKit for the CPU and for Vulkan, as provider
 * "example_kernels". The operator brings its definition and its cases; the plugin brings functions and GLSL only. */
#include <math.h>

#include "opkit_plugin.h"

static const opkit_host* host; /* set in load, valid while the plugin is loaded */

/* The tensor seen as [outer, extent, inner]: rows of `extent` elements that lie `inner` apart. */
typedef struct rows {
  int64_t count, extent, inner;
} rows;

static rows rowsOf(opkit_call* call) {
  const opkit_tensor* x = host->input(call, 0);
  rows r = {1, 1, 1};
  int64_t axis = host->attribute_int(call, "axis"); /* as in ops/softmax/softmax.fbs */
  int32_t d;
  if (axis < 0) axis += x->rank;
  for (d = 0; d < x->rank; ++d) {
    const int inRow = d == axis || (d > axis && host->attribute_int(call, "flatten"));
    if (inRow)
      r.extent *= x->shape[d];
    else if (d > axis)
      r.inner *= x->shape[d];
    if (!inRow) r.count *= x->shape[d];
  }
  return r;
}

static opkit_code supports(opkit_call* call, void* user) {
  (void)user;
  if (!host->attribute_int(call, "log")) return OPKIT_OK;
  return host->fail(call, OPKIT_UNSUPPORTED, "LogSoftmax is left to other kernels"); /* the next kernel is tried */
}

static opkit_code execute(opkit_call* call, void* user, void* state) {
  const rows r = rowsOf(call);
  const float* x = host->input(call, 0)->data;
  float* y = host->output(call, 0)->data;
  int64_t row, i;
  (void)user;
  (void)state;
  for (row = 0; row < r.count; ++row) {
    const int64_t first = row / r.inner * r.extent * r.inner + row % r.inner;
    float largest = -INFINITY;
    double sum = 0;
    for (i = 0; i < r.extent; ++i) largest = fmaxf(largest, x[first + i * r.inner]);
    for (i = 0; i < r.extent; ++i) sum += y[first + i * r.inner] = expf(x[first + i * r.inner] - largest);
    for (i = 0; i < r.extent; ++i) y[first + i * r.inner] = (float)(y[first + i * r.inner] / sum);
  }
  return OPKIT_OK;
}

/* An invocation per row. OpKit's own kernel shares long rows among a team of invocations. */
static const char kShader[] =
    "//! variant STORAGE: f32 f16\n"
    "#version 450\n"
    "#include \"common.glsl\"\n"
    "#include \"storage.glsl\"\n"
    "layout(local_size_x = 64) in;\n"
    "layout(binding = 0) readonly buffer X { STORAGE x[]; };\n"
    "layout(binding = 1) writeonly buffer Y { STORAGE y[]; };\n"
    "layout(push_constant) uniform Push { uint count; uint extent; uint inner; } push;\n"
    "void main() {\n"
    "  const uint row = linearIndex();\n"
    "  if (row >= push.count) return;\n"
    "  const uint extent = push.extent, inner = push.inner;\n"
    "  const uint first = row / inner * extent * inner + row % inner;\n"
    "  float largest = LOAD(x, first);\n"
    "  for (uint i = 1; i < extent; ++i) largest = max(largest, LOAD(x, first + i * inner));\n"
    "  precise float sum = 0.0, lost = 0.0; // Kahan\n"
    "  for (uint i = 0; i < extent; ++i) {\n"
    "    precise float added = exp(LOAD(x, first + i * inner) - largest) - lost;\n"
    "    precise float next = sum + added;\n"
    "    lost = (next - sum) - added;\n"
    "    sum = next;\n"
    "  }\n"
    "  for (uint i = 0; i < extent; ++i)\n"
    "    STORE(y, first + i * inner, exp(LOAD(x, first + i * inner) - largest) / sum);\n"
    "}\n";

static opkit_code encode(opkit_call* call, opkit_encoder* encoder, void* user) {
  const opkit_tensor *x = host->input(call, 0), *y = host->output(call, 0);
  const rows r = rowsOf(call);
  const opkit_binding bindings[] = {{OPKIT_STRUCT(opkit_binding), "x", x}, {OPKIT_STRUCT(opkit_binding), "y", y}};
  const opkit_constant push[] = {
      {OPKIT_STRUCT(opkit_constant), "count", (double)r.count},
      {OPKIT_STRUCT(opkit_constant), "extent", (double)r.extent},
      {OPKIT_STRUCT(opkit_constant), "inner", (double)r.inner},
  };
  opkit_dispatch dispatch = {OPKIT_STRUCT(opkit_dispatch)};
  (void)user;
  dispatch.variant = x->dtype == OPKIT_F16 ? "STORAGE=f16" : "STORAGE=f32";
  dispatch.bindings = bindings;
  dispatch.binding_count = 2;
  dispatch.push_constants = push;
  dispatch.push_constant_count = 3;
  host->linear_groups(r.count, 64, dispatch.groups);
  return host->dispatch(encoder, &dispatch);
}

static int64_t loopPasses(opkit_call* call, void* user) {
  (void)user;
  return 3 * (rowsOf(call).extent + 1);
}

static opkit_code load(const opkit_host* functions, opkit_registrar* registrar) {
  opkit_kernel cpu = {OPKIT_STRUCT(opkit_kernel)};
  opkit_glsl_kernel vulkan = {OPKIT_STRUCT(opkit_glsl_kernel)};
  opkit_operator_kernel kernel = {OPKIT_STRUCT(opkit_operator_kernel)};
  host = functions;
  if (!OPKIT_HOST_HAS(host, add_kernel)) return OPKIT_UNSUPPORTED; /* an OpKit older than this header */

  cpu.supports = supports;
  cpu.execute = execute;
  kernel.type = "Softmax";
  kernel.backend = "cpu";
  kernel.dtypes = OPKIT_BIT(OPKIT_F32);
  kernel.cpu = &cpu;
  if (host->add_kernel(registrar, &kernel) != OPKIT_OK) return OPKIT_INVALID_ARGUMENT;

  vulkan.name = "softmax_rows.comp";
  vulkan.source = kShader;
  vulkan.supports = supports;
  vulkan.encode = encode;
  vulkan.loop_passes = loopPasses;
  kernel.backend = "vulkan";
  kernel.dtypes = OPKIT_BIT(OPKIT_F32) | OPKIT_BIT(OPKIT_F16);
  kernel.cpu = NULL;
  kernel.vulkan = &vulkan;
  return host->add_kernel(registrar, &kernel);
}

OPKIT_PLUGIN_EXPORT const opkit_plugin* opkit_plugin_get(void) {
  static const opkit_plugin plugin = {OPKIT_STRUCT(opkit_plugin), "example_kernels", "1.0", load, NULL};
  return &plugin;
}
