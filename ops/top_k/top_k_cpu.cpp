// TopK on the CPU: elements become integers whose order is that of the results, with the position as the last digits. A
// row is read once; what is worse than the k-th best so far is dropped. Few long rows are read in parts by all threads.
#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/op/rows.h"
#include "ops/top_k/ranks.h"
#include "ops/top_k/top_k_parts.h"

namespace opkit::ops::top_k {
namespace {

/// Whether one of kBlock elements ranks at most as `worst`.
constexpr int64_t kBlock = 64;
template <class T>
bool anyUpTo(const T* x, Bits<sizeof(T)> worst, bool largest) {
  using B = Bits<sizeof(T)>;
  const B flip = largest ? std::numeric_limits<B>::max() : B{0};
  B found = 0;
  for (int64_t i = 0; i < kBlock; ++i) found |= static_cast<B>((rankOf(x[i]) ^ flip) <= worst);
  return found != 0;
}

constexpr size_t kSorted = 16;  // so few entries are kept in order

/// The k least of the entries that it was given, in a list of `capacity` > k. Few are kept in order; else the list is
/// cut back to the least when it is full.
template <class E>
class Best {
 public:
  Best(E* list, size_t k, size_t capacity) : list_(list), k_(k), capacity_(capacity) {}
  void add(const E& entry) {
    if (isFull_ && !(entry < worst_)) return;
    if (k_ <= kSorted) return insert(entry);
    list_[count_++] = entry;
    if (count_ == capacity_) shrink();
  }
  /// Leaves at most k, in any order.
  void shrink() {
    if (count_ <= k_) return;
    std::nth_element(list_, list_ + k_ - 1, list_ + count_);
    worst_ = list_[k_ - 1];
    isFull_ = true;
    count_ = k_;
  }
  std::span<E> entries() const { return {list_, count_}; }
  /// Whether k entries are known; then the rank of the worst of them.
  bool isFull() const { return isFull_; }
  uint64_t worstRank() const { return rankIn(worst_); }
  /// The first `count` that another object left in the list.
  std::span<E> left(int64_t count) const { return {list_, static_cast<size_t>(count)}; }

 private:
  /// Before the entries that are worse, the last of which leaves if there are k.
  void insert(const E& entry) {
    size_t at = isFull_ ? k_ - 1 : count_++;
    for (; at > 0 && entry < list_[at - 1]; --at) list_[at] = list_[at - 1];
    list_[at] = entry;
    isFull_ = count_ == k_;
    worst_ = list_[count_ - 1];
  }

  E* list_;
  size_t k_, capacity_;
  size_t count_ = 0;
  bool isFull_ = false;  // k entries are known, the worst of which is `worst_`
  E worst_{};
};

constexpr int64_t kPart = 32768;  // elements of a row that are worth a thread

class TopKCpu final : public cpu::CpuKernel {
 public:
  TopKCpu(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend), params_(args.params<TopKParams>()) {}

  Status onResize(TensorList inputs, TensorList outputs) override {
    const TensorDesc& x = inputs[0]->desc;
    rows_ = rowsAlong(x.shape, params_.axis);
    k_ = rowsAlong(outputs[0]->desc.shape, params_.axis).extent;
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    const int64_t shortest = pool_.splitsAll() ? 2 : std::max(kPart, 4 * k_);
    parts_ = rows_.count() < threads ? std::clamp<int64_t>(rows_.extent / shortest, 1, threads) : 1;
    capacity_ = static_cast<size_t>(std::max(2 * k_, k_ + 256));
    const auto lists = static_cast<size_t>(parts_ > 1 ? parts_ * rows_.count() : threads);
    lists_.resize(k_ == 0 ? 0 : lists * capacity_ * (sizeOf(x.dtype) == 8 ? 2 : 1));
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* x = inputs[0]->data<T>().data();
      T* values = outputs[0]->data<T>().data();
      int64_t* positions = outputs[1]->data<int64_t>().data();
      parts_ > 1 ? inParts(x, values, positions) : byRows(x, values, positions);
    });
    return Status::ok();
  }

 private:
  template <class E>
  Best<E> best(size_t list) {
    return {reinterpret_cast<E*>(lists_.data()) + list * capacity_, static_cast<size_t>(k_), capacity_};
  }
  template <class T>
  void read(const T* x, int64_t row, int64_t begin, int64_t end, Best<Entry<T>>& list) const {
    const T* first = x + rows_.at(row, 0);
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t last = std::min(i + kBlock, end);
      if (rows_.inner == 1 && list.isFull() && last - i == kBlock &&
          !anyUpTo(first + i, static_cast<Bits<sizeof(T)>>(list.worstRank()), params_.largest))
        continue;
      for (int64_t j = i; j < last; ++j) list.add(entryOf(first[j * rows_.inner], j, params_.largest));
    }
    list.shrink();
  }
  template <class T>
  void write(const T* x, int64_t row, const Best<Entry<T>>& list, T* values, int64_t* positions) const {
    std::ranges::sort(list.entries(), std::less());
    const Rows results{rows_.outer, k_, rows_.inner};
    for (int64_t j = 0; j < k_; ++j) {
      const int64_t position = positionOf(list.entries()[static_cast<size_t>(j)]);
      values[results.at(row, j)] = x[rows_.at(row, position)];
      positions[results.at(row, j)] = position;
    }
  }

  template <class T>
  void byRows(const T* x, T* values, int64_t* positions) {
    const int64_t perTask = pool_.splitsAll() ? 1 : std::max<int64_t>(cpu::kGrainElements / 4 / rows_.extent, 1);
    const auto task = [&](size_t index, size_t thread) {
      const int64_t begin = static_cast<int64_t>(index) * perTask;
      for (int64_t row = begin; row < std::min(begin + perTask, rows_.count()); ++row) {
        auto list = best<Entry<T>>(thread);
        read(x, row, 0, rows_.extent, list);
        write(x, row, list, values, positions);
      }
    };
    pool_.parallelFor(static_cast<size_t>((rows_.count() + perTask - 1) / perTask), std::ref(task));
  }

  template <class T>
  void inParts(const T* x, T* values, int64_t* positions) {
    const auto boundOf = [&](int64_t part) { return rows_.extent * part / parts_; };
    const auto readPart = [&](size_t index, size_t) {
      const auto item = static_cast<int64_t>(index), part = item % parts_;
      auto list = best<Entry<T>>(index);
      read(x, item / parts_, boundOf(part), boundOf(part + 1), list);
    };
    pool_.parallelFor(static_cast<size_t>(rows_.count() * parts_), std::ref(readPart));
    const auto join = [&](size_t row, size_t) {
      const size_t first = row * static_cast<size_t>(parts_);
      auto list = best<Entry<T>>(first);
      for (int64_t part = 0; part < parts_; ++part) {
        const int64_t count = std::min(k_, boundOf(part + 1) - boundOf(part));
        const std::span<Entry<T>> kept = best<Entry<T>>(first + static_cast<size_t>(part)).left(count);
        for (const Entry<T>& entry : kept) list.add(entry);
      }
      list.shrink();
      write(x, static_cast<int64_t>(row), list, values, positions);
    };
    pool_.parallelFor(static_cast<size_t>(rows_.count()), std::ref(join));
  }

  TopKParamsT params_;
  Rows rows_{};
  int64_t k_ = 0;
  int64_t parts_ = 1;            // of a row
  size_t capacity_ = 0;          // of a list
  std::vector<uint64_t> lists_;  // one per part, or else one per thread
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "TopK", cpu::creatorOf<TopKCpu>(cpu::supportsAll, kNumbers));
}

}  // namespace opkit::ops::top_k
