#include "engine/backend/host/host_scatter.h"

#include <cstring>

#include "engine/backend/combined.h"
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/loop_lowering.h"

namespace opkit {
namespace {

/// Iterations in order on elements of type T, with indices of one type.
template <class T, class Index>
struct ScatterLoop {
  const LoopRegion& loop;
  const Loops& outer;
  const Loops& box;
  const T* from;
  T* to;
  const Index* indices;
  int64_t elements = elementCount(box.size);

  /// False when an index was out of range.
  bool run() const {
    bool ok = true;
    const int64_t iterations = elementCount(outer.size);
    if (iterations == 0) return ok;
    cpu::forEachRun<3>(outer, 0, iterations, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t target = at[0] + i * inner[0];
        if (move(target, at[2] + i * inner[2]))
          put(from + at[1] + i * inner[1], to + target);
        else
          ok = false;
      }
    });
    return ok;
  }

 private:
  bool move(int64_t& target, int64_t at) const {
    for (const LoopIndices::Term& term : loop.indices.terms) {
      const int64_t value = indices[at + term.offset];
      if (value < -term.extent || value >= term.extent) return false;
      target += (value < 0 ? value + term.extent : value) * term.stride;
    }
    return true;
  }
  void put(const T* x, T* y) const {
    if (elements == 0) return;
    cpu::forEachRun<2>(box, 0, elements, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      if (loop.combine == Combine::Replace && inner[0] == 1 && inner[1] == 1)
        std::memcpy(y + at[0], x + at[1], static_cast<size_t>(count) * sizeof(T));
      else
        for (int64_t i = 0; i < count; ++i) join(x[at[1] + i * inner[1]], y[at[0] + i * inner[0]]);
    });
  }
  void join(T x, T& y) const {
    y = loop.combine == Combine::Replace ? x
                                         : cpu::narrowed<T>(combined(loop.combine, cpu::widened(y), cpu::widened(x)));
  }
};

template <class T>
bool scatter(const LoopRegion& loop, const Loops& outer, const Loops& box, TensorList inputs, const Tensor& output) {
  const auto at = [](const Tensor& tensor, int64_t offset) {
    return reinterpret_cast<T*>(tensor.bytes().data()) + offset;
  };
  const T* from = at(*inputs[static_cast<size_t>(loop.operands[0].source)], loop.operands[0].offset);
  T* to = at(output, loop.target.offset);
  const Tensor& indices = *inputs[static_cast<size_t>(loop.indices.source)];
  if (indices.desc.dtype == DType::Int64)
    return ScatterLoop<T, int64_t>{loop, outer, box, from, to, indices.data<int64_t>().data()}.run();
  const int32_t* narrow = loop.indices.terms.empty() ? nullptr : indices.data<int32_t>().data();
  return ScatterLoop<T, int32_t>{loop, outer, box, from, to, narrow}.run();
}

}  // namespace

Status checkHostScatter(const LoopRegion& loop, DType dtype, const std::string& type) {
  if (loop.combine == Combine::Replace) return Status::ok();
  const bool rounds = loop.combine == Combine::Add || loop.combine == Combine::Multiply;
  if (dtype == DType::Bool || (rounds && dtype == DType::Float16))
    return Status::unsupported("{}: the loop kernel does not combine {}", type, nameOf(dtype));
  return Status::ok();
}

Status scatterOnHost(const LoopRegion& loop, const Loops& outer, const Loops& box, TensorList inputs,
                     const Tensor& output, const std::string& type) {
  const std::span<std::byte> base = inputs[static_cast<size_t>(loop.base)]->bytes();
  if (!base.empty()) std::memcpy(output.bytes().data(), base.data(), base.size());
  bool ok = true;
  visitDType(output.desc.dtype, [&](auto tag) { ok = scatter<decltype(tag)>(loop, outer, box, inputs, output); });
  return ok ? Status::ok() : checkIndices(loop, *inputs[static_cast<size_t>(loop.indices.source)], type);
}

}  // namespace opkit
