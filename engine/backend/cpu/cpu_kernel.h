// CpuKernel: base of CPU kernels whose work falls into independent items (elements, rows, planes).
//
// A kernel derives from it, overrides onRun and calls forEachBlock with a loop over [begin, end); the session's threads
// share the blocks. floatKernel makes the Creator of a kernel that computes f32 alone; other types go to the oracle.
#pragma once

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/host/host_execution.h"

namespace opkit::cpu {

class CpuKernel : public HostExecution {
 public:
  explicit CpuKernel(Backend& backend) : HostExecution(backend), pool_(threadPool(backend)) {}
  /// Nothing to plan: shapes are read at run.
  Status onResize(TensorList, TensorList) override { return Status::ok(); }

 protected:
  /// Calls body(begin, end) for blocks of at most `block` items that cover [0, count). Allocates nothing.
  template <class Body>
  void forEachBlock(int64_t count, int64_t block, const Body& body) const {
    struct Job {
      size_t count, block;
      const Body& body;
    } const job{static_cast<size_t>(count), static_cast<size_t>(block), body};
    // One captured reference fits into std::function without allocating.
    pool_.parallelFor((job.count + job.block - 1) / job.block, [&job](size_t index, size_t) {
      job.body(index * job.block, std::min(job.count, (index + 1) * job.block));
    });
  }

 private:
  ThreadPool& pool_;
};

/// The Creator of `E(args, backend)`, which computes f32 alone: Unsupported when input 0 is of another type.
template <class E>
Creator floatKernel() {
  return {"opkit",
          [](const CreateArgs& args) {
            const DType dtype = args.input(0).dtype;
            return dtype == DType::Float32
                       ? Status::ok()
                       : Status::unsupported("{}: the CPU kernel computes f32, got {}", args.def.type, nameOf(dtype));
          },
          [](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
            return std::unique_ptr<Execution>(std::make_unique<E>(args, backend));
          }};
}

}  // namespace opkit::cpu
