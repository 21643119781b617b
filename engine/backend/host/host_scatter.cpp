#include "engine/backend/host/host_scatter.h"

#include <atomic>
#include <cstring>

#include "engine/backend/combined.h"
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/loop_lowering.h"

namespace opkit {
namespace {

using Part = HostScatter::Part;

/// One way to move through the target: `extent` places, `stride` elements apart.
struct Axis {
  enum class Kind { Iteration, Box, Term };
  Kind kind;
  size_t number;  // among those of its kind
  int64_t stride, extent;
};

std::vector<Axis> axesOf(const LoopRegion& loop) {
  std::vector<Axis> axes;
  const auto add = [&](Axis::Kind kind, size_t number, int64_t stride, int64_t extent) {
    if (stride != 0 && extent > 1) axes.push_back({kind, number, stride, extent});
  };
  for (size_t d = 0; d < loop.iterations.size(); ++d)
    add(Axis::Kind::Iteration, d, loop.target.steps[d], loop.iterations[d]);
  for (size_t d = 0; d < loop.size.size(); ++d) add(Axis::Kind::Box, d, loop.target.strides[d], loop.size[d]);
  for (size_t d = 0; d < loop.indices.terms.size(); ++d)
    add(Axis::Kind::Term, d, loop.indices.terms[d].stride, loop.indices.terms[d].extent);
  return axes;
}

/// Whether an element of the target lies at one place of every axis alone.
bool areNested(std::vector<Axis> axes) {
  std::ranges::sort(axes, {}, &Axis::stride);
  int64_t reach = 0;
  for (const Axis& axis : axes) {
    if (axis.stride <= reach) return false;
    reach += axis.stride * (axis.extent - 1);
  }
  return true;
}

constexpr int64_t kLine = 16;  // elements of a box that threads do not split

/// The axis to split among `threads`: iterations first, then boxes, which all threads walk, then index ranges, for
/// which all threads read all indices. Null if there is none.
const Axis* axisToSplit(const std::vector<Axis>& axes, int64_t threads, bool any) {
  const Axis* longest = nullptr;
  for (const Axis::Kind kind : {Axis::Kind::Iteration, Axis::Kind::Box, Axis::Kind::Term}) {
    for (const Axis& axis : axes)
      if (axis.kind == kind && (!longest || axis.extent > longest->extent)) longest = &axis;
    const int64_t least = threads * (longest && longest->kind == Axis::Kind::Box && !any ? kLine : 1);
    if (longest && longest->extent >= least) return longest;
  }
  return longest;
}

/// Restricts the part to [begin, end) of the axis.
void restrict(Part& part, const Axis& axis, int64_t begin, int64_t end) {
  if (axis.kind == Axis::Kind::Term) {
    part.term = axis.number;
    part.first = begin;
    part.last = end;
    return;
  }
  Loops& loops = axis.kind == Axis::Kind::Box ? part.box : part.outer;
  loops.size[axis.number] = end - begin;
  for (size_t k = 0; k < loops.strides.size(); ++k) part.offsets[k] += begin * loops.strides[k][axis.number];
  part.elements = elementCount(part.box.size);
  part.iterations = elementCount(part.outer.size);
}

/// The iterations of a part in order, from elements of type From, with indices of one type. Targets are of type To:
/// From, or float where halves are summed.
template <class From, class To, class Index>
struct ScatterLoop {
  const LoopRegion& loop;
  const Part& part;
  const From* from;
  To* to;
  const Index* indices;

  /// False when an index was out of range.
  bool run() const {
    bool ok = true;
    if (part.iterations == 0) return ok;
    if (part.elements == 1 && loop.indices.terms.size() == 1) return runElements();
    cpu::forEachRun<3>(part.outer, 0, part.iterations, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t target = part.offsets[0] + at[0] + i * inner[0];
        bool mine = true;
        if (!move(target, part.offsets[2] + at[2] + i * inner[2], mine))
          ok = false;
        else if (mine)
          put(from + part.offsets[1] + at[1] + i * inner[1], to + target);
      }
    });
    return ok;
  }

 private:
  bool runElements() const {
    switch (loop.combine) {
      case Combine::Replace: return putElements<Combine::Replace>();
      case Combine::Add: return putElements<Combine::Add>();
      case Combine::Multiply: return putElements<Combine::Multiply>();
      case Combine::Maximum: return putElements<Combine::Maximum>();
      case Combine::Minimum: return putElements<Combine::Minimum>();
    }
    return true;
  }
  /// Boxes of one element, each at one index.
  template <Combine C>
  bool putElements() const {
    const LoopIndices::Term term = loop.indices.terms[0];
    const int64_t first = part.term == 0 ? part.first : 0, last = part.term == 0 ? part.last : term.extent;
    bool ok = true;
    cpu::forEachRun<3>(part.outer, 0, part.iterations, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      To* target = to + part.offsets[0] + at[0];
      const From* source = from + part.offsets[1] + at[1];
      const Index* index = indices + part.offsets[2] + at[2] + term.offset;
      for (int64_t i = 0; i < count; ++i, target += inner[0], source += inner[1], index += inner[2]) {
        const int64_t value = *index, place = value < 0 ? value + term.extent : value;
        if (place >= first && place < last)
          join<C>(*source, target[place * term.stride]);
        else
          ok = ok && place >= 0 && place < term.extent;
      }
    });
    return ok;
  }
  bool move(int64_t& target, int64_t at, bool& mine) const {
    for (size_t t = 0; t < loop.indices.terms.size(); ++t) {
      const LoopIndices::Term& term = loop.indices.terms[t];
      const int64_t value = indices[at + term.offset];
      if (value < -term.extent || value >= term.extent) return false;
      const int64_t place = value < 0 ? value + term.extent : value;
      if (t == part.term) mine = place >= part.first && place < part.last;
      target += place * term.stride;
    }
    return true;
  }
  void put(const From* x, To* y) const {
    switch (loop.combine) {
      case Combine::Replace: return walk<Combine::Replace>(x, y);
      case Combine::Add: return walk<Combine::Add>(x, y);
      case Combine::Multiply: return walk<Combine::Multiply>(x, y);
      case Combine::Maximum: return walk<Combine::Maximum>(x, y);
      case Combine::Minimum: return walk<Combine::Minimum>(x, y);
    }
  }
  template <Combine C>
  void walk(const From* x, To* y) const {
    if (part.elements == 0) return;
    if (part.elements == 1) return join<C>(*x, *y);
    cpu::forEachRun<2>(part.box, 0, part.elements, [&](int64_t, const auto& at, int64_t count, const auto& inner) {
      const From* source = x + at[1];
      To* target = y + at[0];
      if (inner[0] == 1 && inner[1] == 1)
        for (int64_t i = 0; i < count; ++i) join<C>(source[i], target[i]);
      else
        for (int64_t i = 0; i < count; ++i) join<C>(source[i * inner[1]], target[i * inner[0]]);
    });
  }
  template <Combine C>
  static void join(From x, To& y) {
    if constexpr (C == Combine::Replace && std::is_same_v<From, To>)
      y = x;
    else if constexpr (std::is_same_v<To, Half>)
      y = toHalf(combined(C, toFloat(y), toFloat(x)));
    else if constexpr (std::is_same_v<From, Half>)
      y = combined(C, y, toFloat(x));
    else
      y = combined(C, y, x);
  }
};

/// What run() is given.
struct Work {
  const LoopRegion& loop;
  const std::vector<Part>& parts;
  TensorList inputs;
  ThreadPool& pool;

  template <class From, class To>
  bool scatter(To* target) const {
    const Tensor& updates = *inputs[static_cast<size_t>(loop.operands[0].source)];
    const From* from = reinterpret_cast<const From*>(updates.bytes().data()) + loop.operands[0].offset;
    To* to = target + loop.target.offset;
    const Tensor& indices = *inputs[static_cast<size_t>(loop.indices.source)];
    std::atomic<bool> ok = true;
    const auto one = [&](size_t i, size_t) {
      const int32_t* narrow = loop.indices.terms.empty() ? nullptr : reinterpret_cast<int32_t*>(indices.bytes().data());
      const bool fine =
          indices.desc.dtype == DType::Int64
              ? ScatterLoop<From, To, int64_t>{loop, parts[i], from, to, indices.data<int64_t>().data()}.run()
              : ScatterLoop<From, To, int32_t>{loop, parts[i], from, to, narrow}.run();
      if (!fine) ok = false;
    };
    pool.parallelFor(parts.size(), std::ref(one));  // a std::function of a reference: no allocation
    return ok;
  }
};

}  // namespace

void HostScatter::plan(const LoopRegion& loop, const Loops& outer, const Loops& box, const TensorDesc& output,
                       const ThreadPool& pool) {
  const bool rounds = loop.combine == Combine::Add || loop.combine == Combine::Multiply;
  sums_.resize(rounds && output.dtype == DType::Float16 ? static_cast<size_t>(output.elements()) : 0);
  const Part whole{.outer = outer, .box = box};
  const auto threads = static_cast<int64_t>(pool.threadCount());
  const bool pays = whole.iterations * whole.elements >= 2 * cpu::kGrainElements || pool.splitsAll();
  const std::vector<Axis> axes = axesOf(loop);
  const Axis* split = threads > 1 && pays && areNested(axes) ? axisToSplit(axes, threads, pool.splitsAll()) : nullptr;
  const int64_t count = split ? std::min(threads, split->extent) : 1;
  parts_.assign(static_cast<size_t>(count), whole);
  for (int64_t i = 0; split && i < count; ++i)
    restrict(parts_[static_cast<size_t>(i)], *split, split->extent * i / count, split->extent * (i + 1) / count);
}

Status HostScatter::run(const LoopRegion& loop, TensorList inputs, const Tensor& output, const std::string& type,
                        ThreadPool& pool) {
  const Tensor& base = *inputs[static_cast<size_t>(loop.base)];
  const Work work{loop, parts_, inputs, pool};
  bool ok = true;
  if (!sums_.empty()) {
    const auto elements = static_cast<int64_t>(sums_.size());
    const Half *from = base.data<Half>().data(), *end = from + elements;
    Half* y = output.data<Half>().data();
    cpu::parallelRanges(pool, end - from, cpu::kGrainElements, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) sums_[static_cast<size_t>(i)] = toFloat(from[i]);
    });
    ok = work.scatter<Half>(sums_.data());
    cpu::parallelRanges(pool, elements, cpu::kGrainElements, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) y[i] = toHalf(sums_[static_cast<size_t>(i)]);
    });
  } else {
    const std::byte* from = base.bytes().data();
    std::byte* to = output.bytes().data();
    cpu::parallelRanges(pool, output.sizeBytes(), 16 * cpu::kGrainElements, [&](int64_t first, int64_t last) {
      std::memcpy(to + first, from + first, static_cast<size_t>(last - first));
    });
    visitDType(output.desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      ok = work.scatter<T>(reinterpret_cast<T*>(to));
    });
  }
  return ok ? Status::ok() : checkIndices(loop, *inputs[static_cast<size_t>(loop.indices.source)], type);
}

}  // namespace opkit
