// The functions behind opkit_host: thin, so that what a plugin can do stands in opkit_call, opkit_graph and the
// registrar. They are called from C, where nothing may be thrown: what is thrown inside fails the callback instead.
#include "engine/base/guard.h"
#include "engine/plugin/call.h"
#include "engine/plugin/encoder.h"
#include "engine/plugin/graph_view.h"
#include "engine/plugin/registrar.h"

namespace opkit::plugin {
namespace {

/// The code of `body`. If it throws, `failed` gets the reason. If memory for the message runs out, the message is
/// empty, and failing with it allocates nothing.
template <class Body, class Failed>
opkit_code shielded(Body body, Failed failed) noexcept {
  try {
    return body();
  } catch (...) {
    try {
      const Status status = statusOfException();
      return failed(static_cast<opkit_code>(status.code()), status.message());
    } catch (...) {
      return failed(OPKIT_OUT_OF_MEMORY, std::string());
    }
  }
}

/// As above, for functions that the call can fail.
template <class Body>
opkit_code failing(opkit_call* call, Body body) noexcept {
  return shielded(body, [&](opkit_code code, std::string message) { return call->fail(code, std::move(message)); });
}

/// For functions that cannot fail.
template <class Body>
const char* textOr(const char* otherwise, Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

const char* textOrEmpty(const char* text) { return text ? text : ""; }

/// A mistake of `load` for what is thrown while one piece is copied and checked.
template <class Body>
opkit_code announcing(opkit_registrar* registrar, const char* what, Body body) noexcept {
  return shielded(body,
                  [&](opkit_code code, const std::string& message) { return registrar->refuse(what, code, message); });
}

opkit_code addOperator(opkit_registrar* registrar, const opkit_operator* op) {
  return announcing(registrar, "operator", [&] { return registrar->addOperator(op); });
}
opkit_code addKernel(opkit_registrar* registrar, const opkit_operator_kernel* kernel) {
  return announcing(registrar, "kernel", [&] { return registrar->addKernel(kernel); });
}
opkit_code addBackend(opkit_registrar* registrar, const opkit_backend* backend) {
  return announcing(registrar, "backend", [&] { return registrar->addBackend(backend); });
}
opkit_code addPass(opkit_registrar* registrar, const opkit_pass* pass) {
  return announcing(registrar, "pass", [&] { return registrar->addPass(pass); });
}

opkit_code fail(opkit_call* call, opkit_code code, const char* message) {
  return failing(call, [&] { return call->fail(code, textOrEmpty(message)); });
}
const char* type(const opkit_call* call) { return call->type().c_str(); }
size_t inputCount(const opkit_call* call) { return call->inputCount(); }
size_t outputCount(const opkit_call* call) { return call->outputCount(); }
const opkit_tensor* input(const opkit_call* call, size_t index) { return call->input(index); }
const opkit_tensor* output(const opkit_call* call, size_t index) { return call->output(index); }

int64_t attributeInt(const opkit_call* call, const char* name) {
  const Attribute* attribute = call->attribute(name, OPKIT_INT);
  return attribute ? attribute->integer : 0;
}
float attributeFloat(const opkit_call* call, const char* name) {
  const Attribute* attribute = call->attribute(name, OPKIT_FLOAT);
  return attribute ? attribute->number : 0;
}
const char* attributeString(const opkit_call* call, const char* name) {
  const Attribute* attribute = call->attribute(name, OPKIT_STRING);
  return attribute ? attribute->text.c_str() : nullptr;
}
const int64_t* attributeInts(const opkit_call* call, const char* name, size_t* count) {
  const Attribute* attribute = call->attribute(name, OPKIT_INTS);
  if (count) *count = attribute ? attribute->integers.size() : 0;
  return attribute ? attribute->integers.data() : nullptr;
}
const float* attributeFloats(const opkit_call* call, const char* name, size_t* count) {
  const Attribute* attribute = call->attribute(name, OPKIT_FLOATS);
  if (count) *count = attribute ? attribute->numbers.size() : 0;
  return attribute ? attribute->numbers.data() : nullptr;
}
const char* attributesJson(const opkit_call* call) {
  return textOr("{}", [&] { return call->attributesJson(); });
}

opkit_code setOutput(opkit_call* call, size_t index, int32_t dtype, int32_t rank, const int64_t* shape) {
  return failing(call, [&] { return call->setOutput(index, dtype, rank, shape); });
}
const opkit_wide_tensor* wideInput(const opkit_call* call, size_t index) { return call->wideInput(index); }
const opkit_wide_tensor* wideOutput(const opkit_call* call, size_t index) { return call->wideOutput(index); }
double* wideMagnitude(opkit_call* call, size_t output, int64_t terms) {
  double* magnitude = nullptr;
  failing(call, [&] { return magnitude = call->wideMagnitude(output, terms), OPKIT_OK; });
  return magnitude;
}

/// Absent if no model has as many nodes.
NodeId nodeId(size_t number) { return std::in_range<int>(number) ? NodeId(number) : NodeId(); }
size_t graphNodes(const opkit_graph* graph) { return graph->nodes(); }
const char* graphType(const opkit_graph* graph, size_t node) {
  return graph->node(nodeId(node)) ? graph->node(nodeId(node))->type.c_str() : "";
}
size_t graphInputCount(const opkit_graph* graph, size_t node) {
  return graph->node(nodeId(node)) ? graph->node(nodeId(node))->inputs.size() : 0;
}
size_t graphOutputCount(const opkit_graph* graph, size_t node) {
  return graph->node(nodeId(node)) ? graph->node(nodeId(node))->outputs.size() : 0;
}
int32_t graphInput(const opkit_graph* graph, size_t node, size_t index) {
  return index < graphInputCount(graph, node) ? graph->node(nodeId(node))->inputs[index].number() : -1;
}
int32_t graphOutput(const opkit_graph* graph, size_t node, size_t index) {
  return index < graphOutputCount(graph, node) ? graph->node(nodeId(node))->outputs[index].number() : -1;
}
int32_t graphProducer(const opkit_graph* graph, int32_t tensor) { return graph->producer(TensorId(tensor)).number(); }
size_t graphUses(const opkit_graph* graph, int32_t tensor) { return graph->uses(TensorId(tensor)); }
const char* graphAttributesJson(const opkit_graph* graph, size_t node) {
  return textOr("{}", [&] { return graph->attributesJson(nodeId(node)); });
}
int32_t graphIsOutput(const opkit_graph* graph, int32_t tensor) { return graph->isOutput(TensorId(tensor)) ? 1 : 0; }
template <class Body>
opkit_code changing(opkit_graph* graph, Body body) noexcept {
  return shielded(body, [&](opkit_code, std::string message) { return graph->refuse(std::move(message)); });
}
opkit_code graphReplace(opkit_graph* graph, int32_t from, int32_t to) {
  return changing(graph, [&] { return graph->replace(TensorId(from), TensorId(to)); });
}
opkit_code graphRemove(opkit_graph* graph, size_t node) {
  return changing(graph, [&] { return graph->remove(nodeId(node)); });
}
opkit_code graphRetype(opkit_graph* graph, size_t node, const char* newType, const char* attributes) {
  return changing(graph, [&] { return graph->retype(nodeId(node), newType, attributes); });
}
opkit_code recordDispatch(opkit_encoder* encoder, const opkit_dispatch* one) {
  return shielded(
      [&] { return dispatch(encoder, one); },
      [&](opkit_code code, std::string message) { return failDispatch(encoder, code, std::move(message)); });
}

}  // namespace

const opkit_host& hostTable() {
  static const opkit_host table{OPKIT_STRUCT(opkit_host),
                                OPKIT_VERSION,
                                addOperator,
                                addBackend,
                                addPass,
                                fail,
                                type,
                                inputCount,
                                outputCount,
                                input,
                                output,
                                attributeInt,
                                attributeFloat,
                                attributeString,
                                attributeInts,
                                attributeFloats,
                                attributesJson,
                                setOutput,
                                wideInput,
                                wideOutput,
                                wideMagnitude,
                                recordDispatch,
                                linearGroups,
                                graphNodes,
                                graphType,
                                graphInputCount,
                                graphOutputCount,
                                graphInput,
                                graphOutput,
                                graphProducer,
                                graphUses,
                                graphAttributesJson,
                                graphIsOutput,
                                graphReplace,
                                graphRemove,
                                graphRetype,
                                addKernel};
  return table;
}

}  // namespace opkit::plugin
