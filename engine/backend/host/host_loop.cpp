#include "engine/backend/host/host_loop.h"

#include <atomic>
#include <cstring>

#include "engine/backend/combined.h"
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/integer_products.h"
#include "engine/backend/cpu/vector_ops.h"

namespace opkit {
namespace {

using Command = LoopRegion::Command;

template <class T>
T* elementsOf(const Tensor& tensor, int64_t offset) {
  return reinterpret_cast<T*>(tensor.bytes().data()) + offset;
}

/// A box of elements, and how to walk it in runs.
struct Box {
  const Loops& loops;  // of the target and the source
  int64_t elements = elementCount(loops.size);
  bool isRun = loops.size.size() == 1 && loops.strides[0][0] == 1 && loops.strides[1][0] == 1;

  template <class T>
  void copy(const T* from, T* to) const {
    if (elements == 1) {
      *to = *from;
      return;
    }
    if (isRun) {
      std::memcpy(to, from, static_cast<size_t>(elements) * sizeof(T));
      return;
    }
    cpu::forEachRun<2>(loops, 0, elements, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      if (inner[0] == 1 && inner[1] == 1)
        std::memcpy(to + at[0], from + at[1], static_cast<size_t>(count) * sizeof(T));
      else
        for (int64_t i = 0; i < count; ++i) to[at[0] + i * inner[0]] = from[at[1] + i * inner[1]];
    });
  }
};

/// Iterations of a Copy on elements of one size, with indices of one type.
template <class T, class Index>
struct CopyLoop {
  const LoopRegion& loop;
  const Loops& outer;
  Box box;
  const T* from;
  T* to;
  const Index* indices;

  /// False if an index was out of range; the elements of its iteration are not written.
  bool run(ThreadPool& pool) const {
    std::atomic<bool> ok = true;
    const auto part = [&](int64_t begin, int64_t end) {
      cpu::forEachRun<3>(outer, begin, end, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
        if (!copyRun(at, count, inner)) ok = false;
      });
    };
    const int64_t grain = std::max<int64_t>(cpu::kGrainElements / (box.elements + 4), 1);
    cpu::parallelRanges(pool, elementCount(outer.size), grain, part);
    return ok;
  }

 private:
  /// Values of its own: the compiler cannot know that stores of bytes do not change those of others.
  static bool chooseRun(const T* __restrict source, const Index* __restrict values, T* __restrict target, int64_t count,
                        std::array<int64_t, 3> inner, int64_t extent, int64_t stride) {
    bool ok = true;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t value = values[i * inner[2]], index = value < 0 ? value + extent : value;
      if (index < 0 || index >= extent)
        ok = false;
      else
        target[i * inner[0]] = source[i * inner[1] + index * stride];
    }
    return ok;
  }
  bool copyRun(const std::array<int64_t, 3>& at, int64_t count, const std::array<int64_t, 3>& inner) const {
    bool ok = true;
    if (box.elements == 1 && loop.indices.terms.size() == 1) {  // one element by one index
      const LoopIndices::Term& term = loop.indices.terms[0];
      return chooseRun(from + at[1], indices + at[2] + term.offset, to + at[0], count, inner, term.extent, term.stride);
    }
    for (int64_t i = 0; i < count; ++i) {
      int64_t source = at[1] + i * inner[1];
      bool valid = true;
      for (const LoopIndices::Term& term : loop.indices.terms) {
        const int64_t value = indices[at[2] + i * inner[2] + term.offset];
        valid = valid && value >= -term.extent && value < term.extent;
        source += (value < 0 ? value + term.extent : value) * term.stride;
      }
      ok = ok && valid;
      if (valid) box.copy(from + source, to + at[0] + i * inner[0]);
    }
    return ok;
  }
};

/// The type in which products and sums of T accumulate; integers wrap.
template <class T>
struct Arithmetic {
  using Product = std::conditional_t<
      std::is_same_v<T, Half>, float,
      std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>>;
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  static constexpr bool kIsFloat = !std::is_integral_v<T>;

  static Product forProduct(T value) { return static_cast<Product>(cpu::widened(value)); }
  static Sum forSum(T value) { return static_cast<Sum>(cpu::widened(value)); }
};

constexpr int64_t kColumns = 16;  // of a product or rows of a running sum at once: accumulators fit in registers

/// One product of the views at a, b and y.
template <class T>
void multiply(const LoopRegion& loop, const T* a, const T* b, T* y) {
  using A = Arithmetic<T>;
  using Value = typename A::Product;
  const int64_t rows = loop.size[0], columns = loop.size[1], depth = loop.size[2];
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (loop.operands[1].strides[1] == 1 && loop.target.strides[1] == 1) {
      const LoopView &left = loop.operands[0], &right = loop.operands[1];
      return cpu::multiplySmall({rows, columns, depth, left.strides[0], left.strides[2], right.strides[2],
                                 loop.target.strides[0], loop.clamp.low, loop.clamp.high},
                                a, b, y);
    }
  }
  if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
    if (loop.operands[1].strides[1] == 1 && loop.target.strides[1] == 1) {
      const LoopView &left = loop.operands[0], &right = loop.operands[1];
      return cpu::multiplyIntegers(
          {rows, columns, depth, left.strides[0], left.strides[2], right.strides[2], loop.target.strides[0], 0, 0},
          reinterpret_cast<const Value*>(a), reinterpret_cast<const Value*>(b), reinterpret_cast<Value*>(y));
    }
  }
  const DimVector &as = loop.operands[0].strides, &bs = loop.operands[1].strides, &ys = loop.target.strides;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t first = 0; first < columns; first += kColumns) {
      const int64_t count = std::min(kColumns, columns - first);
      Value sums[kColumns] = {};
      for (int64_t d = 0; d < depth; ++d) {
        const Value left = A::forProduct(a[r * as[0] + d * as[2]]);
        const T* row = b + d * bs[2] + first * bs[1];
        if (bs[1] == 1)
          for (int64_t c = 0; c < count; ++c) sums[c] += left * A::forProduct(row[c]);
        else
          for (int64_t c = 0; c < count; ++c) sums[c] += left * A::forProduct(row[c * bs[1]]);
      }
      for (int64_t c = 0; c < count; ++c) {
        Value value = sums[c];
        if constexpr (A::kIsFloat) {
          const Value low = static_cast<Value>(loop.clamp.low), high = static_cast<Value>(loop.clamp.high);
          value = value < low ? low : value > high ? high : value;
        }
        y[r * ys[0] + (first + c) * ys[1]] = cpu::narrowed<T>(value);
      }
    }
  }
}

template <class T>
void runProducts(const LoopRegion& loop, const Loops& outer, const T* a, const T* b, T* y, ThreadPool& pool) {
  const int64_t work = std::max<int64_t>(elementCount(loop.size), 1);
  const auto part = [&](int64_t begin, int64_t end) {
    cpu::forEachRun<3>(outer, begin, end, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      for (int64_t i = 0; i < count; ++i)
        multiply(loop, a + at[1] + i * inner[1], b + at[2] + i * inner[2], y + at[0] + i * inner[0]);
    });
  };
  cpu::parallelRanges(pool, elementCount(outer.size), std::max<int64_t>(4 * cpu::kGrainElements / work, 1), part);
}

/// Rows of a running sum that lie `inner` apart.
template <class Fold, class T>
void sumRows(const LoopRegion& loop, const T* x, int64_t xInner, T* y, int64_t yInner, int64_t rows) {
  using A = Arithmetic<T>;
  typename A::Sum sums[kColumns];
  std::fill_n(sums, kColumns, typename A::Sum(Fold::kStart));
  const int64_t xStride = loop.operands[0].strides[0], yStride = loop.target.strides[0];
  for (int64_t n = 0; n < loop.size[0]; ++n) {
    for (int64_t r = 0; r < rows; ++r) {
      const auto next = Fold::next(sums[r], A::forSum(x[n * xStride + r * xInner]));
      y[n * yStride + r * yInner] = cpu::narrowed<T>(loop.exclusive ? sums[r] : next);
      sums[r] = next;
    }
  }
}

template <class Fold, class T>
void runSums(const LoopRegion& loop, const Loops& outer, const T* x, T* y, ThreadPool& pool) {
  const int64_t work = std::max<int64_t>(loop.size[0], 1);
  const auto part = [&](int64_t begin, int64_t end) {
    cpu::forEachRun<2>(outer, begin, end, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      for (int64_t i = 0; i < count; i += kColumns)
        sumRows<Fold>(loop, x + at[1] + i * inner[1], inner[1], y + at[0] + i * inner[0], inner[0],
                      std::min(kColumns, count - i));
    });
  };
  cpu::parallelRanges(pool, elementCount(outer.size), std::max<int64_t>(cpu::kGrainElements / work, 1), part);
}

Status supports(const CreateArgs& args) {
  OPKIT_ASSIGN(const LoopRegion loop, LoopLowering::lower(args));
  const size_t dimensions = std::max(loop.iterations.size(), movesBoxes(loop.command) ? loop.size.size() : 0);
  if (dimensions > cpu::kMaxLoops)
    return Status::unsupported("{}: the loop kernel walks {} dimensions, got {}", args.def.type, cpu::kMaxLoops,
                               dimensions);
  if (!movesBoxes(loop.command) && args.outputs[0].dtype == DType::Bool)
    return Status::unsupported("{}: the loop kernel computes numbers, got bool", args.def.type);
  return Status::ok();
}

}  // namespace

Status HostLoop::onResize(TensorList inputs, TensorList outputs) {
  OPKIT_ASSIGN(loop_, lowering_.lower(inputs, outputs));
  outer_ = {loop_.iterations, {loop_.target.steps}};
  for (const LoopView& operand : loop_.operands) outer_.strides.push_back(operand.steps);
  // Without extents of 1, rows of sums lie side by side.
  if (loop_.command == Command::RunningSum) outer_ = mergeLoops(outer_.size, outer_.strides);
  if (!movesBoxes(loop_.command)) return Status::ok();
  const bool indexed = !loop_.indices.terms.empty();
  outer_.strides.push_back(indexed ? loop_.indices.steps : loop_.target.steps);
  box_ = {loop_.size, {loop_.target.strides, loop_.operands[0].strides}};
  if (loop_.command == Command::Scatter) scatter_.plan(loop_, outer_, box_, outputs[0]->desc, pool_);
  return Status::ok();
}

cpu::RowSplit HostLoop::rows(TensorList inputs, TensorList outputs) const {
  const Result<LoopRegion> loop = lowering_.lower(inputs, outputs);
  if (!loop || loop->command != Command::RunningSum || loop->iterations.empty() || loop->operands[0].source != 0)
    return {};
  const TensorDesc& output = outputs[0]->desc;
  const int64_t count = loop->iterations[0], step = output.elements() / std::max<int64_t>(count, 1);
  if (loop->target.steps[0] != step || loop->operands[0].steps[0] != step || inputs[0]->desc.shape != output.shape)
    return {};
  for (size_t axes = 1; axes <= output.shape.size(); ++axes)
    if (elementCount(output.shape, 0, axes) == count) return cpu::leadingRows(inputs, axes);
  return {};
}

template <class T>
bool HostLoop::copy(const Tensor& source, const Tensor* indices, const Tensor& target) {
  const Box box{box_};
  const T* from = elementsOf<T>(source, loop_.operands[0].offset);
  T* to = elementsOf<T>(target, loop_.target.offset);
  if (indices && indices->desc.dtype == DType::Int64)
    return CopyLoop<T, int64_t>{loop_, outer_, box, from, to, elementsOf<int64_t>(*indices, 0)}.run(pool_);
  const int32_t* values = indices ? elementsOf<int32_t>(*indices, 0) : nullptr;
  return CopyLoop<T, int32_t>{loop_, outer_, box, from, to, values}.run(pool_);
}

Status HostLoop::onRun(TensorList inputs, TensorList outputs) {
  const Tensor& output = *outputs[0];
  if (loop_.command == Command::Scatter) return scatter_.run(loop_, inputs, output, type_, pool_);
  if (output.desc.elements() == 0) return Status::ok();
  const auto operand = [&](size_t k) -> const Tensor& {
    return *inputs[static_cast<size_t>(loop_.operands[k].source)];
  };
  if (loop_.command == Command::Copy) {
    const Tensor* indices = loop_.indices.terms.empty() ? nullptr : inputs[static_cast<size_t>(loop_.indices.source)];
    bool ok = true;
    switch (sizeOf(output.desc.dtype)) {
      case 1: ok = copy<uint8_t>(operand(0), indices, output); break;
      case 2: ok = copy<uint16_t>(operand(0), indices, output); break;
      case 4: ok = copy<uint32_t>(operand(0), indices, output); break;
      default: ok = copy<uint64_t>(operand(0), indices, output); break;
    }
    return ok ? Status::ok() : checkIndices(loop_, *indices, type_);
  }
  visitDType(output.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* x = elementsOf<T>(operand(0), loop_.operands[0].offset);
    T* y = elementsOf<T>(output, loop_.target.offset);
    if (loop_.command == Command::Product)
      runProducts<T>(loop_, outer_, x, elementsOf<T>(operand(1), loop_.operands[1].offset), y, pool_);
    else if (loop_.combine == Combine::Multiply)
      runSums<RunningFold<true>>(loop_, outer_, x, y, pool_);
    else
      runSums<RunningFold<false>>(loop_, outer_, x, y, pool_);
  });
  return Status::ok();
}

Creator hostLoopCreator(ThreadPool& (*poolOf)(Backend& backend), LoopCondition when, std::string kernel) {
  Creator creator;
  creator.provider = kLoopProvider;
  creator.dtypes = kMovedDTypes;
  creator.kernel = std::move(kernel);
  creator.supports = [when = std::move(when)](const CreateArgs& args) -> Status {
    if (when) OPKIT_TRY(when(args));
    return supports(args);
  };
  creator.create = [poolOf](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
    return std::unique_ptr<Execution>(std::make_unique<HostLoop>(args, backend, poolOf(backend)));
  };
  return creator;
}

}  // namespace opkit
