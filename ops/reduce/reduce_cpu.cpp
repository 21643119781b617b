// Reductions on the CPU, f32: runs of neighbours are folded by vectors when the innermost axis is reduced; else
// rows are folded into a block of output columns, and so are short runs, whose elements are transposed first. Orders
// depend on shapes alone, never on threads. Rows are folded in float, and a column that overflows, or whose squares
// vanish, again in double.
#include <cmath>
#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/short_rows.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_scalar_cpu.h"
#include "ops/reduce/reduce_views.h"

namespace opkit::ops::reduce {
namespace {

constexpr int64_t kColumns = 256;          // of one block
constexpr int64_t kCallElements = 16;      // that a run costs beside its elements
constexpr float kLeastSquares = 0x1p-80f;  // terms of a smaller sum are, or are near, denormals

using FoldRow = void(const float* x, float* y, int64_t count);

/// The folds of one kind: runs into one value, rows into rows.
struct Fold {
  double (*run)(const float* x, int64_t count);
  FoldRow* row;
  float start;
};

std::optional<Fold> foldOf(std::string_view type) {
  if (type == "ReduceSum" || type == "ReduceMean") return Fold{cpu::sumOf, cpu::addTo, 0};
  if (type == "ReduceL1") return Fold{cpu::absoluteSumOf, cpu::addAbsoluteTo, 0};
  if (type == "ReduceL2" || type == "ReduceSumSquare") return Fold{cpu::squareSumOf, cpu::addSquareTo, 0};
  if (type == "ReduceMax")
    return Fold{[](const float* x, int64_t n) -> double { return cpu::maxOf(x, n); }, cpu::maxTo, -INFINITY};
  if (type == "ReduceMin")
    return Fold{[](const float* x, int64_t n) -> double { return cpu::minOf(x, n); }, cpu::minTo, INFINITY};
  return std::nullopt;
}

class ReduceCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  ReduceCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend),
        fold_(*foldOf(args.def.type)),
        mean_(args.def.type == "ReduceMean"),
        root_(args.def.type == "ReduceL2"),
        squares_(root_ || args.def.type == "ReduceSumSquare"),
        views_(args) {}

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
    count_ = elementCount(view_->reduced.size);
    const bool alongRuns = view_->reduced.size.empty() || view_->reduced.strides[0].back() == 1;
    const float* x = floatsOf(*inputs[0]);
    float* y = floatsOf(*outputs[0]);
    const int64_t kept = outputs[0]->desc.elements();
    const size_t keptRank = view_->kept.size.size();
    if (kept == 0) return Status::ok();
    if (count_ == 1) {  // every element by itself
      cpu::parallelRanges(pool_, kept, cpu::kGrainElements, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i += kColumns) foldRows(x + i, y + i, std::min(kColumns, end - i));
      });
      return Status::ok();
    }
    if (alongRuns && joinsRuns()) {
      const size_t outerRank = keptRank == 0 ? 0 : keptRank - 1;
      const int64_t neighbours = keptRank == 0 ? 1 : view_->kept.size.back();
      const int64_t together = cpu::shortRowsTogether(runLength());
      const int64_t blocks = ceilDiv(neighbours, together);
      cpu::parallelRows(pool_, kept / neighbours * blocks, count_ * together, [&](int64_t index) {
        const int64_t outer = index / blocks, first = index % blocks * together;
        joinRuns(x + offsetOf(view_->kept, outerRank, outer) + first * runLength(), y + outer * neighbours + first,
                 std::min(together, neighbours - first));
      });
      return Status::ok();
    }
    if (alongRuns) {
      cpu::parallelRows(pool_, kept, count_ + kCallElements,
                        [&](int64_t i) { y[i] = finished(foldRuns(x + offsetOf(view_->kept, keptRank, i))); });
      return Status::ok();
    }
    // The innermost axis is kept: columns of it side by side.
    const int64_t columns = view_->kept.size.back();
    const int64_t blocks = (columns + kColumns - 1) / kColumns;
    cpu::parallelRows(pool_, kept / columns * blocks, count_ * kColumns, [&](int64_t index) {
      const int64_t outer = index / blocks, column = index % blocks * kColumns;
      foldRows(x + offsetOf(view_->kept, keptRank - 1, outer) + column, y + outer * columns + column,
               std::min(kColumns, columns - column));
    });
    return Status::ok();
  }

 private:
  double foldRuns(const float* x) const {
    if (count_ == 0) return fold_.start;
    const int64_t length = rank() == 0 ? 1 : view_->reduced.size.back();
    double value = fold_.run(x, length);
    for (int64_t run = 1; run < count_ / length; ++run) {
      const double part = fold_.run(x + offsetOf(view_->reduced, rank() - 1, run), length);
      value = fold_.start == 0 ? value + part : joined(value, part);
    }
    return value;
  }
  int64_t runLength() const { return view_->reduced.size.back(); }
  /// Whether runs of neighbouring outputs lie side by side, and are too short for a call each. One output by itself
  /// gets the bits that it has among others.
  bool joinsRuns() const {
    const Loops& kept = view_->kept;
    return rank() > 0 && count_ > 0 && runLength() <= cpu::kLongestShortRow &&
           (kept.size.empty() || kept.strides[0].back() == runLength());
  }
  /// `outputs` neighbours: the runs of each are folded into one, element by element, and that one last.
  void joinRuns(const float* x, float* y, int64_t outputs) const {
    const int64_t length = runLength(), runs = count_ / length;
    const auto recompute = [&](int64_t i) { return foldRuns(x + i * length); };
    if (runs == 1) {
      foldShortRuns(x, y, outputs, fold_.row);
    } else {
      float folded[cpu::kTileElements];
      std::fill_n(folded, outputs * length, fold_.start);
      for (int64_t run = 0; run < runs; ++run)
        fold_.row(x + offsetOf(view_->reduced, rank() - 1, run), folded, outputs * length);
      foldShortRuns(folded, y, outputs, joinRow());
    }
    finish(y, outputs, recompute);
  }
  /// One run for each output, one after another.
  void foldShortRuns(const float* x, float* y, int64_t outputs, FoldRow* fold) const {
    std::fill_n(y, outputs, fold_.start);
    if (runLength() == 1) return fold(x, y, outputs);
    const cpu::RowTile tile(x, outputs, runLength());
    for (int64_t k = 0; k < runLength(); ++k) fold(tile.elements(k), y, outputs);
  }
  /// A sum that overflowed, or squares that vanished.
  bool isLost(double sum) const {
    return fold_.start == 0 && (!std::isfinite(sum) || (squares_ && sum < kLeastSquares));
  }
  /// The larger or the smaller; a NaN wins.
  double joined(double a, double b) const {
    if (a != a || b != b) return a + b;
    return (fold_.start < 0) == (b > a) ? b : a;
  }

  void foldRows(const float* x, float* y, int64_t columns) const {
    const int64_t together = rowsTogether(columns), width = together * columns;
    float sums[kColumns];
    std::fill_n(sums, width, fold_.start);
    int64_t row = 0;
    for (; row + together <= count_; row += together) fold_.row(x + offsetOf(view_->reduced, rank(), row), sums, width);
    for (; row < count_; ++row) fold_.row(x + offsetOf(view_->reduced, rank(), row), sums, columns);
    for (int64_t k = 1; k < together; ++k) joinRow()(sums + k * columns, sums, columns);
    std::copy_n(sums, columns, y);
    finish(y, columns, [&](int64_t i) { return foldColumn(x + i); });
  }
  /// Rows of few columns that follow each other are folded as one.
  int64_t rowsTogether(int64_t columns) const {
    const bool follow = rank() == 1 && view_->reduced.strides[0][0] == columns;
    return follow ? std::clamp<int64_t>(count_ / 4, 1, kColumns / columns) : 1;
  }
  /// Joins two folds of the same columns.
  FoldRow* joinRow() const { return fold_.start == 0 ? cpu::addTo : fold_.row; }
  /// Makes sums of `outputs` neighbours their results; those that are lost are recomputed.
  template <class Recompute>
  void finish(float* y, int64_t outputs, const Recompute& recompute) const {
    if (fold_.start == 0 && anyIsLost(y, outputs)) {
      for (int64_t i = 0; i < outputs; ++i) y[i] = finished(isLost(y[i]) ? recompute(i) : y[i]);
      return;
    }
    if (mean_) cpu::divide(y, static_cast<float>(count_), y, outputs);
    if (root_) cpu::squareRoot(y, y, outputs);
  }
  bool anyIsLost(const float* sums, int64_t count) const {
    const float least = squares_ ? kLeastSquares : -INFINITY;
    int lost = 0;
    for (int64_t i = 0; i < count; ++i)
      lost |= !(std::fabs(sums[i]) <= std::numeric_limits<float>::max()) | (sums[i] < least);
    return lost != 0;
  }
  double foldColumn(const float* x) const {
    double sum = 0;
    for (int64_t row = 0; row < count_; ++row) sum += fold_.run(x + offsetOf(view_->reduced, rank(), row), 1);
    return sum;
  }
  size_t rank() const { return view_->reduced.size.size(); }

  float finished(double value) const {
    if (mean_) value /= static_cast<double>(count_);
    return static_cast<float>(root_ ? std::sqrt(value) : value);
  }

  Fold fold_;
  bool mean_;
  bool root_;
  bool squares_;
  ReduceViews views_;
  const View* view_ = nullptr;  // of this run
  int64_t count_ = 0;           // elements folded into one
};

}  // namespace

void addCpu(OpRegistry& registry) {
  const auto add = [&](const std::string& type, Kind kind) {
    const bool hasVectors = foldOf(type).has_value();
    if (hasVectors)
      registry.addCreator("cpu", type, cpu::creatorOf<ReduceCpu>(supportsAxes, DTypeSet(DType::Float32), "vector"));
    const DTypeSet rest = hasVectors ? DTypeSet(DType::Float64) : DTypeSet(DType::Float32, DType::Float64);
    registry.addCreator("cpu", type, scalarCreator(kind, kIntegers | rest, supportsAxes));
  };
#define REDUCE(id, Name, numericClass) add("Reduce" #Name, Kind::Name);
#include "ops/reduce/reduce_table.h"
}

}  // namespace opkit::ops::reduce
