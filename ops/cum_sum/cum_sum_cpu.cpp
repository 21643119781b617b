// CumSum and CumProd on the CPU: neighbouring rows are folded together, sums by vectors, floats in double, integers
// modulo 2^64. The axis is read at each run: it need not be constant.
#include <concepts>

#include "engine/backend/combined.h"
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/op/rows.h"
#include "ops/cum_sum/cum_sum_parts.h"
#include "ops/cum_sum/cum_sum_wide.h"

namespace opkit::ops::cum_sum {
namespace {

/// The type whose sums have the bits of T's: integers wrap.
template <class T>
struct SummedAs {
  using Type = T;
};
template <std::signed_integral T>
struct SummedAs<T> {
  using Type = std::make_unsigned_t<T>;
};

template <class Fold>
class CumSumCpu final : public cpu::CpuKernel {
 public:
  CumSumCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<CumSumParams>()) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const int64_t value = has(inputs, 1) ? axisIn(*inputs[1]) : params_.axis;
    OPKIT_TRY(normalizeAxis(value, inputs[0]->desc.shape.size()).error());
    const Rows rows = rowsAlong(inputs[0]->desc.shape, value);
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (!std::is_same_v<T, Half>) sumAll(rows, inputs[0]->data<T>().data(), outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  static int64_t axisIn(const Tensor& axis) {
    return axis.desc.dtype == DType::Int64 ? axis.data<int64_t>()[0] : axis.data<int32_t>()[0];
  }

  template <class T>
  void sumAll(const Rows& rows, const T* x, T* y) const {
    if (rows.inner == 1)
      return cpu::parallelRows(pool_, rows.outer, rows.extent,
                               [&](int64_t row) { sumRow(x + row * rows.extent, y + row * rows.extent, rows.extent); });
    const int64_t columns = std::min(kMostColumns, rows.inner), blocks = (rows.inner + columns - 1) / columns;
    cpu::parallelRows(pool_, rows.outer * blocks, rows.extent * columns, [&](int64_t index) {
      const int64_t column = index % blocks * columns;
      const int64_t first = index / blocks * rows.extent * rows.inner + column;
      sumColumns(rows, x + first, y + first, std::min(columns, rows.inner - column));
    });
  }
  template <class T>
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

  template <class T>
  void sumRow(const T* x, T* y, int64_t extent) const {
    const int64_t step = params_.reverse ? -1 : 1;
    if (params_.reverse) x += extent - 1, y += extent - 1;
    Sum<T> sum = Fold::kStart;
    if (params_.exclusive)
      for (int64_t i = 0; i < extent; ++i, x += step, y += step) {
        *y = static_cast<T>(sum);
        sum = Fold::next(sum, static_cast<Sum<T>>(*x));
      }
    else
      for (int64_t i = 0; i < extent; ++i, x += step, y += step) {
        sum = Fold::next(sum, static_cast<Sum<T>>(*x));
        *y = static_cast<T>(sum);
      }
  }
  template <class T>
  void sumColumns(const Rows& rows, const T* x, T* y, int64_t columns) const {
    using Summed = typename SummedAs<T>::Type;
    if constexpr (Fold::kStart == 0 && sizeof(T) >= 4) {
      const int64_t first = params_.reverse ? (rows.extent - 1) * rows.inner : 0;
      const Columns together{columns, rows.extent, params_.reverse ? -rows.inner : rows.inner, params_.exclusive};
      cum_sum::sumColumns(together, reinterpret_cast<const Summed*>(x + first), reinterpret_cast<Summed*>(y + first));
    } else {
      foldColumns(rows, x, y, columns);
    }
  }
  template <class T>
  void foldColumns(const Rows& rows, const T* x, T* y, int64_t columns) const {
    Sum<T> sums[kMostColumns];
    std::fill_n(sums, kMostColumns, Sum<T>(Fold::kStart));
    for (int64_t step = 0; step < rows.extent; ++step) {
      const int64_t at = (params_.reverse ? rows.extent - 1 - step : step) * rows.inner;
      for (int64_t c = 0; c < columns; ++c) {
        const auto before = sums[c];
        sums[c] = Fold::next(sums[c], static_cast<Sum<T>>(x[at + c]));
        y[at + c] = static_cast<T>(params_.exclusive ? before : sums[c]);
      }
    }
  }

  CumSumParamsT params_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  constexpr DTypeSet kTypes = cpu::kWideFloats | kIntegers;
  registry.addCreator("cpu", "CumSum", cpu::creatorOf<CumSumCpu<RunningFold<false>>>(cpu::supportsAll, kTypes));
  registry.addCreator("cpu", "CumProd", cpu::creatorOf<CumSumCpu<RunningFold<true>>>(cpu::supportsAll, kTypes));
}

}  // namespace opkit::ops::cum_sum
