// ArgMax and ArgMin on the CPU. Rows of floats that are contiguous are folded by vectors and then searched for the
// folded value; everything else is compared element by element, neighbouring rows together.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/arg_reduce/arg_reduce.h"

namespace opkit::ops::arg_reduce {
namespace {

constexpr int64_t kColumns = 64;  // rows of one block, which lie next to each other

template <class T>
bool isNan(T x) {
  return x != x;
}

/// True if `x` replaces `best`: NaN beats everything and the first NaN stays, as in NumPy.
template <class T>
bool replaces(T x, T best, bool smallest, bool last) {
  if (isNan(best)) return last && isNan(x);
  if (isNan(x)) return true;
  return (smallest ? x < best : x > best) || (last && x == best);
}

/// The position of `value` in a row that contains it; a NaN matches any NaN.
int64_t find(const float* x, int64_t count, float value, bool last) {
  const auto is = [&](float other) { return isNan(value) ? isNan(other) : other == value; };
  if (!last) {
    int64_t i = 0;
    while (!is(x[i])) ++i;
    return i;
  }
  int64_t i = count - 1;
  while (!is(x[i])) --i;
  return i;
}

class ArgReduceCpu final : public cpu::CpuKernel {
 public:
  ArgReduceCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<ArgReduceParams>()), smallest_(args.def.type == "ArgMin") {}

  Status onResize(TensorList inputs, TensorList) override {
    rows_ = rowsOf(params_, inputs[0]->desc.shape);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    int64_t* y = outputs[0]->data<int64_t>().data();
    if (inputs[0]->desc.dtype == DType::Float32 && rows_.inner == 1) {
      searchRows(floatsOf(*inputs[0]), y);
      return Status::ok();
    }
    visitDType(inputs[0]->desc.dtype, [&](auto tag) { compareRows(inputs[0]->data<decltype(tag)>().data(), y); });
    return Status::ok();
  }

 private:
  void searchRows(const float* x, int64_t* y) const {
    cpu::parallelRows(pool_, rows_.outer, rows_.extent, [&](int64_t row) {
      const float* from = x + row * rows_.extent;
      const float best = smallest_ ? cpu::minOf(from, rows_.extent) : cpu::maxOf(from, rows_.extent);
      y[row] = find(from, rows_.extent, best, params_.select_last_index);
    });
  }

  template <class T>
  void compareRows(const T* x, int64_t* y) const {
    const int64_t blocks = (rows_.inner + kColumns - 1) / kColumns;
    cpu::parallelRows(pool_, rows_.outer * blocks, rows_.extent * std::min(kColumns, rows_.inner), [&](int64_t index) {
      const int64_t outer = index / blocks, column = index % blocks * kColumns;
      compareColumns(x + outer * rows_.extent * rows_.inner + column, y + outer * rows_.inner + column,
                     std::min(kColumns, rows_.inner - column));
    });
  }

  template <class T>
  void compareColumns(const T* x, int64_t* y, int64_t columns) const {
    decltype(cpu::widened(T{})) best[kColumns];
    for (int64_t c = 0; c < columns; ++c) {
      best[c] = cpu::widened(x[c]);
      y[c] = 0;
    }
    for (int64_t i = 1; i < rows_.extent; ++i) {
      for (int64_t c = 0; c < columns; ++c) {
        const auto value = cpu::widened(x[i * rows_.inner + c]);
        if (!replaces(value, best[c], smallest_, params_.select_last_index)) continue;
        best[c] = value;
        y[c] = i;
      }
    }
  }

  ArgReduceParamsT params_;
  bool smallest_;
  Rows rows_{};
};

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"ArgMax", "ArgMin"})
    registry.addCreator("cpu", type, cpu::creatorOf<ArgReduceCpu>(cpu::supportsAll, kNumbers));
}

}  // namespace opkit::ops::arg_reduce
