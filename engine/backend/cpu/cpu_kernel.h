// CpuKernel: the common part of the CPU kernels of simple operators; an operator writes only its loop.
//
//   class ReluCpu final : public cpu::CpuKernel {
//    public:
//     using CpuKernel::CpuKernel;
//    protected:
//     Status onRun(TensorList inputs, TensorList outputs) override { ... parallelRanges(pool_, ...) ... }
//   };
//   registry.addCreator("cpu", "Relu", cpu::creatorOf<ReluCpu>(supports, DTypeSet(DType::Float32)));
#pragma once

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/host/host_execution.h"
#include "engine/op/op_registry.h"

namespace opkit::cpu {

class CpuKernel : public HostExecution {
 public:
  CpuKernel(const CreateArgs&, Backend& backend) : HostExecution(backend), pool_(threadPool(backend)) {}
  /// For kernels that plan nothing: shapes are read from the tensors at run.
  Status onResize(TensorList, TensorList) override {
    plansNothing_ = true;
    return Status::ok();
  }
  bool plansNothing() const override { return plansNothing_; }

 protected:
  static float* floatsOf(const Tensor& tensor) { return tensor.data<float>().data(); }
  static bool has(TensorList list, size_t index) { return index < list.size() && list[index] != nullptr; }
  /// Calls body(begin, end) for blocks of at most `block` items that cover [0, count). Allocates nothing.
  template <class Body>
  void forEachBlock(int64_t count, int64_t block, const Body& body) const {
    const auto items = static_cast<size_t>(count), step = static_cast<size_t>(block);
    const auto one = [&](size_t index, size_t) { body(index * step, std::min(items, (index + 1) * step)); };
    pool_.parallelFor((items + step - 1) / step, std::ref(one));  // a std::function of a reference: no allocation
  }

  ThreadPool& pool_;

 private:
  bool plansNothing_ = false;
};

/// A Creator whose Execution is `E(args, backend)`; `supports` may be any callable Status(const CreateArgs&).
template <class E, class Supports>
Creator creatorOf(Supports supports, DTypeSet dtypes, const std::string& kernel = "") {
  return {.provider = "opkit",
          .supports = supports,
          .create = [](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
            return std::unique_ptr<Execution>(std::make_unique<E>(args, backend));
          },
          .dtypes = dtypes,
          .kernel = kernel};
}

/// The Creator of `E(args, backend)`, for f32 only.
template <class E>
Creator floatKernel() {
  return creatorOf<E>([](const CreateArgs&) { return Status::ok(); }, DTypeSet(DType::Float32));
}

/// For kernels that accept everything that the card and their dtypes allow.
inline Status supportsAll(const CreateArgs&) { return Status::ok(); }

inline constexpr DTypeSet kWideFloats{DType::Float32, DType::Float64};  // f16 computes in f32

/// Calls body(float()) or body(double()), for kernels of kWideFloats.
template <class Body>
void visitWideFloat(DType dtype, const Body& body) {
  if (dtype == DType::Float64)
    body(double());
  else
    body(float());
}

/// Widens an element as the oracle does, and rounds a result as the oracle does.
template <class T>
auto widened(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return static_cast<double>(toFloat(value));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else if constexpr (std::is_same_v<T, uint64_t>)
    return value;
  else
    return static_cast<int64_t>(value);
}
template <class T, class V>
T narrowed(V value) {
  if constexpr (std::is_same_v<T, Half>)
    return toHalf(static_cast<double>(value));
  else
    return static_cast<T>(value);
}

}  // namespace opkit::cpu
