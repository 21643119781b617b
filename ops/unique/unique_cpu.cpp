// Unique on the CPU: slices become entries in the order of the results and are sorted in parts, one per thread, which
// are merged. Equal entries are neighbours then, in the order of their positions.
#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/top_k/ranks.h"
#include "ops/unique/unique.h"

namespace opkit::ops::unique {
namespace {

/// Sorts [0, count) of `entries`; `space` is as long. Returns which of the two holds the result.
template <class E, class Less>
E* sortInParts(ThreadPool& pool, E* entries, E* space, int64_t count, int64_t parts, const Less& less) {
  const auto boundOf = [&](int64_t part) { return count * std::min(part, parts) / parts; };
  const auto sortPart = [&](size_t index, size_t) {
    const auto part = static_cast<int64_t>(index);
    std::sort(entries + boundOf(part), entries + boundOf(part + 1), less);
  };
  pool.parallelFor(static_cast<size_t>(parts), std::ref(sortPart));
  for (int64_t width = 1; width < parts; width *= 2) {
    const auto mergePair = [&](size_t index, size_t) {
      const int64_t first = static_cast<int64_t>(index) * 2 * width;
      const int64_t begin = boundOf(first), middle = boundOf(first + width), end = boundOf(first + 2 * width);
      std::merge(entries + begin, entries + middle, entries + middle, entries + end, space + begin, less);
    };
    pool.parallelFor(static_cast<size_t>((parts + 2 * width - 1) / (2 * width)), std::ref(mergePair));
    std::swap(entries, space);
  }
  return entries;
}

/// Slices of several elements, compared element by element.
template <class T>
struct Slices {
  const T* x;
  Rows rows;  // [outer, extent, inner]

  /// Below 0, 0 or above, as slice a lies before, at or behind slice b.
  int compare(uint64_t a, uint64_t b) const {
    for (int64_t outer = 0; outer < rows.outer; ++outer) {
      const T* base = x + outer * rows.extent * rows.inner;
      const T *left = base + static_cast<int64_t>(a) * rows.inner, *right = base + static_cast<int64_t>(b) * rows.inner;
      for (int64_t i = 0; i < rows.inner; ++i) {
        const auto l = top_k::rankOf(left[i]), r = top_k::rankOf(right[i]);
        if (l != r) return l < r ? -1 : 1;
      }
    }
    return 0;
  }
};

class UniqueCpu final : public cpu::CpuKernel {
 public:
  UniqueCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<UniqueParams>()) {}

  Status onResize(TensorList inputs, TensorList) override {
    constexpr int64_t kPart = 8192;  // entries that are worth a thread
    rows_ = slicesOf(params_, inputs[0]->desc.shape);
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    parts_ = std::clamp<int64_t>(rows_.extent / (pool_.splitsAll() ? 2 : kPart), 1, threads);
    const auto slices = static_cast<size_t>(rows_.extent);
    const bool isWide = rows_.outer * rows_.inner == 1 && sizeOf(inputs[0]->desc.dtype) == 8;
    entries_.resize(slices * (isWide ? 2 : 1));
    space_.resize(entries_.size());
    order_.resize(slices);
    groups_.resize(slices);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* x = inputs[0]->data<T>().data();
      rows_.outer* rows_.inner == 1 ? sortElements(x) : sortSlices(x);
      const int64_t count = number(outputs);
      outputs[4]->data<int64_t>()[0] = count;
      write(x, outputs[1]->data<int64_t>().data(), count, outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  template <class T>
  void sortElements(const T* x) {
    using E = top_k::Entry<T>;
    E *entries = reinterpret_cast<E*>(entries_.data()), *space = reinterpret_cast<E*>(space_.data());
    cpu::parallelRanges(pool_, rows_.extent, cpu::kGrainElements, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) entries[i] = top_k::entryOf(x[i], i, false);
    });
    const E* sorted = sortInParts(pool_, entries, space, rows_.extent, parts_, std::less());
    groupSorted([&](int64_t i) { return top_k::positionOf(sorted[i]); },
                [&](int64_t i) { return top_k::rankIn(sorted[i]) == top_k::rankIn(sorted[i - 1]); });
  }

  template <class T>
  void sortSlices(const T* x) {
    const Slices<T> slices{x, rows_};
    for (size_t i = 0; i < entries_.size(); ++i) entries_[i] = i;
    const uint64_t* sorted =
        sortInParts(pool_, entries_.data(), space_.data(), rows_.extent, parts_, [&](uint64_t a, uint64_t b) {
          const int order = slices.compare(a, b);
          return order < 0 || (order == 0 && a < b);
        });
    groupSorted([&](int64_t i) { return static_cast<int64_t>(sorted[i]); },
                [&](int64_t i) { return slices.compare(sorted[i - 1], sorted[i]) == 0; });
  }

  /// Fills order_ and, for each slice, groups_: which of the different ones it is.
  template <class PositionOf, class IsLikeBefore>
  void groupSorted(const PositionOf& positionOf, const IsLikeBefore& isLikeBefore) {
    int64_t group = -1;
    for (int64_t i = 0; i < rows_.extent; ++i) {
      const int64_t position = positionOf(i);
      if (i == 0 || !isLikeBefore(i)) ++group;
      order_[static_cast<size_t>(i)] = position;
      groups_[static_cast<size_t>(position)] = group;
    }
  }

  /// Writes indices, inverse and counts; returns how many slices differ.
  int64_t number(TensorList outputs) {
    const auto slices = static_cast<size_t>(rows_.extent);
    int64_t* indices = outputs[1]->data<int64_t>().data();
    int64_t* inverse = outputs[2]->data<int64_t>().data();
    int64_t* counts = outputs[3]->data<int64_t>().data();
    std::fill_n(indices, slices, 0);
    std::fill_n(counts, slices, 0);
    int64_t count = 0;
    if (params_.sorted) {
      for (size_t i = slices; i-- > 0;) indices[groups_[static_cast<size_t>(order_[i])]] = order_[i];
      std::copy_n(groups_.data(), slices, inverse);
    } else {
      std::fill_n(order_.data(), slices, -1);  // becomes the number of each group
      for (size_t i = 0; i < slices; ++i) {
        int64_t& known = order_[static_cast<size_t>(groups_[i])];
        if (known < 0) {
          known = count++;
          indices[known] = static_cast<int64_t>(i);
        }
        inverse[i] = known;
      }
    }
    for (size_t i = 0; i < slices; ++i) {
      ++counts[inverse[i]];
      count = std::max(count, inverse[i] + 1);
    }
    return count;
  }

  template <class T>
  void write(const T* x, const int64_t* indices, int64_t count, T* y) {
    cpu::parallelRows(pool_, rows_.outer, rows_.extent * rows_.inner, [&](int64_t outer) {
      const int64_t base = outer * rows_.extent * rows_.inner;
      for (int64_t n = 0; n < count; ++n)
        std::copy_n(x + base + indices[n] * rows_.inner, rows_.inner, y + base + n * rows_.inner);
      std::fill_n(y + base + count * rows_.inner, (rows_.extent - count) * rows_.inner, T());
    });
  }

  UniqueParamsT params_;
  Rows rows_{};
  int64_t parts_ = 1;
  std::vector<uint64_t> entries_;
  std::vector<uint64_t> space_;
  std::vector<int64_t> order_;   // positions of the slices in ascending order
  std::vector<int64_t> groups_;  // per slice
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Unique", cpu::creatorOf<UniqueCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::unique
