// CommandEncoder: the Encoder that operators see, over a Recording and an Execution's scratch memory.
#pragma once

#include "engine/backend/vulkan/recording.h"

namespace opkit::vulkan {

/// Scratch tensors of one Execution. Memory is kept from one resize to the next where it is large enough.
class ScratchMemory {
 public:
  /// Makes all memory available again; tensors handed out before are invalid.
  void restart() { used_ = 0; }
  Result<const Tensor*> take(Backend& backend, TensorDesc desc);

 private:
  std::vector<std::unique_ptr<Tensor>> tensors_;  // unique_ptr: addresses are handed out
  size_t used_ = 0;
};

class CommandEncoder final : public Encoder {
 public:
  CommandEncoder(Backend& backend, Recording& recording, ScratchMemory& scratch)
      : backend_(backend), recording_(recording), scratch_(scratch) {}

  Status fillZero(const Tensor& tensor) override;
  Status copyRuns(const Tensor& from, const Tensor& to, std::span<const ByteRun> runs) override {
    return recording_.copyRuns(from, to, runs);
  }
  size_t shortestRunBytes() const override { return recording_.shortestRunBytes(); }
  void beginDisjoint() override { recording_.hazards().beginDisjoint(); }
  void endDisjoint() override { recording_.hazards().endDisjoint(); }
  Result<const Tensor*> scratch(TensorDesc desc) override { return scratch_.take(backend_, std::move(desc)); }
  Status dispatchRaw(const ShaderCode& code, std::span<const Tensor* const> tensors, std::span<const std::byte> push,
                     std::span<const uint32_t> constants, Groups groups) override {
    return recording_.dispatch(code, tensors, push, constants, groups);
  }

 private:
  Backend& backend_;
  Recording& recording_;
  ScratchMemory& scratch_;
};

}  // namespace opkit::vulkan
