// Weighted sums of Resample on the CPU, axis by axis: rows of elements that lie side by side are blended along an outer
// axis, and the last axis is gathered from the blended row while that is in the cache. With more than two axes the
// outer ones are blended first, into scratch memory.
#include <algorithm>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/widened.h"
#include "ops/resize/resample_plan.h"
#include "ops/resize/resample_rows_wide.h"
#include "ops/resize/resize_parts.h"

namespace opkit::ops::resize {
namespace {

constexpr int64_t kFewElements = 8;  // fewer that lie side by side are no rows worth blending
constexpr int64_t kPart = 4096;      // elements of a row that is blended in parts

/// [outer, blended axis, between, row] to [outer, blended axis, between, gathered row].
template <class A>
struct Pass {
  int64_t outer = 1;
  Taps blend{.list = {{0, 1}}};
  std::vector<A> weights;       // of the blend
  std::vector<int64_t> starts;  // of its taps: elements from the row at position 0
  int64_t between = 1;
  int64_t row = 1;     // elements of an input row
  int64_t rowOut = 1;  // of an output row
  bool gathers = false;
  int64_t taps = 0;         // of the gather
  std::vector<int32_t> at;  // first taps of the outputs, second taps, ...
  std::vector<A> gatherWeights;
  std::vector<int64_t> outside;  // outputs of a row that are extrapolated
  A near = 0, far = 0;           // if the gather is doubleSums, else 0

  int64_t rows() const { return outer * blend.outputs * between; }
  int64_t outputs() const { return rows() * rowOut; }
  /// Rows are blended whole if they are gathered afterwards.
  int64_t part() const { return gathers ? std::max<int64_t>(row, 1) : std::clamp<int64_t>(row, 1, kPart); }
  int64_t parts() const { return (row + part() - 1) / part(); }
};

/// REQUIRES the length of a row.
template <class A>
void setBlend(Pass<A>& pass, const Taps& axis) {
  pass.blend = axis;
  for (const Tap& tap : axis.list) {
    pass.weights.push_back(static_cast<A>(tap.weight));
    pass.starts.push_back(tap.at * pass.between * pass.row);
  }
}

/// Whether the axis is the one that doubleSums makes, with weights of its own.
bool isDoubled(const Taps& axis) {
  if (axis.outputs != 2 * axis.inputs || axis.inputs < 2 || axis.count != 2) return false;
  const double near = axis.of(1)[0].weight, far = axis.of(1)[1].weight;
  for (int64_t o = 1; o + 1 < axis.outputs; ++o) {  // the ends read one element
    const auto taps = axis.of(o);
    const int64_t at = o / 2;
    const bool odd = o % 2 == 1;
    if (taps[0].at != (odd ? at : at - 1) || taps[1].at != taps[0].at + 1) return false;
    if (taps[0].weight != (odd ? near : far) || taps[1].weight != (odd ? far : near)) return false;
  }
  const auto isWhole = [&](int64_t o, int64_t at) {
    return axis.of(o)[0].at == at && axis.of(o)[1].at == at &&
           axis.of(o)[0].weight + axis.of(o)[1].weight == near + far;
  };
  return isWhole(0, 0) && isWhole(axis.outputs - 1, axis.inputs - 1);
}

/// The elements of a run of `inner` become outputs of their own.
template <class A>
void setGather(Pass<A>& pass, const Taps& axis, int64_t inner) {
  pass.gathers = true;
  pass.taps = axis.count;
  if (inner == 1 && isDoubled(axis)) {
    pass.near = static_cast<A>(axis.of(1)[0].weight);
    pass.far = static_cast<A>(axis.of(1)[1].weight);
  }
  for (int64_t t = 0; t < axis.count; ++t)
    for (int64_t o = 0; o < axis.outputs; ++o)
      for (int64_t c = 0; c < inner; ++c) {
        const Tap& tap = axis.of(o)[static_cast<size_t>(t)];
        if (tap.at == kOutside && t == 0) pass.outside.push_back(o * inner + c);
        pass.at.push_back(static_cast<int32_t>(std::max<int64_t>(tap.at, 0) * inner + c));
        pass.gatherWeights.push_back(static_cast<A>(tap.weight));
      }
}

template <class A>
std::vector<Pass<A>> passesOf(const ResamplePlan& plan) {
  std::vector<Taps> axes = plan.axes;
  if (axes.empty()) axes.push_back(Taps{.list = {{0, 1}}});
  std::vector<int64_t> inner(axes.size(), plan.inner);  // elements behind an axis, before those axes change
  for (size_t d = axes.size() - 1; d-- > 0;) inner[d] = inner[d + 1] * axes[d + 1].inputs;
  const bool gathers = plan.inner < kFewElements;
  const size_t last = axes.size() - 1;
  std::vector<Pass<A>> passes;
  int64_t outer = plan.outer;
  for (size_t d = 0; d <= last; ++d) {
    const bool ends = d == last || (gathers && d + 1 == last);
    if (!ends && isIdentity(axes[d])) {
      outer *= axes[d].outputs;
      continue;
    }
    Pass<A>& pass = passes.emplace_back();
    pass.outer = outer;
    pass.row = pass.rowOut = gathers && ends ? axes[last].inputs * plan.inner : inner[d];
    setBlend(pass, d < last || !gathers ? axes[d] : Taps{.list = {{0, 1}}});
    if (gathers && ends) {
      setGather(pass, axes[last], plan.inner);
      pass.rowOut = axes[last].outputs * plan.inner;
      break;
    }
    outer *= axes[d].outputs;
  }
  return passes;
}

template <class T>
class ResampleCpu final : public cpu::CpuKernel {
  using A = std::conditional_t<std::is_same_v<T, float>, float, double>;

 public:
  ResampleCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<ResampleParams>()) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    plan(inputs);
    return cpu::scratchBytesOf(scratchFloats_);
  }
  Status onResize(TensorList inputs, TensorList) override {
    plan(inputs);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const T* x = inputs[0]->data<T>().data();
    T* y = outputs[0]->data<T>().data();
    if (passes_.size() == 1) {
      run(passes_[0], x, y);
      return Status::ok();
    }
    A* made = scratchAt(threadFloats_ * static_cast<int64_t>(pool_.threadCount()));
    run(passes_[0], x, made);
    for (size_t k = 1; k + 1 < passes_.size(); ++k) {
      A* next = made + partOf(passes_[k - 1].outputs());
      run(passes_[k], made, next);
      made = next;
    }
    run(passes_.back(), made, y);
    return Status::ok();
  }

 private:
  static constexpr int64_t kFloatsPerSum = static_cast<int64_t>(sizeof(A)) / static_cast<int64_t>(sizeof(float));
  /// Elements of a part of the scratch, rounded so that the next is aligned.
  static int64_t partOf(int64_t count) { return (count + 15) / 16 * 16; }
  A* scratchAt(int64_t floats) const { return reinterpret_cast<A*>(cpu::scratchFloats(scratch(), floats)); }

  void plan(TensorList inputs) {
    passes_ = passesOf<A>(planResample(params_, inputs[0]->desc.shape));
    threadFloats_ = 0;
    for (const Pass<A>& pass : passes_)
      threadFloats_ =
          std::max(threadFloats_, kFloatsPerSum * (partOf(pass.part()) + partOf(pass.gathers ? pass.rowOut : 0)));
    scratchFloats_ = threadFloats_ * static_cast<int64_t>(pool_.threadCount());
    for (size_t k = 0; k + 1 < passes_.size(); ++k) scratchFloats_ += kFloatsPerSum * partOf(passes_[k].outputs());
  }

  template <class From, class To>
  void run(const Pass<A>& pass, const From* x, To* y) const {
    const int64_t tasks = pass.rows() * pass.parts(), work = pass.part() + (pass.gathers ? pass.rowOut * pass.taps : 0);
    const int64_t each = pool_.splitsAll() ? 1 : std::max<int64_t>(1, cpu::kGrainElements / std::max<int64_t>(work, 1));
    const auto some = [&](size_t index, size_t thread) {
      A* sums = scratchAt(threadFloats_ * static_cast<int64_t>(thread));
      const int64_t begin = static_cast<int64_t>(index) * each, end = std::min(begin + each, tasks);
      for (int64_t task = begin; task < end; ++task)
        runPart(pass, task / pass.parts(), task % pass.parts() * pass.part(), x, y, sums);
    };
    pool_.parallelFor(static_cast<size_t>((tasks + each - 1) / each), std::ref(some));
  }

  /// Row `row` of the output, from element `first` of its input rows on.
  template <class From, class To>
  void runPart(const Pass<A>& pass, int64_t row, int64_t first, const From* x, To* y, A* sums) const {
    const int64_t count = std::min(pass.part(), pass.row - first);
    const int64_t middle = row % pass.between, o = row / pass.between % pass.blend.outputs;
    const int64_t block = row / pass.between / pass.blend.outputs;
    x += (block * pass.blend.inputs * pass.between + middle) * pass.row + first;
    To* out = y + row * pass.rowOut + first;
    if (pass.blend.of(o)[0].at == kOutside) {
      std::fill_n(out, pass.gathers ? pass.rowOut : count, extrapolatedTo<To>());
      return;
    }
    const int64_t taps = pass.blend.count;
    const A* weights = pass.weights.data() + o * taps;
    const int64_t* starts = pass.starts.data() + o * taps;
    if constexpr (std::is_same_v<From, A>)
      if (pass.gathers && taps == 1 && weights[0] == 1) return gatherRow(pass, x + starts[0], out, sums);
    A* blended = sums;
    if constexpr (std::is_same_v<To, A>)
      if (!pass.gathers) blended = out;
    blendRows(x, starts, weights, taps, blended, count);
    if (pass.gathers) return gatherRow(pass, blended, out, sums + partOf(pass.part()));
    if constexpr (!std::is_same_v<To, A>) storeRow(blended, out, count);
  }

  /// `sums` is room for a row, used unless the output holds sums itself.
  template <class To>
  void gatherRow(const Pass<A>& pass, const A* row, To* out, [[maybe_unused]] A* sums) const {
    const RowTaps<A> taps{pass.at.data(), pass.gatherWeights.data(), pass.taps, pass.rowOut};
    if constexpr (std::is_same_v<To, float>)
      if (pass.near != 0) return doubleSums(row, pass.near, pass.far, out, pass.row);
    if constexpr (std::is_same_v<To, A>) {
      gatherSums(row, taps, out);
    } else {
      gatherSums(row, taps, sums);
      storeRow(sums, out, pass.rowOut);
    }
    for (const int64_t o : pass.outside) out[o] = extrapolatedTo<To>();
  }

  template <class To>
  To extrapolatedTo() const {
    return extrapolated<To>(params_.extrapolation_value, DType::Float32);
  }

  ResampleParamsT params_;
  std::vector<Pass<A>> passes_;
  int64_t threadFloats_ = 0;   // scratch of a thread
  int64_t scratchFloats_ = 0;  // of all, with what passes leave to the next
};

Status supports(const CreateArgs& args) {
  if (args.input(0).elements() <= INT32_MAX) return Status::ok();
  return Status::unsupported("{}: the CPU kernel reads up to {} elements, got {}", args.def.type, INT32_MAX,
                             args.input(0).elements());
}

template <class T>
Creator sumsOf(DType dtype) {
  return cpu::creatorOf<ResampleCpu<T>>(supports, DTypeSet(dtype), "sums");
}

}  // namespace

void addCpu(OpRegistry& registry) {
  addResampleNearestCpu(registry);
  const Creator floats = sumsOf<float>(DType::Float32);
  for (const Creator& creator :
       {floats, cpu::widenedKernel(floats), sumsOf<double>(DType::Float64), sumsOf<int8_t>(DType::Int8),
        sumsOf<uint8_t>(DType::UInt8), sumsOf<int16_t>(DType::Int16), sumsOf<uint16_t>(DType::UInt16),
        sumsOf<int32_t>(DType::Int32), sumsOf<uint32_t>(DType::UInt32)})
    registry.addCreator("cpu", "Resample", creator);
}

}  // namespace opkit::ops::resize
