// LoopTracer: shaders that count the passes of their loops, and that use up the passes a device allows.
//
// Set as the tracer of a VulkanRuntime before a session is made. A pass is one execution of a loop's first block: one
// for each iteration and one for the test that ends the loop. Of each dispatch kGroups groups count, evenly spread. On
// a device that ends loops early (LoopLimit), they can first burn passes in a loop of their own: what is left are the
// passes of a device with a lower limit. Used by one thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/backend/vulkan/dispatch_tracer.h"

namespace opkit::harness {

/// The words of the trace of a dispatch.
struct LoopCounts {
  uint32_t burn = 0;    // passes to use up first
  uint32_t stride = 1;  // groups count whose linear number is a multiple of it
  uint32_t most = 0;    // of one invocation
  uint32_t sum = 0;     // of all that count, modulo 2^32
  uint32_t burnt = 0;   // keeps the burning loop from being optimised away
  bool operator==(const LoopCounts&) const = default;
};

class LoopTracer final : public vulkan::DispatchTracer {
 public:
  std::span<const uint32_t> instrument(const vulkan::ShaderCode& code) override;
  Result<std::shared_ptr<const vulkan::VulkanBuffer>> bufferFor(const vulkan::TracedDispatch& dispatch,
                                                                const std::shared_ptr<vulkan::Device>& device) override;
  void onWrite(const Tensor&) override {}

  /// Whether a dispatch recorded so far has loops.
  bool hasLoops() const { return !recorded_.empty(); }
  /// Before a run: clears the counts. `burn`: passes that each counting invocation uses up.
  void begin(uint32_t burn);
  struct Count {
    std::string shader;
    uint32_t most = 0;
    uint32_t sum = 0;
  };
  /// After a run: of each dispatch with loops, in the order of recording.
  std::vector<Count> counts() const;
  /// Forgets the dispatches recorded so far, not the shaders.
  void clear() { recorded_.clear(); }

 private:
  struct Shader {
    std::vector<uint32_t> spirv;
    size_t loops = 0;
  };
  struct Recorded {
    std::string shader;
    std::shared_ptr<vulkan::VulkanBuffer> buffer;
    LoopCounts& words() const { return *reinterpret_cast<LoopCounts*>(buffer->hostData()); }
  };

  std::map<uint64_t, Shader> shaders_;           // by a hash of the words
  std::map<std::string, const Shader*> latest_;  // by the variant's name
  std::vector<Recorded> recorded_;
  std::shared_ptr<vulkan::VulkanBuffer> unused_;  // of dispatches without loops
};

/// `spirv` with the counters of LoopCounts; `loops` becomes the number of its loops. InvalidArgument if the words are
/// not a SPIR-V module.
Result<std::vector<uint32_t>> countLoops(std::span<const uint32_t> spirv, size_t& loops);

}  // namespace opkit::harness
