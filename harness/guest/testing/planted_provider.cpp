// A plugin provider of ONNX Runtime with planted faults, for tests of what `op-harness check --ort` finds. It has Add,
// Relu and Softmax in f32 on the CPU. The option `fault` names its fault (planted_provider_kernel.h); without it all is
// right. ONNX Runtime loads it by RegisterExecutionProviderLibrary; its name is OpKitPlanted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/guest/testing/ort_ep_api.h"
#include "harness/guest/testing/planted_provider_kernel.h"

namespace opkit::harness::planted_provider {
namespace {

using namespace ort_ep;

constexpr const char* kName = "OpKitPlanted";
constexpr const char* kFaultKey = "ep.opkitplanted.fault";  // where ONNX Runtime puts the option `fault`

// Set when the library is registered, which comes before everything else.
std::optional<Api> api;
std::optional<EpApi> epApi;

#define OPKIT_ORT_TRY(call)                                   \
  do {                                                        \
    if (Status* const failed = (call); failed) return failed; \
  } while (false)

Status* error(ErrorCode code, const std::string& message) { return api->createStatus(code, message.c_str()); }

Status* inputsOf(const Node* node, std::vector<const ValueInfo*>& inputs) {
  size_t count = 0;
  OPKIT_ORT_TRY(api->getInputCount(node, &count));
  inputs.resize(count);
  return api->getInputs(node, inputs.data(), count);
}

Status* isFloat(const ValueInfo* value, bool& answer) {
  answer = false;
  if (!value) return nullptr;
  const TypeInfo* type = nullptr;
  const TensorInfo* tensor = nullptr;
  OPKIT_ORT_TRY(api->getValueInfoTypeInfo(value, &type));
  OPKIT_ORT_TRY(api->castTypeInfoToTensorInfo(type, &tensor));
  if (!tensor) return nullptr;
  ElementType element = {};
  OPKIT_ORT_TRY(api->getTensorElementType(tensor, &element));
  answer = element == ElementType::Float;
  return nullptr;
}

/// Of versions before 13 none: Softmax flattens its input there.
Status* hasKernel(const Node* node, bool& answer) {
  answer = false;
  const char *type = nullptr, *domain = nullptr;
  int version = 0;
  OPKIT_ORT_TRY(api->getOperatorType(node, &type));
  OPKIT_ORT_TRY(api->getDomain(node, &domain));
  OPKIT_ORT_TRY(api->getSinceVersion(node, &version));
  if (*domain || !Kernel::hasOp(type) || version < 13) return nullptr;
  std::vector<const ValueInfo*> inputs;
  OPKIT_ORT_TRY(inputsOf(node, inputs));
  return isFloat(inputs.at(0), answer);
}

Status* axisOf(const Node* node, int64_t& axis) {
  const Attribute* attribute = nullptr;
  OPKIT_ORT_TRY(api->getAttribute(node, "axis", &attribute));
  if (!attribute) return nullptr;
  size_t bytes = 0;
  return api->readAttribute(attribute, AttributeType::Int, &axis, sizeof(axis), &bytes);
}

/// The provider within a session.
struct PlantedEp : Ep {
  Fault fault = Fault::None;
};

/// A node that was compiled. The engine may order the inputs of what it fused in its own way.
struct PlantedNode : ComputeInfo {
  std::string type;
  std::vector<size_t> inputs;      // of the fused node, in the order of the kernel's
  std::unique_ptr<Kernel> kernel;  // null: there is none (Fault::Refuse)
};

Status* createState(ComputeInfo* node, ComputeContext*, void** state) noexcept {
  *state = node;
  return nullptr;
}

void releaseState(ComputeInfo*, void*) noexcept {}

Status* dataOf(const Value* value, float*& data) {
  void* memory = nullptr;
  OPKIT_ORT_TRY(api->getTensorMutableData(const_cast<Value*>(value), &memory));
  data = static_cast<float*>(memory);
  return nullptr;
}

Status* shapeOf(const TensorInfo* info, std::vector<int64_t>& shape) {
  size_t rank = 0;
  OPKIT_ORT_TRY(api->getDimensionsCount(info, &rank));
  shape.resize(rank);
  return api->getDimensions(info, shape.data(), rank);
}

Status* readInput(const KernelContext* context, size_t number, FloatTensor& tensor) {
  const Value* value = nullptr;
  TensorInfo* info = nullptr;
  OPKIT_ORT_TRY(api->getInput(context, number, &value));
  OPKIT_ORT_TRY(api->getTensorTypeAndShape(value, &info));
  Status* const failed = shapeOf(info, tensor.shape);
  api->releaseTensorInfo(info);
  return failed ? failed : dataOf(value, tensor.data);
}

Status* compute(ComputeInfo* self, void*, KernelContext* context) noexcept {
  PlantedNode& node = *static_cast<PlantedNode*>(self);
  if (!node.kernel) return error(ErrorCode::Fail, std::string(kName) + " has no kernel for this " + node.type);
  std::vector<FloatTensor> inputs;
  for (const size_t number : node.inputs) OPKIT_ORT_TRY(readInput(context, number, inputs.emplace_back()));
  FloatTensor output{nullptr, node.kernel->outputShape(inputs)};
  Value* value = nullptr;
  OPKIT_ORT_TRY(api->getOutput(context, 0, output.shape.data(), output.shape.size(), &value));
  OPKIT_ORT_TRY(dataOf(value, output.data));
  node.kernel->run(inputs, output);
  return nullptr;
}

/// Finds the inputs of a node among those of the fused node, by their names.
Status* findInputs(const Node* inner, const Node* fused, std::vector<size_t>& numbers) {
  std::vector<const ValueInfo*> wanted, given;
  OPKIT_ORT_TRY(inputsOf(inner, wanted));
  OPKIT_ORT_TRY(inputsOf(fused, given));
  for (const ValueInfo* one : wanted) {
    const char *name = nullptr, *other = nullptr;
    OPKIT_ORT_TRY(api->getValueInfoName(one, &name));
    size_t number = 0;
    for (; number < given.size(); ++number) {
      OPKIT_ORT_TRY(api->getValueInfoName(given[number], &other));
      if (std::strcmp(name, other) == 0) break;
    }
    if (number == given.size()) return error(ErrorCode::Fail, "the fused node has no input " + std::string(name));
    numbers.push_back(number);
  }
  return nullptr;
}

Status* compileNode(const Graph* graph, const Node* fused, Fault fault, PlantedNode& compiled) {
  const Node* node = nullptr;
  const char* type = nullptr;
  bool isKnown = false;
  OPKIT_ORT_TRY(api->getNodes(graph, &node, 1));
  OPKIT_ORT_TRY(api->getOperatorType(node, &type));
  compiled.type = type;
  OPKIT_ORT_TRY(hasKernel(node, isKnown));
  if (!isKnown) return nullptr;
  int64_t axis = -1;
  if (compiled.type == "Softmax") OPKIT_ORT_TRY(axisOf(node, axis));
  OPKIT_ORT_TRY(findInputs(node, fused, compiled.inputs));
  compiled.kernel = std::make_unique<Kernel>(compiled.type, axis, fault);
  return nullptr;
}

Status* compile(Ep* self, const Graph** graphs, const Node** fused, size_t count, ComputeInfo** infos,
                Node**) noexcept {
  const Fault fault = static_cast<PlantedEp*>(self)->fault;
  if (fault == Fault::AbortAtLoad) std::abort();
  if (fault == Fault::RefuseAtLoad) return error(ErrorCode::Fail, std::string(kName) + " compiles nothing");
  for (size_t i = 0; i < count; ++i) {
    auto node = std::make_unique<PlantedNode>();
    node->createState = createState;
    node->compute = compute;
    node->releaseState = releaseState;
    OPKIT_ORT_TRY(compileNode(graphs[i], fused[i], fault, *node));
    infos[i] = node.release();
  }
  return nullptr;
}

void releaseComputeInfos(Ep*, ComputeInfo** infos, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) delete static_cast<PlantedNode*>(infos[i]);
}

/// Each node is fused alone.
Status* getCapability(Ep* self, const Graph* graph, GraphSupport* support) noexcept {
  const Fault fault = static_cast<PlantedEp*>(self)->fault;
  size_t count = 0;
  OPKIT_ORT_TRY(api->getNodeCount(graph, &count));
  std::vector<const Node*> nodes(count);
  OPKIT_ORT_TRY(api->getNodes(graph, nodes.data(), count));
  for (const Node* node : nodes) {
    bool claims = false;
    OPKIT_ORT_TRY(hasKernel(node, claims));
    if (!claims && fault != Fault::Refuse) continue;
    const FusionOptions options;
    OPKIT_ORT_TRY(epApi->addNodesToFuse(support, &node, 1, &options));
  }
  return nullptr;
}

Status* readFault(const SessionOptions* options, Fault& fault) {
  int isGiven = 0;
  OPKIT_ORT_TRY(api->hasSessionConfigEntry(options, kFaultKey, &isGiven));
  if (!isGiven) return nullptr;
  size_t bytes = 0;  // with the NUL at the end
  OPKIT_ORT_TRY(api->getSessionConfigEntry(options, kFaultKey, nullptr, &bytes));
  std::string name(bytes, '\0');
  OPKIT_ORT_TRY(api->getSessionConfigEntry(options, kFaultKey, name.data(), &bytes));
  name.resize(std::strlen(name.c_str()));
  const std::optional<Fault> known = faultOf(name);
  if (!known)
    return error(ErrorCode::InvalidArgument, "fault: expected one of " + faultNames() + ", got '" + name + "'");
  fault = *known;
  return nullptr;
}

Status* createEp(EpFactory*, const HardwareDevice* const*, const KeyValuePairs* const*, size_t,
                 const SessionOptions* options, const Logger*, Ep** made) noexcept {
  auto ep = std::make_unique<PlantedEp>();
  OPKIT_ORT_TRY(readFault(options, ep->fault));
  ep->getName = [](const Ep*) { return kName; };
  ep->getCapability = getCapability;
  ep->compile = compile;
  ep->releaseComputeInfos = releaseComputeInfos;
  *made = ep.release();
  return nullptr;
}

Status* getSupportedDevices(EpFactory* factory, const HardwareDevice* const* devices, size_t count, Device** supported,
                            size_t mostSupported, size_t* supportedCount) noexcept {
  *supportedCount = 0;
  for (size_t i = 0; i < count && *supportedCount < mostSupported; ++i) {
    if (api->hardwareType(devices[i]) != HardwareType::Cpu) continue;
    OPKIT_ORT_TRY(epApi->createDevice(factory, devices[i], nullptr, nullptr, &supported[*supportedCount]));
    ++*supportedCount;
  }
  return nullptr;
}

EpFactory makeFactory() {
  EpFactory factory;
  factory.getName = [](const EpFactory*) { return kName; };
  factory.getVendor = [](const EpFactory*) { return "OpKit"; };
  factory.getVendorId = [](const EpFactory*) { return uint32_t{0}; };
  factory.getVersion = [](const EpFactory*) { return "1.0.0"; };
  factory.getSupportedDevices = getSupportedDevices;
  factory.createEp = createEp;
  factory.releaseEp = [](EpFactory*, Ep* ep) { delete static_cast<PlantedEp*>(ep); };
  factory.createDataTransfer = [](EpFactory*, void** transfer) -> Status* {
    *transfer = nullptr;  // the memory is the host's
    return nullptr;
  };
  factory.isStreamAware = [](const EpFactory*) { return false; };
  return factory;
}

}  // namespace

// The two names that ONNX Runtime looks for.
extern "C" __attribute__((visibility("default"))) Status* CreateEpFactories(const char*, const ApiBase* base,
                                                                            const Logger*, EpFactory** factories,
                                                                            size_t most, size_t* count) {
  const void* const functions = base->getApi(kApiVersion);
  *count = 0;
  if (!functions || most == 0) return nullptr;
  api.emplace(functions);
  epApi.emplace(api->getEpApi());
  factories[0] = new EpFactory(makeFactory());
  *count = 1;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) Status* ReleaseEpFactory(EpFactory* factory) {
  delete factory;
  return nullptr;
}

}  // namespace opkit::harness::planted_provider
