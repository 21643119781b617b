// Arena: the planned memory of one backend in one session.
//
// Places every planned tensor of a schedule in one buffer. For harnesses it can surround each tensor with
// guard bytes and fill everything else with poison before a run. Grows, never shrinks.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/memory_planner.h"
#include "engine/runtime/schedule.h"

namespace opkit {

class Arena {
 public:
  /// Places the planned and input slots of `backend` in `schedule`. OutOfMemory when the device refuses.
  Status place(Schedule& schedule, size_t backendIndex, Backend& backend, const SessionConfig& config);
  /// Fills the arena with poison (0xFF: NaN for floats) and the guards with their pattern.
  Status poison(Backend& backend);
  /// Internal naming the first slot whose guard bytes changed since poison().
  Status checkGuards(Backend& backend, const Schedule& schedule, const EncodedGraph& graph, const Model& model);

  size_t peakBytes() const { return plan_.peakBytes; }
  size_t lowerBoundBytes() const { return plan_.lowerBoundBytes; }

 private:
  Tensor whole() const;
  Status buildImage(const Schedule& schedule, const std::vector<size_t>& members);

  MemoryPlan plan_;
  std::shared_ptr<Buffer> buffer_;  // shared with the tensors placed in it
  size_t guardBytes_ = 0;
  std::vector<size_t> members_;  // slots placed here
  Tensor image_;                 // host bytes that poison() writes
};

}  // namespace opkit
