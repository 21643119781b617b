// Arena: the offsets of one pipeline's planned tensors in the memory of one backend.
//
// plan() gives every planned tensor of a schedule an offset, bind() an address in a buffer that is large enough; the
// pipelines of a session bind to one buffer in turn. For harnesses an arena can surround each tensor with guard bytes
// and fill everything else with poison before a run.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/memory_planner.h"
#include "engine/runtime/schedule.h"

namespace opkit {

class Arena {
 public:
  /// Places the planned, input and scratch slots of `backend` in `schedule`.
  Status plan(const Schedule& schedule, BackendIndex backendIndex, const Backend& backend, const SessionConfig& config);
  /// Required size of the buffer; 0 if no slot is placed here.
  size_t sizeBytes() const { return members_.empty() ? 0 : std::max<size_t>(plan_.peakBytes, 1); }
  /// Gives the slots their memory. REQUIRES a buffer of sizeBytes(); it may be null for 0.
  Status bind(Schedule& schedule, const std::shared_ptr<Buffer>& buffer);
  void unbind(Schedule& schedule);
  /// Fills the arena with poison (0xFF unless the configuration says otherwise: NaN for floats) and the guards with
  /// their pattern.
  Status poison(Backend& backend);
  /// Internal naming the first slot whose guard bytes changed since poison().
  Status checkGuards(Backend& backend, const Schedule& schedule, const EncodedGraph& graph, const Model& model);

  /// Adds peak, lower bound and the sizes of each kind of tensor.
  void addMemory(const Schedule& schedule, MemoryStatistics& memory) const;

 private:
  Tensor whole() const;
  struct Member {
    SlotId slot;
    size_t sizeBytes;  // on the device, without guards
  };
  Status buildImage(const Schedule& schedule);

  MemoryPlan plan_;
  std::shared_ptr<Buffer> buffer_;  // shared with the tensors placed in it; null while not bound
  bool poisons_ = false;
  int poisonByte_ = 0xFF;
  size_t guardBytes_ = 0;
  std::vector<Member> members_;  // slots placed here
  Tensor image_;                 // host bytes that poison() writes
};

}  // namespace opkit
