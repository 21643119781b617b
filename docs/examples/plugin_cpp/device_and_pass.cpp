// A plugin in C++ with one of each: an operator, a backend and a graph pass.
//
//   com.example::CenteredRows   y = x - mean(x) along an axis
//   backend "twin"              a pretended device with memory of its own that runs Relu and CenteredRows
//   example.drop-double-neg     Neg(Neg(x)) becomes x
//
// The ABI is C: callbacks are plain functions and no exception leaves them.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "opkit_plugin.h"

namespace {

const opkit_host* host = nullptr;  // set in load, valid while the plugin is loaded

/// The tensor seen as [outer, extent, inner] around an axis.
struct Rows {
  int64_t outer = 1, extent = 1, inner = 1;
};

bool rowsOf(const opkit_call* call, int32_t rank, const int64_t* shape, Rows& rows) {
  int64_t axis = host->attribute_int(call, "axis");
  if (axis < -rank || axis >= rank) return false;
  if (axis < 0) axis += rank;
  for (int32_t d = 0; d < rank; ++d) (d < axis ? rows.outer : d == axis ? rows.extent : rows.inner) *= shape[d];
  return true;
}

opkit_code infer(opkit_call* call, void*) {
  const opkit_tensor* x = host->input(call, 0);
  Rows rows;
  if (!rowsOf(call, x->rank, x->shape, rows))
    return host->fail(call, OPKIT_INVALID_ARGUMENT, "axis is outside the input's rank");
  return host->set_output(call, 0, x->dtype, x->rank, x->shape);
}

/// body(first, stride, extent) for each row.
template <class Body>
void forRows(const Rows& rows, Body body) {
  for (int64_t outer = 0; outer < rows.outer; ++outer)
    for (int64_t inner = 0; inner < rows.inner; ++inner)
      body(outer * rows.extent * rows.inner + inner, rows.inner, rows.extent);
}

opkit_code oracle(opkit_call* call, void*) {
  const opkit_wide_tensor* x = host->wide_input(call, 0);
  const opkit_wide_tensor* y = host->wide_output(call, 0);
  Rows rows;
  rowsOf(call, x->rank, x->shape, rows);
  double* magnitude = host->wide_magnitude(call, 0, rows.extent + 1);  // sums of extent + 1 terms
  forRows(rows, [&](int64_t first, int64_t stride, int64_t extent) {
    double sum = 0, absolute = 0;
    for (int64_t i = 0; i < extent; ++i) {
      sum += x->real[first + i * stride];
      absolute += std::fabs(x->real[first + i * stride]);
    }
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t at = first + i * stride;
      y->real[at] = x->real[at] - sum / static_cast<double>(extent);
      if (magnitude) magnitude[at] = std::fabs(x->real[at]) + absolute / static_cast<double>(extent);
    }
  });
  return OPKIT_OK;
}

void center(const Rows& rows, const float* x, float* y) {
  forRows(rows, [&](int64_t first, int64_t stride, int64_t extent) {
    float sum = 0;
    for (int64_t i = 0; i < extent; ++i) sum += x[first + i * stride];
    const float mean = sum / static_cast<float>(extent);
    for (int64_t i = 0; i < extent; ++i) y[first + i * stride] = x[first + i * stride] - mean;
  });
}

opkit_code execute(opkit_call* call, void*, void*) {
  const opkit_tensor* x = host->input(call, 0);
  Rows rows;
  rowsOf(call, x->rank, x->shape, rows);
  center(rows, static_cast<const float*>(x->data), static_cast<float*>(host->output(call, 0)->data));
  return OPKIT_OK;
}

// ---- The backend. Its memory is malloc'ed; the engine does not know that and uses upload and download.

opkit_code allocate(void*, void*, uint64_t bytes, void** memory) {
  *memory = std::malloc(bytes ? bytes : 1);
  return *memory ? OPKIT_OK : OPKIT_OUT_OF_MEMORY;
}
void release(void*, void*, void* memory) { std::free(memory); }
opkit_code upload(void*, void*, const void* from, void* memory, uint64_t offset, uint64_t bytes) {
  std::memcpy(static_cast<char*>(memory) + offset, from, bytes);
  return OPKIT_OK;
}
opkit_code download(void*, void*, const void* memory, uint64_t offset, void* to, uint64_t bytes) {
  std::memcpy(to, static_cast<const char*>(memory) + offset, bytes);
  return OPKIT_OK;
}

opkit_code twinSupports(opkit_call* call, void*) {
  const std::string_view type = host->type(call);
  if (type != "Relu") return host->fail(call, OPKIT_UNSUPPORTED, "the twin runs Relu only");
  if (host->input(call, 0)->dtype != OPKIT_F32)
    return host->fail(call, OPKIT_UNSUPPORTED, "the twin computes f32 only");
  return OPKIT_OK;
}

opkit_code twinExecute(opkit_call* call, void*, void*) {
  const opkit_tensor *in = host->input(call, 0), *out = host->output(call, 0);
  const auto* x = reinterpret_cast<const float*>(static_cast<char*>(in->memory) + in->offset);
  auto* y = reinterpret_cast<float*>(static_cast<char*>(out->memory) + out->offset);
  for (int64_t i = 0; i < in->elements; ++i) y[i] = x[i] > 0 || std::isnan(x[i]) ? x[i] : 0.0f;
  return OPKIT_OK;
}

// ---- The pass.

bool isNeg(const opkit_graph* graph, int32_t node) {
  return node >= 0 && std::string_view(host->graph_type(graph, static_cast<size_t>(node))) == "Neg";
}

opkit_code dropDoubleNeg(opkit_graph* graph, void*, size_t* changes) {
  for (size_t node = 0; node < host->graph_nodes(graph); ++node) {
    if (!isNeg(graph, static_cast<int32_t>(node))) continue;
    const int32_t inner = host->graph_producer(graph, host->graph_input(graph, node, 0));
    if (!isNeg(graph, inner)) continue;
    const int32_t result = host->graph_output(graph, node, 0);
    if (host->graph_is_output(graph, result)) continue;  // outputs of the model keep their nodes
    if (host->graph_replace(graph, result, host->graph_input(graph, static_cast<size_t>(inner), 0)) != OPKIT_OK)
      return OPKIT_INTERNAL;
    host->graph_remove(graph, node);
    if (host->graph_uses(graph, host->graph_output(graph, static_cast<size_t>(inner), 0)) == 0)
      host->graph_remove(graph, static_cast<size_t>(inner));
    ++*changes;
  }
  return OPKIT_OK;
}

// ---- Announcements.

opkit_code addOperator(opkit_registrar* registrar) {
  const opkit_port x{OPKIT_STRUCT(opkit_port), "x", OPKIT_BIT(OPKIT_F32), OPKIT_REQUIRED, 0};
  const opkit_port y{OPKIT_STRUCT(opkit_port), "y", OPKIT_BIT(OPKIT_F32), OPKIT_REQUIRED, 0};
  const opkit_attribute axis{OPKIT_STRUCT(opkit_attribute), "axis", OPKIT_INT, -1, 0, nullptr};
  opkit_kernel cpu{OPKIT_STRUCT(opkit_kernel)};
  cpu.execute = execute;
  opkit_operator op{OPKIT_STRUCT(opkit_operator)};
  op.type = "com.example::CenteredRows";
  op.summary = "x minus its mean along an axis";
  op.inputs = &x;
  op.input_count = 1;
  op.outputs = &y;
  op.output_count = 1;
  op.attributes = &axis;
  op.attribute_count = 1;
  op.numeric = OPKIT_SUM;
  op.infer = infer;
  op.oracle = oracle;
  op.cpu = &cpu;
  return host->add_operator(registrar, &op);
}

opkit_code addBackend(opkit_registrar* registrar) {
  opkit_kernel kernel{OPKIT_STRUCT(opkit_kernel)};
  kernel.supports = twinSupports;
  kernel.execute = twinExecute;
  opkit_backend backend{OPKIT_STRUCT(opkit_backend)};
  backend.name = "twin";
  backend.summary = "a pretended device that runs Relu";
  backend.device_name = "twin of the host";
  backend.allocate = allocate;
  backend.release = release;
  backend.upload = upload;
  backend.download = download;
  backend.kernel = &kernel;
  return host->add_backend(registrar, &backend);
}

opkit_code load(const opkit_host* functions, opkit_registrar* registrar) {
  host = functions;
  opkit_pass pass{OPKIT_STRUCT(opkit_pass)};
  pass.name = "example.drop-double-neg";
  pass.summary = "Neg(Neg(x)) becomes x";
  pass.position = OPKIT_BEFORE_LOWERING;
  pass.run = dropDoubleNeg;
  if (addOperator(registrar) != OPKIT_OK || addBackend(registrar) != OPKIT_OK) return OPKIT_INVALID_ARGUMENT;
  return host->add_pass(registrar, &pass);
}

}  // namespace

extern "C" OPKIT_PLUGIN_EXPORT const opkit_plugin* opkit_plugin_get() {
  static const opkit_plugin plugin{OPKIT_STRUCT(opkit_plugin), "example_cpp", "1.0", load, nullptr};
  return &plugin;
}
