// ShaderTracer: traces of the dispatches of a session: which invocation read and wrote which byte.
//
// Set as the tracer of a VulkanRuntime before a session is made. After a run, dispatches() has the trace of each
// dispatch. Used by one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "engine/backend/vulkan/dispatch_tracer.h"
#include "harness/trace/instrument.h"

namespace opkit::harness {

/// Memory that a dispatch binds.
struct TracedBinding {
  uint64_t buffer = 0;      // the same number for the same buffer
  size_t offsetBytes = 0;   // of the tensor in it
  size_t sizeBytes = 0;     // of the tensor
  uint32_t texelBytes = 0;  // of a texel buffer's vec4
  int64_t columns = 0;      // of an image, in texels; else 0
  int64_t rows = 0;
};

struct DispatchTrace {
  std::string shader;
  std::vector<uint32_t> constants;  // values of the specialisation constants
  uint64_t groups = 0;
  uint32_t invocations = 0;  // of a group
  std::vector<TracedBinding> bindings;
  const InstrumentedShader* code = nullptr;
  uint64_t groupsTraced = 0;
  uint64_t wanted = 0;  // records that the traced groups made; more than records.size() if they did not fit
  std::span<const TraceRecord> records;

  bool isWhole() const { return groupsTraced == groups && wanted == records.size(); }
};

/// Bytes of a buffer that were written by the host, a copy or a fill.
struct TracedWrite {
  uint64_t buffer = 0;
  size_t offsetBytes = 0;
  size_t sizeBytes = 0;
};

class ShaderTracer final : public vulkan::DispatchTracer {
 public:
  /// SPIR-V with debug information of a shader variant; an empty span if there is none.
  using DebugSource = std::function<std::span<const uint32_t>(const vulkan::ShaderCode& code)>;

  /// Room for `records` records of each dispatch, 16 bytes each. Dispatches whose traces together exceed 640 MiB are
  /// Unsupported.
  explicit ShaderTracer(size_t records, DebugSource source = nullptr)
      : capacity_(records), source_(std::move(source)) {}

  std::span<const uint32_t> instrument(const vulkan::ShaderCode& code) override;
  Result<std::shared_ptr<const vulkan::VulkanBuffer>> bufferFor(const vulkan::TracedDispatch& dispatch,
                                                                const std::shared_ptr<vulkan::Device>& device) override;
  void onWrite(const Tensor& tensor) override;

  /// One group per dispatch records in the next run: see chooseGroups.
  void sampleOneGroup();
  /// As many groups record in the next run as have room, judged by the last run; evenly spread, all if they fit.
  void chooseGroups();
  /// Of the last run, in the order of recording. Valid until the next run.
  std::vector<DispatchTrace> dispatches() const;
  const std::vector<TracedWrite>& writes() const { return writes_; }
  /// Forgets the dispatches recorded so far, not the shaders.
  void clear();

 private:
  struct Recorded {
    DispatchTrace trace;
    std::shared_ptr<vulkan::VulkanBuffer> buffer;
    TraceHeader& header() const { return *reinterpret_cast<TraceHeader*>(buffer->hostData()); }
  };
  uint64_t numberOf(const Buffer* buffer);
  TracedBinding bindingOf(const Tensor& tensor, vulkan::Access access);

  size_t capacity_;
  DebugSource source_;
  std::map<uint64_t, InstrumentedShader> shaders_;                                 // by a hash of the words
  std::map<std::string, const InstrumentedShader*> latest_;                        // by the variant's name
  std::map<const Buffer*, std::pair<uint64_t, std::shared_ptr<Buffer>>> buffers_;  // kept, so that numbers stay unique
  std::vector<Recorded> recorded_;
  std::vector<TracedWrite> writes_;
};

}  // namespace opkit::harness
