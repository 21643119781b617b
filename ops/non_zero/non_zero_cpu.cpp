// NonZero on the CPU: parts of the tensor are counted, then each part writes its columns where those before it end.
#include <array>
#include <numeric>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/non_zero/non_zero_parts.h"

namespace opkit::ops::non_zero {
namespace {

constexpr int64_t kMostParts = 64;

/// Words of the size of an element; of floats without the sign, since -0 is zero.
template <class Word>
struct Elements {
  const Word* words;
  Word mask;

  bool isNonZero(int64_t i) const { return (words[i] & mask) != 0; }
  int64_t count(int64_t begin, int64_t end) const {
    int64_t sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += isNonZero(i) ? 1 : 0;
    return sum;
  }
};

/// The output [rank, columns] of a tensor of `shape`.
struct Table {
  const Shape& shape;
  int64_t columns;
  int64_t* indices;

  int64_t& at(size_t dimension, int64_t column) const {
    return indices[static_cast<int64_t>(dimension) * columns + column];
  }

  /// Writes the columns of the elements [begin, end) from `column` on, row by row of the innermost dimension.
  template <class Word>
  void write(const Elements<Word>& x, int64_t begin, int64_t end, int64_t column) const {
    if (shape.empty()) return;
    const size_t last = shape.size() - 1;
    const int64_t length = shape.back();
    while (begin < end) {
      const int64_t row = begin / length, first = row * length, rowEnd = std::min(first + length, end);
      const int64_t from = column;
      for (int64_t i = begin; i < rowEnd; ++i)
        if (x.isNonZero(i)) at(last, column++) = i - first;
      int64_t rest = row;
      for (size_t d = last; d-- > 0; rest /= shape[d]) std::fill(&at(d, from), &at(d, column), rest % shape[d]);
      begin = rowEnd;
    }
  }

  void clear(int64_t begin, int64_t end) const {
    for (size_t d = 0; begin < end && d < shape.size(); ++d) std::fill(&at(d, begin), &at(d, begin) + (end - begin), 0);
  }
};

template <class Word>
void run(const Tensor& x, Word mask, const Tensor& indices, const Tensor& count, ThreadPool& pool) {
  const int64_t all = x.desc.elements();
  const int64_t length = std::max<int64_t>((all + kMostParts - 1) / kMostParts, cpu::kGrainElements);
  const int64_t parts = (all + length - 1) / length;
  const Elements<Word> elements{reinterpret_cast<const Word*>(x.bytes().data()), mask};
  const auto endOf = [&](int64_t part) { return std::min((part + 1) * length, all); };
  std::array<int64_t, kMostParts + 1> before{};  // per part: what the parts before it found
  cpu::parallelRows(pool, parts, length, [&](int64_t part) {
    before[static_cast<size_t>(part) + 1] = elements.count(part * length, endOf(part));
  });
  std::partial_sum(before.begin(), before.begin() + parts + 1, before.begin());
  const int64_t found = before[static_cast<size_t>(parts)];
  const Table table{x.desc.shape, all, indices.data<int64_t>().data()};
  cpu::parallelRows(pool, parts, length, [&](int64_t part) {
    table.write(elements, part * length, endOf(part), before[static_cast<size_t>(part)]);
    table.clear(std::max(found, part * length), endOf(part));
  });
  count.data<int64_t>()[0] = found;
}

class NonZeroCpu final : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const DType dtype = inputs[0]->desc.dtype;
    const auto with = [&](auto word) {
      const auto sign = static_cast<decltype(word)>(decltype(word){1} << (sizeof(word) * 8 - 1));
      run<decltype(word)>(*inputs[0], static_cast<decltype(word)>(isFloat(dtype) ? ~sign : ~decltype(word){0}),
                          *outputs[0], *outputs[1], pool_);
    };
    switch (sizeOf(dtype)) {
      case 1: with(uint8_t{}); break;
      case 2: with(uint16_t{}); break;
      case 4: with(uint32_t{}); break;
      default: with(uint64_t{}); break;
    }
    return Status::ok();
  }
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "NonZero", cpu::creatorOf<NonZeroCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::non_zero
