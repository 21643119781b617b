// Resample of mode Nearest on the CPU, for any dtype: rows of words are gathered through a table, and an output row
// that reads the same input row as the one before is copied from it.
#include <algorithm>
#include <cstring>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/resize/resample_plan.h"
#include "ops/resize/resample_rows_wide.h"

namespace opkit::ops::resize {
namespace {

constexpr size_t kLongRun = 32;  // bytes from which elements that belong together are copied as a block

/// How an output row is made from an input row.
struct RowTable {
  int64_t inputs = 0;  // words
  int64_t outputs = 0;
  int64_t run = 1;               // words that belong together
  std::vector<int32_t> at;       // of each output word; of each run, if runs are copied as blocks
  std::vector<int64_t> outside;  // output words that are extrapolated
  bool blocks = false;
  bool twice = false;  // every word comes twice
  bool same = false;   // the row as it is
};

class NearestCpu final : public cpu::CpuKernel {
 public:
  NearestCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<ResampleParams>()) {}

  Status onResize(TensorList inputs, TensorList) override {
    plan_ = planResample(params_, inputs[0]->desc.shape);
    if (plan_.axes.empty()) plan_.axes.push_back(Taps{.list = {{0, 1}}});
    planRow(sizeOf(inputs[0]->desc.dtype));
    rows_ = plan_.outer;
    for (size_t d = 0; d + 1 < plan_.axes.size(); ++d) rows_ *= plan_.axes[d].outputs;
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Tensor &x = *inputs[0], &y = *outputs[0];
    if (y.desc.elements() == 0) return Status::ok();
    visitDType(x.desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T value = extrapolated<T>(params_.extrapolation_value, x.desc.dtype);
      if constexpr (sizeof(T) == 1) move<uint8_t>(x, y, &value);
      if constexpr (sizeof(T) == 2) move<uint16_t>(x, y, &value);
      if constexpr (sizeof(T) == 4) move<uint32_t>(x, y, &value);
      if constexpr (sizeof(T) == 8) move<uint64_t>(x, y, &value);
    });
    return Status::ok();
  }

 private:
  void planRow(size_t elementBytes) {
    const Taps& axis = plan_.axes.back();
    row_ = {.inputs = axis.inputs * plan_.inner, .outputs = axis.outputs * plan_.inner, .run = plan_.inner};
    row_.blocks = static_cast<size_t>(plan_.inner) * elementBytes >= kLongRun;
    const int64_t perRun = row_.blocks ? 1 : plan_.inner;
    for (int64_t o = 0; o < axis.outputs; ++o)
      for (int64_t c = 0; c < perRun; ++c) {
        const int64_t at = axis.of(o)[0].at;
        if (at == kOutside) row_.outside.push_back(o * perRun + c);
        row_.at.push_back(static_cast<int32_t>(std::max<int64_t>(at, 0) * perRun + c));
      }
    const auto count = static_cast<int64_t>(row_.at.size());
    const auto isEvery = [&](int64_t times) {
      for (int64_t o = 0; o < count; ++o)
        if (row_.at[static_cast<size_t>(o)] != o / times) return false;
      return row_.outside.empty() && count == times * (row_.blocks ? axis.inputs : row_.inputs);
    };
    row_.same = isEvery(1);
    row_.twice = !row_.blocks && isEvery(2);
  }

  /// The first word of the input row that output row `row` reads; kOutside if it is extrapolated.
  int64_t sourceOf(int64_t row) const {
    int64_t at = 0, scale = row_.inputs;
    for (size_t d = plan_.axes.size() - 1; d-- > 0;) {
      const Taps& axis = plan_.axes[d];
      const int64_t from = axis.of(row % axis.outputs)[0].at;
      if (from == kOutside) return kOutside;
      at += from * scale;
      row /= axis.outputs;
      scale *= axis.inputs;
    }
    return at + row * scale;
  }

  template <class W>
  void moveRow(const W* x, W* y, W value) const {
    const auto bytes = static_cast<size_t>(row_.run) * sizeof(W);
    if (row_.same) {
      std::memcpy(y, x, static_cast<size_t>(row_.outputs) * sizeof(W));
    } else if (row_.blocks) {
      for (size_t o = 0; o < row_.at.size(); ++o)
        std::memcpy(y + static_cast<int64_t>(o) * row_.run, x + row_.at[o] * row_.run, bytes);
      for (const int64_t o : row_.outside) std::fill_n(y + o * row_.run, row_.run, value);
    } else if (row_.twice) {
      doubleWords(x, y, row_.inputs);
    } else {
      gatherWords(x, row_.at.data(), y, row_.outputs);
      for (const int64_t o : row_.outside) y[o] = value;
    }
  }

  template <class W>
  void move(const Tensor& from, const Tensor& to, const void* extrapolation) const {
    W value;
    std::memcpy(&value, extrapolation, sizeof(W));
    const W* x = from.data<W>().data();
    W* y = to.data<W>().data();
    const int64_t rowsPerTask = pool_.splitsAll() ? 1 : std::max<int64_t>(1, cpu::kGrainElements / row_.outputs);
    forEachBlock(rows_, rowsPerTask, [&](size_t begin, size_t end) {
      int64_t before = kOutside;
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        W* out = y + row * row_.outputs;
        const int64_t source = sourceOf(row);
        if (source == kOutside)
          std::fill_n(out, row_.outputs, value);
        else if (source == before)
          std::memcpy(out, out - row_.outputs, static_cast<size_t>(row_.outputs) * sizeof(W));
        else
          moveRow(x + source, out, value);
        before = source;
      }
    });
  }

  ResampleParamsT params_;
  ResamplePlan plan_;
  RowTable row_;
  int64_t rows_ = 0;
};

Status supports(const CreateArgs& args) {
  const auto params = args.params<ResampleParams>();
  if (params.mode != ResampleMode::Nearest)
    return Status::unsupported("{}: the kernel is for mode Nearest", args.def.type);
  if (args.input(0).elements() <= INT32_MAX) return Status::ok();
  return Status::unsupported("{}: the CPU kernel reads up to {} elements, got {}", args.def.type, INT32_MAX,
                             args.input(0).elements());
}

}  // namespace

void addResampleNearestCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Resample", cpu::creatorOf<NearestCpu>(supports, kAnyDType, "nearest"));
}

}  // namespace opkit::ops::resize
