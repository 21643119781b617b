// The part of ONNX Runtime's interface for plugin providers that the tests' provider needs: structs that a provider
// fills, and positions in the tables of functions that it calls. Of API 23 (ONNX Runtime 1.23); later versions only
// append to tables and structs, and read no field beyond the version that a struct states.
//
// OpKit's build must not depend on ONNX Runtime's headers. Types behind pointers are opaque. Tests only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opkit::harness::ort_ep {

inline constexpr uint32_t kApiVersion = 23;

enum class ErrorCode : int { Fail = 1, InvalidArgument = 2 };
enum class HardwareType : int { Cpu = 0 };
enum class ElementType : int { Float = 1 };
enum class AttributeType : int { Int = 1 };

struct Status;
struct Graph;
struct Node;
struct ValueInfo;
struct TypeInfo;
struct TensorInfo;
struct Attribute;
struct Value;
struct KernelContext;
struct ComputeContext;
struct SessionOptions;
struct Logger;
struct GraphSupport;
struct HardwareDevice;
struct Device;
struct KeyValuePairs;

/// One function of a table, by its position.
template <size_t kPosition, typename Signature>
class Entry;

template <size_t kPosition, typename Returned, typename... Arguments>
class Entry<kPosition, Returned(Arguments...)> {
 public:
  explicit Entry(const void* table) : function_(static_cast<Returned (*const*)(Arguments...)>(table)[kPosition]) {}
  Returned operator()(Arguments... arguments) const { return function_(arguments...); }

 private:
  Returned (*function_)(Arguments...);
};

/// OrtApi.
struct Api {
  explicit Api(const void* functions) : table(functions) {}

  const void* table;
  Entry<0, Status*(ErrorCode, const char*)> createStatus{table};
  Entry<51, Status*(Value*, void**)> getTensorMutableData{table};
  Entry<55, Status*(const TypeInfo*, const TensorInfo**)> castTypeInfoToTensorInfo{table};  // null: no tensor
  Entry<60, Status*(const TensorInfo*, ElementType*)> getTensorElementType{table};
  Entry<61, Status*(const TensorInfo*, size_t*)> getDimensionsCount{table};
  Entry<62, Status*(const TensorInfo*, int64_t*, size_t)> getDimensions{table};
  Entry<65, Status*(const Value*, TensorInfo**)> getTensorTypeAndShape{table};
  Entry<90, Status*(const KernelContext*, size_t, const Value**)> getInput{table};
  Entry<91, Status*(KernelContext*, size_t, const int64_t*, size_t, Value**)> getOutput{table};
  Entry<99, void(TensorInfo*)> releaseTensorInfo{table};
  Entry<237, Status*(const SessionOptions*, const char*, int*)> hasSessionConfigEntry{table};
  Entry<238, Status*(const SessionOptions*, const char*, char*, size_t*)> getSessionConfigEntry{table};
  Entry<272, Status*(const Attribute*, AttributeType, void*, size_t, size_t*)> readAttribute{table};
  Entry<289, Status*(const ValueInfo*, const char**)> getValueInfoName{table};
  Entry<290, Status*(const ValueInfo*, const TypeInfo**)> getValueInfoTypeInfo{table};
  Entry<307, HardwareType(const HardwareDevice*)> hardwareType{table};
  Entry<317, const void*()> getEpApi{table};
  Entry<344, Status*(const Graph*, size_t*)> getNodeCount{table};
  Entry<345, Status*(const Graph*, const Node**, size_t)> getNodes{table};
  Entry<350, Status*(const Node*, const char**)> getOperatorType{table};
  Entry<351, Status*(const Node*, const char**)> getDomain{table};
  Entry<352, Status*(const Node*, int*)> getSinceVersion{table};
  Entry<353, Status*(const Node*, size_t*)> getInputCount{table};
  Entry<354, Status*(const Node*, const ValueInfo**, size_t)> getInputs{table};  // null: an absent optional input
  Entry<361, Status*(const Node*, const char*, const Attribute**)> getAttribute{table};
};

/// OrtApiBase.
struct ApiBase {
  const void* (*getApi)(uint32_t version);
  const char* (*getVersionString)();
};

/// OrtNodeFusionOptions.
struct FusionOptions {
  uint32_t version = kApiVersion;
  bool dropConstants = false;
};
static_assert(sizeof(FusionOptions) == 8);

/// OrtNodeComputeInfo: one node that a provider has compiled.
struct ComputeInfo {
  uint32_t version = kApiVersion;
  Status* (*createState)(ComputeInfo*, ComputeContext*, void** state) = nullptr;
  Status* (*compute)(ComputeInfo*, void* state, KernelContext*) = nullptr;
  void (*releaseState)(ComputeInfo*, void* state) = nullptr;
};
static_assert(sizeof(ComputeInfo) == 32);

/// OrtEp: the provider within one session. Functions that may be null have no type here.
struct Ep {
  uint32_t version = kApiVersion;
  const char* (*getName)(const Ep*) = nullptr;
  Status* (*getCapability)(Ep*, const Graph*, GraphSupport*) = nullptr;
  Status* (*compile)(Ep*, const Graph**, const Node** fused, size_t count, ComputeInfo**, Node** contexts) = nullptr;
  void (*releaseComputeInfos)(Ep*, ComputeInfo**, size_t count) = nullptr;
  void* getPreferredDataLayout = nullptr;
  void* shouldConvertDataLayoutForOp = nullptr;
  void* setDynamicOptions = nullptr;
  void* onRunStart = nullptr;
  void* onRunEnd = nullptr;
  void* createAllocator = nullptr;
  void* createSyncStreamForDevice = nullptr;
  void* getCompiledModelCompatibilityInfo = nullptr;
};
static_assert(sizeof(Ep) == 104);

/// OrtEpFactory: the provider within the process.
struct EpFactory {
  uint32_t version = kApiVersion;
  const char* (*getName)(const EpFactory*) = nullptr;
  const char* (*getVendor)(const EpFactory*) = nullptr;
  Status* (*getSupportedDevices)(EpFactory*, const HardwareDevice* const*, size_t count, Device** supported,
                                 size_t mostSupported, size_t* supportedCount) = nullptr;
  Status* (*createEp)(EpFactory*, const HardwareDevice* const*, const KeyValuePairs* const*, size_t count,
                      const SessionOptions*, const Logger*, Ep**) = nullptr;
  void (*releaseEp)(EpFactory*, Ep*) = nullptr;
  uint32_t (*getVendorId)(const EpFactory*) = nullptr;
  const char* (*getVersion)(const EpFactory*) = nullptr;
  void* validateCompiledModelCompatibilityInfo = nullptr;
  void* createAllocator = nullptr;
  void* releaseAllocator = nullptr;
  Status* (*createDataTransfer)(EpFactory*, void** transfer) = nullptr;
  bool (*isStreamAware)(const EpFactory*) = nullptr;
  void* createSyncStreamForDevice = nullptr;
};
static_assert(sizeof(EpFactory) == 112);

/// OrtEpApi.
struct EpApi {
  explicit EpApi(const void* functions) : table(functions) {}

  const void* table;
  Entry<0, Status*(EpFactory*, const HardwareDevice*, const KeyValuePairs*, const KeyValuePairs*, Device**)>
      createDevice{table};
  Entry<2, Status*(GraphSupport*, const Node* const*, size_t, const FusionOptions*)> addNodesToFuse{table};
};

}  // namespace opkit::harness::ort_ep
