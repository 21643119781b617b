#include "ops/reduce/reduce_scalar_cpu.h"

#include <cmath>
#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/short_rows.h"
#include "ops/reduce/log_sum_exp.h"
#include "ops/reduce/reduce_views.h"

namespace opkit::ops::reduce {
namespace {

constexpr int64_t kParts = 16;              // of a row, so that operations do not wait for each other
constexpr int64_t kColumns = kMostColumns;  // outputs that are folded together if they lie side by side

/// One output, or a part of it, while its elements pass by. Floats add in double; integers wrap in 64 bits.
template <class T, Kind kKind>
class Running {
 public:
  static constexpr bool kIsReal = std::is_floating_point_v<T>;
  /// The results of these keep the low bits only, so the sums need no more.
  static constexpr bool kWraps =
      sizeof(T) <= 4 && (kKind == Kind::Sum || kKind == Kind::Prod || kKind == Kind::L1 || kKind == Kind::SumSquare);
  using Whole = std::conditional_t<kWraps, uint32_t, uint64_t>;
  using Sum = std::conditional_t<kIsReal || kKind == Kind::L2 || kKind == Kind::LogSum || kKind == Kind::LogSumExp,
                                 double, Whole>;

  /// Parts may be folded apart: not for integers that are rounded in double, whose results are exact.
  static constexpr bool kMayReorder = kIsReal || std::is_integral_v<Sum>;

  void take(T x) {
    const auto term = static_cast<Sum>(x);
    if constexpr (kKind == Kind::Max)
      value_ = x > value_ || x != x ? x : value_;
    else if constexpr (kKind == Kind::Min)
      value_ = x < value_ || x != x ? x : value_;
    else if constexpr (kKind == Kind::Prod)
      value_ *= term;
    else if constexpr (kKind == Kind::SumSquare || kKind == Kind::L2)
      value_ += term * term;
    else if constexpr (kKind == Kind::L1)
      value_ += x < 0 ? Sum(0) - term : term;
    else if constexpr (kKind == Kind::LogSumExp)
      join(term, 1);
    else
      value_ += term;
  }
  /// Adds the sum of a part.
  void addSum(int64_t sum) { value_ += static_cast<Sum>(sum); }
  /// Adds another part.
  void join(const Running& other) {
    if constexpr (kKind == Kind::Max || kKind == Kind::Min)
      take(other.value_);
    else if constexpr (kKind == Kind::Prod)
      value_ *= other.value_;
    else if constexpr (kKind == Kind::LogSumExp)
      join(other.largest_, other.value_);
    else
      value_ += other.value_;
  }
  T result(int64_t count) const {
    if constexpr (kKind == Kind::Max || kKind == Kind::Min)
      return value_;
    else if constexpr (kKind == Kind::L2)
      return rounded(std::sqrt(value_));
    else if constexpr (kKind == Kind::LogSum)
      return rounded(std::log(value_));
    else if constexpr (kKind == Kind::LogSumExp)
      return rounded(std::isinf(largest_) ? largest_ : largest_ + std::log(value_));
    else if constexpr (kKind == Kind::Mean)
      return mean(count);
    else
      return static_cast<T>(value_);
  }

 private:
  /// `sum` times e^largest more. A NaN stays: nothing compares with it.
  void join(double largest, double sum) {
    if (sum == 0) return;
    if (largest == largest_) {  // infinities too, whose difference is no number
      value_ += sum;
    } else if (largest > largest_ || largest != largest) {
      value_ = value_ * std::exp(largest_ - largest) + sum;
      largest_ = largest;
    } else {
      value_ += sum * std::exp(largest - largest_);
    }
  }
  T mean(int64_t count) const {
    if constexpr (kIsReal)
      return static_cast<T>(value_ / static_cast<double>(count));
    else if constexpr (std::is_same_v<T, uint64_t>)
      return count == 0 ? 0 : value_ / static_cast<uint64_t>(count);
    else
      return count == 0 ? T(0) : static_cast<T>(static_cast<int64_t>(value_) / count);
  }
  /// Integers are truncated, beyond 64 bits to the nearest limit, then wrap; what is no number is 0.
  static T rounded(double value) {
    if constexpr (kIsReal) {
      return static_cast<T>(value);
    } else {
      using Limits = std::numeric_limits<std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;
      if (!std::isfinite(value)) return T(0);
      if (value >= static_cast<double>(Limits::max())) return static_cast<T>(Limits::max());
      if (value <= static_cast<double>(Limits::min())) return static_cast<T>(Limits::min());
      return static_cast<T>(static_cast<decltype(Limits::max())>(value));
    }
  }
  static constexpr T worst() {
    if constexpr (kIsReal)
      return kKind == Kind::Max ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    else
      return kKind == Kind::Max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }

  struct Nothing {};
  static constexpr bool kIsBest = kKind == Kind::Max || kKind == Kind::Min;
  static auto lowest() {
    if constexpr (kKind == Kind::LogSumExp)
      return -std::numeric_limits<double>::infinity();
    else
      return Nothing();
  }
  static auto start() {
    if constexpr (kIsBest)
      return worst();
    else
      return static_cast<Sum>(kKind == Kind::Prod ? 1 : 0);
  }

  // One figure, so that parts lie side by side like plain numbers; LogSumExp needs two.
  std::conditional_t<kIsBest, T, Sum> value_ = start();
  [[no_unique_address]] std::conditional_t<kKind == Kind::LogSumExp, double, Nothing> largest_ = lowest();
};

/// At most kColumns columns of `rows` rows, which begin at rowAt(row).
template <class RowAt>
void logSumExpOfColumns(int64_t rows, int64_t columns, float* y, const RowAt& rowAt) {
  LogSumExpColumns exponents(columns);
  for (int64_t row = 0; row < rows; ++row) exponents.findLargest(rowAt(row));
  for (int64_t row = 0; row < rows; ++row) exponents.add(rowAt(row));
  exponents.result(y);
}

template <class R, class T>
R foldRun(const T* x, int64_t count) {
  R parts[kParts];
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts)
    for (int64_t k = 0; k < kParts; ++k) parts[k].take(x[i + k]);
  for (int64_t k = 0; i < count; ++i, ++k) parts[k].take(x[i]);
  for (int64_t k = 1; k < kParts; ++k) parts[0].join(parts[k]);
  return parts[0];
}
/// `outputs` neighbours of a short row each, one after another. Elements of a row wait for each other, rows do not.
template <class T, Kind kKind>
void foldShortRows(const T* x, int64_t length, T* y, int64_t outputs) {
  if constexpr (std::is_same_v<T, float> && kKind == Kind::LogSumExp) {
    const cpu::RowTile tile(x, outputs, length);
    for (int64_t c = 0; c < outputs; c += kColumns)
      logSumExpOfColumns(length, std::min(kColumns, outputs - c), y + c,
                         [&](int64_t i) { return tile.elements(i) + c; });
    return;
  }
  constexpr int64_t kTogether = 4;
  int64_t row = 0;
  for (; row + kTogether <= outputs; row += kTogether) {
    Running<T, kKind> running[kTogether];
    for (int64_t i = 0; i < length; ++i)
      for (int64_t k = 0; k < kTogether; ++k) running[k].take(x[(row + k) * length + i]);
    for (int64_t k = 0; k < kTogether; ++k) y[row + k] = running[k].result(length);
  }
  for (; row < outputs; ++row) {
    Running<T, kKind> running;
    for (int64_t i = 0; i < length; ++i) running.take(x[row * length + i]);
    y[row] = running.result(length);
  }
}

/// Small integers, first in 32 bits.
template <class R, class T>
R sumRun(const T* x, int64_t count) {
  constexpr int64_t kBlock = 4096;
  R running;
  for (int64_t first = 0; first < count; first += kBlock) {
    int32_t sum = 0;
    for (int64_t i = first; i < std::min(first + kBlock, count); ++i) sum += x[i];
    running.addSum(sum);
  }
  return running;
}

/// All elements of one output.
template <class T, Kind kKind>
T foldRow(const Loops& loops, const T* x) {
  using R = Running<T, kKind>;
  const size_t rank = loops.size.size();
  const int64_t work = elementCount(loops.size);
  if constexpr (std::is_same_v<T, float> && kKind == Kind::LogSumExp)
    if (rank == 1 && loops.strides[0][0] == 1) return logSumExpOf(x, work);
  R running;
  if (rank == 0) {
    running.take(*x);
    return running.result(work);
  }
  const int64_t length = loops.size.back(), stride = loops.strides[0].back(), rows = length == 0 ? 0 : work / length;
  for (int64_t row = 0; row < rows; ++row) {
    const T* from = x + offsetOf(loops, rank - 1, row);
    if (stride != 1 || !R::kMayReorder || length < kParts)
      for (int64_t i = 0; i < length; ++i) running.take(from[i * stride]);
    else if constexpr (kKind == Kind::Mean && sizeof(T) <= 2)
      running.join(sumRun<R>(from, length));
    else
      running.join(foldRun<R>(from, length));
  }
  return running.result(work);
}

/// At most kColumns outputs that lie side by side.
template <class T, Kind kKind>
void foldColumns(const Loops& loops, const T* x, T* y, int64_t columns) {
  const int64_t work = elementCount(loops.size);
  const auto rowAt = [&](int64_t row) { return x + offsetOf(loops, loops.size.size(), row); };
  if constexpr (std::is_same_v<T, float> && kKind == Kind::LogSumExp)
    return logSumExpOfColumns(work, columns, y, rowAt);
  using R = Running<T, kKind>;
  // Rows of few columns that follow each other are folded as one.
  const bool follow = R::kMayReorder && loops.size.size() == 1 && loops.strides[0][0] == columns;
  const int64_t together = follow ? std::clamp<int64_t>(work / 4, 1, kColumns / columns) : 1;
  R running[kColumns];
  int64_t row = 0;
  const auto take = [&](int64_t rows) {
    const T* from = rowAt(row);
    for (int64_t c = 0; c < rows * columns; ++c) running[c].take(from[c]);
  };
  for (; row + together <= work; row += together) take(together);
  for (; row < work; ++row) take(1);
  for (int64_t c = columns; c < together * columns; ++c) running[c % columns].join(running[c]);
  for (int64_t c = 0; c < columns; ++c) y[c] = running[c].result(work);
}

/// The three ways to fold, for one kind. Threads and outputs are divided once for all kinds, since the compiler makes
/// code for each pair of kind and type.
template <class T>
struct Folds {
  T (*row)(const Loops&, const T*) = nullptr;
  void (*columns)(const Loops&, const T*, T*, int64_t) = nullptr;
  void (*shortRows)(const T*, int64_t, T*, int64_t) = nullptr;
};
template <class T>
Folds<T> foldsOf(Kind kind) {
#define REDUCE(id, Name, numericClass) \
  if (kind == Kind::Name) return {foldRow<T, Kind::Name>, foldColumns<T, Kind::Name>, foldShortRows<T, Kind::Name>};
#include "ops/reduce/reduce_table.h"
  return {};
}

class ScalarReduce final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  ScalarReduce(Kind kind, const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), kind_(kind), views_(args) {}
  bool readsInput(size_t index) const override { return index == 0 || views_.readsAxes(); }

  Status onResize(TensorList inputs, TensorList outputs) override {
    views_.plan(inputs[0]->desc.shape, outputs[0]->desc.shape);
    return Status::ok();
  }
  cpu::RowSplit rows(TensorList inputs, TensorList) const override {
    return cpu::leadingRows(inputs, views_.leadingAxes(inputs[0]->desc.shape.size()));
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    OPKIT_ASSIGN(view_, views_.of(inputs));
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (!std::is_same_v<T, Half>) foldAll(inputs[0]->data<T>().data(), outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  template <class T>
  void foldAll(const T* x, T* y) const {
    const Folds<T> folds = foldsOf<T>(kind_);
    const Loops &kept = view_->kept, &folded = view_->reduced;
    const size_t rank = kept.size.size();
    const int64_t work = elementCount(folded.size), outputs = elementCount(kept.size);
    if (outputs == 0) return;
    const int64_t cost = work * (kind_ == Kind::LogSumExp ? 4 : 1);
    if (hasShortRows(kept, folded))
      return cpu::forEachBlockOfRows(pool_, outputs, work, cost / work, [&](int64_t first, int64_t count) {
        folds.shortRows(x + first * work, work, y + first, count);
      });
    if (rank == 0 || kept.strides[0].back() != 1 || work == 0 || isRun<T>(folded))
      return cpu::parallelRows(pool_, outputs, cost,
                               [&](int64_t row) { y[row] = folds.row(folded, x + offsetOf(kept, rank, row)); });
    const int64_t columns = kept.size.back(), blocks = ceilDiv(columns, kColumns);
    cpu::parallelRows(pool_, outputs / columns * blocks, cost * kColumns, [&](int64_t index) {
      const int64_t outer = index / blocks, column = index % blocks * kColumns;
      folds.columns(folded, x + offsetOf(kept, rank - 1, outer) + column, y + outer * columns + column,
                    std::min(kColumns, columns - column));
    });
  }
  /// Whether all outputs fold short rows that lie one after another.
  bool hasShortRows(const Loops& kept, const Loops& folded) const {
    const bool isShort = folded.size.size() == 1 && folded.strides[0][0] == 1 &&
                         folded.size[0] <= cpu::kLongestShortRow && folded.size[0] > 0;
    return isShort && (kept.size.empty() || (kept.size.size() == 1 && kept.strides[0][0] == folded.size[0]));
  }
  /// Whether LogSumExp takes the elements of an output in their order, at once.
  template <class T>
  bool isRun(const Loops& folded) const {
    return std::is_same_v<T, float> && kind_ == Kind::LogSumExp && folded.size.size() == 1 && folded.strides[0][0] == 1;
  }

  Kind kind_;
  ReduceViews views_;
  const View* view_ = nullptr;  // of this run
};

}  // namespace

Creator scalarCreator(Kind kind, DTypeSet dtypes, std::function<Status(const CreateArgs&)> supports) {
  return {.provider = "opkit",
          .supports = std::move(supports),
          .create = [kind](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
            return std::unique_ptr<Execution>(std::make_unique<ScalarReduce>(kind, args, backend));
          },
          .dtypes = dtypes,
          .kernel = "scalar"};
}

}  // namespace opkit::ops::reduce
