// HostScatter: the Scatter of loop regions on the host, for HostLoop.
//
// Threads share the work so that an element is written by one thread alone, in the order of the iterations: they take
// parts of an axis that no index bridges, or else the updates whose index lies in their range. Sums and products of f16
// are kept in f32 and rounded once. Not thread-safe: one object per Execution.
#pragma once

#include <vector>

#include "engine/backend/execution.h"
#include "engine/base/thread_pool.h"
#include "engine/op/loop_region.h"
#include "engine/op/loops.h"

namespace opkit {

class HostScatter {
 public:
  /// At resize. `outer` holds the steps of the target, the operand and the indices, `box` the strides of the target and
  /// the operand.
  void plan(const LoopRegion& loop, const Loops& outer, const Loops& box, const TensorDesc& output,
            const ThreadPool& pool);
  /// InvalidArgument when an index is out of range; its iteration writes nothing. `loop` is the one of plan().
  Status run(const LoopRegion& loop, TensorList inputs, const Tensor& output, const std::string& type,
             ThreadPool& pool);

  /// What one thread does.
  struct Part {
    Loops outer, box;
    std::array<int64_t, 3> offsets{};           // of the target, the operand and the indices
    size_t term = SIZE_MAX;                     // the index term whose range the part has; SIZE_MAX for none
    int64_t first = 0, last = 0;                // that range, counted from the front
    int64_t elements = elementCount(box.size);  // of a box
    int64_t iterations = elementCount(outer.size);
  };

 private:
  std::vector<Part> parts_;
  std::vector<float> sums_;  // of f16: the output in f32
};

}  // namespace opkit
