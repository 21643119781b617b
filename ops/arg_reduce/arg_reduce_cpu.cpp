// ArgMax and ArgMin on the CPU: a row is folded to its best value and then searched for it; rows that lie side by side
// are folded and searched together, and so are short rows of f32, which are transposed first. Short rows of other
// types take turns.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/short_rows.h"
#include "ops/arg_reduce/arg_reduce.h"

namespace opkit::ops::arg_reduce {
namespace {

constexpr int64_t kColumns = 64;  // rows of one block, which lie next to each other

/// True if `x` replaces `best`, which stands before it: NaN beats everything and the first NaN stays, as in NumPy; of
/// equal elements the first stays, or not.
template <bool kSmallest, bool kLast, class T>
bool replaces(T x, T best) {
  if constexpr (kLast) return (kSmallest ? x <= best : x >= best) | (x != x);
  return (kSmallest ? x < best : x > best) | ((x != x) & (best == best));
}

/// The positions in `rows` short rows that follow each other. Elements of a row wait for each other, rows do not.
template <bool kSmallest, bool kLast, class T>
void searchShortRows(const T* x, int64_t rows, int64_t extent, int64_t* y) {
  constexpr int64_t kTogether = 4;
  const auto search = [&](int64_t row, auto together) {
    T best[together()];
    int64_t at[together()] = {};
    for (int64_t k = 0; k < together(); ++k) best[k] = x[(row + k) * extent];
    for (int64_t i = 1; i < extent; ++i)
      for (int64_t k = 0; k < together(); ++k) {
        const T value = x[(row + k) * extent + i];
        const bool isBetter = replaces<kSmallest, kLast>(value, best[k]);
        best[k] = isBetter ? value : best[k];
        at[k] = isBetter ? i : at[k];
      }
    std::copy_n(at, together(), y + row);
  };
  int64_t row = 0;
  for (; row + kTogether <= rows; row += kTogether) search(row, std::integral_constant<int64_t, kTogether>());
  for (; row < rows; ++row) search(row, std::integral_constant<int64_t, 1>());
}

constexpr int64_t kSearched = 256;  // elements that are searched without a branch

/// Whether `value` is among the elements; a NaN matches any NaN.
template <class T>
bool contains(const T* x, int64_t count, T value) {
  int found = 0;
  for (int64_t i = 0; i < count; ++i) found |= (x[i] == value) | ((x[i] != x[i]) & (value != value));
  return found != 0;
}
/// The position of `value` in a row that contains it.
template <class T>
int64_t find(const T* x, int64_t count, T value, bool last) {
  if (!last) {
    int64_t i = 0;
    while (i + kSearched < count && !contains(x + i, kSearched, value)) i += kSearched;
    while (!contains(x + i, 1, value)) ++i;
    return i;
  }
  int64_t end = count;
  while (end > kSearched && !contains(x + end - kSearched, kSearched, value)) end -= kSearched;
  while (!contains(x + end - 1, 1, value)) --end;
  return end - 1;
}

/// The largest or smallest of a row that is not empty; a NaN wins. Parts do not wait for each other.
template <bool kSmallest, class T>
T bestOf(const T* x, int64_t count) {
  constexpr int64_t kParts = 16;
  const auto better = [](T value, T best) {
    return (kSmallest ? value < best : value > best) || value != value ? value : best;
  };
  T parts[kParts];
  std::fill_n(parts, kParts, x[0]);
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts)
    for (int64_t k = 0; k < kParts; ++k) parts[k] = better(x[i + k], parts[k]);
  for (; i < count; ++i) parts[0] = better(x[i], parts[0]);
  for (const T part : parts) parts[0] = better(part, parts[0]);
  return parts[0];
}

class ArgReduceCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  ArgReduceCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<ArgReduceParams>()), smallest_(args.def.type == "ArgMin") {}

  Status onResize(TensorList inputs, TensorList) override {
    rows_ = rowsOf(params_, inputs[0]->desc.shape);
    return Status::ok();
  }
  cpu::RowSplit rows(TensorList inputs, TensorList) const override {
    const int axis = *normalizeAxis(params_.axis, inputs[0]->desc.shape.size());
    return cpu::leadingRows(inputs, static_cast<size_t>(axis));
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    int64_t* y = outputs[0]->data<int64_t>().data();
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (!std::is_same_v<T, Half>) {
        const T* x = inputs[0]->data<T>().data();
        rows_.inner == 1 ? searchRows(x, y) : compareRows(x, y);
      }
    });
    return Status::ok();
  }

 private:
  template <class T>
  T bestOfRow(const T* row) const {
    if constexpr (std::is_same_v<T, float>)
      return smallest_ ? cpu::minOf(row, rows_.extent) : cpu::maxOf(row, rows_.extent);
    else
      return smallest_ ? bestOf<true>(row, rows_.extent) : bestOf<false>(row, rows_.extent);
  }
  template <class T>
  void searchRows(const T* x, int64_t* y) const {
    const int64_t extent = rows_.extent;
    if (extent <= cpu::kLongestShortRow)
      return cpu::forEachBlockOfRows(pool_, rows_.outer, extent, 1, [&](int64_t first, int64_t count) {
        searchTogether(x + first * extent, count, y + first);
      });
    cpu::parallelRows(pool_, rows_.outer, extent, [&](int64_t row) {
      const T* from = x + row * extent;
      y[row] = find(from, extent, bestOfRow(from), params_.select_last_index);
    });
  }
  template <class T>
  void searchTogether(const T* x, int64_t rows, int64_t* y) const {
    if constexpr (std::is_same_v<T, float>) {
      const cpu::RowTile tile(x, rows, rows_.extent);
      for (int64_t c = 0; c < rows; c += kColumns)
        compareColumns(tile.elements(0) + c, tile.step(), y + c, std::min(kColumns, rows - c));
    } else {
      constexpr auto kSearch = &searchShortRows<false, false, T>;
      constexpr decltype(kSearch) kSearches[] = {kSearch, &searchShortRows<false, true, T>,
                                                 &searchShortRows<true, false, T>, &searchShortRows<true, true, T>};
      kSearches[2 * smallest_ + params_.select_last_index](x, rows, rows_.extent, y);
    }
  }

  template <class T>
  void compareRows(const T* x, int64_t* y) const {
    const int64_t blocks = (rows_.inner + kColumns - 1) / kColumns;
    cpu::parallelRows(pool_, rows_.outer * blocks, rows_.extent * std::min(kColumns, rows_.inner), [&](int64_t index) {
      const int64_t outer = index / blocks, column = index % blocks * kColumns;
      compareColumns(x + outer * rows_.extent * rows_.inner + column, rows_.inner, y + outer * rows_.inner + column,
                     std::min(kColumns, rows_.inner - column));
    });
  }

  /// First the best values, then their positions: two loops that become vectors. Rows are `step` elements apart.
  template <class T>
  void compareColumns(const T* x, int64_t step, int64_t* y, int64_t columns) const {
    T best[kColumns];
    int32_t at[kColumns];
    std::copy_n(x, columns, best);
    for (int64_t i = 1; i < rows_.extent; ++i) {
      const T* row = x + i * step;
      if (smallest_)
        for (int64_t c = 0; c < columns; ++c) best[c] = row[c] < best[c] || row[c] != row[c] ? row[c] : best[c];
      else
        for (int64_t c = 0; c < columns; ++c) best[c] = row[c] > best[c] || row[c] != row[c] ? row[c] : best[c];
    }
    const bool last = params_.select_last_index;
    std::fill_n(at, columns, last ? 0 : static_cast<int32_t>(rows_.extent - 1));
    for (int64_t k = 1; k < rows_.extent; ++k) {
      const int64_t i = last ? k : rows_.extent - 1 - k;
      const T* row = x + i * step;
      for (int64_t c = 0; c < columns; ++c) {
        const bool isBest = (row[c] == best[c]) | ((row[c] != row[c]) & (best[c] != best[c]));
        at[c] = isBest ? static_cast<int32_t>(i) : at[c];
      }
    }
    std::copy_n(at, columns, y);
  }

  ArgReduceParamsT params_;
  bool smallest_;
  Rows rows_{};
};

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"ArgMax", "ArgMin"})
    registry.addCreator("cpu", type, cpu::creatorOf<ArgReduceCpu>(cpu::supportsAll, cpu::kWideFloats | kIntegers));
}

}  // namespace opkit::ops::arg_reduce
