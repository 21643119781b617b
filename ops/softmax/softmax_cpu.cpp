// Softmax on the CPU. f32: along the innermost axis row by row; along other axes in blocks of columns, so that vectors
// run across the columns, and so do short rows, which are transposed first. Block sizes, and so results, do not depend
// on threads. f64: a scalar loop.
#include <cmath>
#include <utility>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/double_ops.h"
#include "engine/backend/cpu/double_rows.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/short_rows.h"
#include "ops/softmax/softmax.h"

namespace opkit::ops::softmax {
namespace {

constexpr int64_t kColumns = 256;  // of one block
constexpr int64_t kRun = 256;      // elements of a column that are added in float: more would lose the last bits
constexpr int64_t kFewRows = kColumns / cpu::kTileStep;
constexpr int64_t kLongestGroup = cpu::kTileElements / cpu::kTileStep;
constexpr int64_t kRowRun = 1024;  // of a row, whose lanes add a fraction each

class SoftmaxCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  SoftmaxCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<SoftmaxParams>()) {}

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
    const float* x = floatsOf(*inputs[0]);
    float* y = floatsOf(*outputs[0]);
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    if (isShort()) {
      normaliseBlocks(x, y);
      return Status::ok();
    }
    if (rows_.inner == 1) {
      cpu::parallelRows(pool_, rows_.outer, rows_.extent * 4,
                        [&](int64_t row) { normaliseRow(x + row * rows_.extent, y + row * rows_.extent); });
      return Status::ok();
    }
    const int64_t blocks = (rows_.inner + kColumns - 1) / kColumns;
    cpu::parallelRows(pool_, rows_.outer * blocks, rows_.extent * kColumns * 4, [&](int64_t index) {
      const int64_t column = index % blocks * kColumns;
      const int64_t first = index / blocks * rows_.extent * rows_.inner + column;
      normaliseColumns(x + first, y + first, rows_.inner, std::min(kColumns, rows_.inner - column));
    });
    return Status::ok();
  }

 private:
  /// Short rows, or few of them side by side and many such groups: [group, element, row].
  bool isShort() const {
    if (rows_.inner == 1) return rows_.extent <= cpu::kLongestShortRow;
    return rows_.inner <= kFewRows && rows_.extent * rows_.inner <= kLongestGroup && rows_.outer >= cpu::kTileStep;
  }
  /// Groups are transposed: then element i of every row of a block lies side by side.
  void normaliseBlocks(const float* x, float* y) const {
    const int64_t length = rows_.extent * rows_.inner;
    const auto normalise = [&](int64_t first, int64_t count) {
      cpu::RowTile tile(x + first * length, count, length);
      const int64_t columns = rows_.inner * tile.step();
      normaliseColumns(tile.elements(0), tile.elements(0), columns, columns);
      tile.copyTo(y + first * length);
    };
    cpu::forEachBlockOfRows(pool_, rows_.outer, length, 4, normalise, kColumns / rows_.inner);
  }

  void normaliseRow(const float* x, float* y) const {
    const float largest = cpu::maxOf(x, rows_.extent);
    const float sum = exponentials(x, largest, params_.log ? nullptr : y);
    if (params_.log) {
      cpu::affine(x, largest, 1.0f, 0.0f, y, rows_.extent);
      cpu::affine(y, std::log(sum), 1.0f, 0.0f, y, rows_.extent);
    } else {
      cpu::affine(y, 0.0f, 1.0f / sum, 0.0f, y, rows_.extent);  // sum is in [1, extent], or NaN
    }
  }

  /// The sum of exp(x - largest) over a row, written to `y` unless null; by runs, as the columns' sums.
  float exponentials(const float* x, float largest, float* y) const {
    double total = 0;
    for (int64_t i = 0; i < rows_.extent; i += kRowRun)
      total +=
          static_cast<double>(cpu::expBelow(x + i, largest, y ? y + i : nullptr, std::min(kRowRun, rows_.extent - i)));
    return static_cast<float>(total);
  }

  /// `columns` rows side by side, whose elements are `step` apart. y may be x.
  void normaliseColumns(const float* x, float* y, int64_t step, int64_t columns) const {
    float largest[kColumns], sum[kColumns];
    double total[kColumns] = {};
    std::fill_n(largest, columns, -INFINITY);
    std::fill_n(sum, columns, 0.0f);
    for (int64_t i = 0; i < rows_.extent; ++i) cpu::maxTo(x + i * step, largest, columns);
    for (int64_t i = 0; i < rows_.extent; ++i) {
      cpu::expTo(x + i * step, largest, params_.log ? nullptr : y + i * step, sum, columns);
      if ((i + 1) % kRun != 0) continue;
      for (int64_t c = 0; c < columns; ++c) total[c] += static_cast<double>(std::exchange(sum[c], 0.0f));
    }
    for (int64_t c = 0; c < columns; ++c) sum[c] = static_cast<float>(total[c] + static_cast<double>(sum[c]));
    if (params_.log) cpu::logOf(sum, sum, columns);
    for (int64_t i = 0; i < rows_.extent; ++i) {
      if (params_.log)
        cpu::subtract(x + i * step, largest, sum, y + i * step, columns);
      else
        cpu::divideBy(y + i * step, sum, y + i * step, columns);
    }
  }

  SoftmaxParamsT params_;
  Rows rows_{};
};

class WideSoftmaxCpu final : public cpu::CpuKernel {
 public:
  WideSoftmaxCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<SoftmaxParams>()) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Rows rows = rowsOf(params_, inputs[0]->desc.shape);
    const double* x = inputs[0]->data<double>().data();
    double* y = outputs[0]->data<double>().data();
    cpu::parallelRows(pool_, rows.count(), rows.extent * 16,
                      [&](int64_t row) { normaliseRow(x + rows.at(row, 0), y + rows.at(row, 0), rows); });
    return Status::ok();
  }

 private:
  /// The elements of a row are rows.inner apart. Sums go by runs: in one chain, 75,000 terms leave the bound.
  void normaliseRow(const double* x, double* y, const Rows& rows) const {
    if (rows.inner == 1) return normaliseRun(x, y, rows.extent);
    const int64_t end = rows.extent * rows.inner;
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < end; i += rows.inner) largest = x[i] > largest ? x[i] : largest;
    for (int64_t begin = 0; begin < end; begin += kRowRun * rows.inner) {
      double part = 0;
      for (int64_t i = begin; i < std::min(begin + kRowRun * rows.inner, end); i += rows.inner) {
        y[i] = std::exp(x[i] - largest);
        part += y[i];
      }
      sum += part;
    }
    const double logarithm = std::log(sum);
    for (int64_t i = 0; i < end; i += rows.inner) y[i] = params_.log ? x[i] - largest - logarithm : y[i] / sum;
  }

  void normaliseRun(const double* x, double* y, int64_t count) const {
    const double largest = cpu::maxOf(x, count);
    double sum = 0;
    for (int64_t i = 0; i < count; i += kRowRun)
      sum += cpu::expBelow(x + i, largest, params_.log ? nullptr : y + i, std::min(kRowRun, count - i));
    const double logarithm = std::log(sum);
    if (params_.log)
      for (int64_t i = 0; i < count; ++i) y[i] = x[i] - largest - logarithm;
    else
      for (int64_t i = 0; i < count; ++i) y[i] /= sum;
  }

  SoftmaxParamsT params_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Softmax",
                      cpu::creatorOf<SoftmaxCpu>(cpu::supportsAll, DTypeSet(DType::Float32), "vector"));
  registry.addCreator("cpu", "Softmax",
                      cpu::creatorOf<WideSoftmaxCpu>(cpu::supportsAll, DTypeSet(DType::Float64), "scalar"));
}

}  // namespace opkit::ops::softmax
