// FourierTransform on the CPU, f32 and f64. Short rows go side by side, each in a lane; a long row alone is split in
// two dimensions, and threads share it if there are few. Real rows of an even length are transforms of half as many
// numbers, made of neighbours. Inverse transforms exchange the real and imaginary planes.
#include <optional>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "ops/dft/dft.h"
#include "ops/dft/fourier_core.h"

namespace opkit::ops::dft {
namespace {

constexpr int64_t kMostTogether = 1024;  // points of rows side by side whose numbers are neighbours
constexpr int64_t kMostAlong = 8192;     // and of those of which rows are neighbours
constexpr int64_t kLeastAlone = 64;
constexpr int64_t kAlwaysShared = 131072;  // whose work memory per thread would be large
constexpr int64_t kSharedPoints = 16384;   // of a row that is worth all threads

/// The transforms of one shape.
template <class T>
class FourierCpu {
 public:
  FourierCpu(const FourierPlan& plan, const ThreadPool& pool) : plan_(plan), threads_(pool.threadCount()) {
    along_ = canGoAlong();
    const bool even = plan.length % 2 == 0 && !along_;
    halvesIn_ = even && plan.isRealIn() && !plan.inverse;
    halvesOut_ = even && plan.isRealOut();
    points_ = halvesIn_ || halvesOut_ ? plan.length / 2 : plan.length;
    if (halvesIn_ || halvesOut_) halfRoots_ = halfRoots<T>(plan.length);
    const int64_t size = convolutionSize(points_), columns = blockColumns<T>();
    const bool together = along_ || size < kLeastAlone || (plan.rows() >= columns / 2 && size <= kMostTogether);
    core_ = FourierCore<T>(points_, !together);
    const bool isFew = plan.rows() < static_cast<int64_t>(threads_);
    shares_ =
        core_.tables().isSplit() && (size >= kAlwaysShared || (isFew && (size >= kSharedPoints || pool.splitsAll())));
    const int64_t plane = together ? columns * core_.pitch() : core_.planeScalars();
    ends_[kA] = 2 * padded(plane);
    ends_[kB] = ends_[kA] + 2 * padded(core_.planeScalars());
    ends_[kWork] = ends_[kB] + padded(core_.workScalars()) * (shares_ ? static_cast<int64_t>(threads_) : 1);
  }

  size_t scratchBytes() const { return static_cast<size_t>(ends_[kWork]) * (shares_ ? 1 : threads_) * sizeof(T); }

  void run(ThreadPool& pool, const T* x, const T* window, T* y, T* scratch) const {
    const Job job{x, window, y, scratch};
    if (shares_) {
      for (int64_t row = 0; row < plan_.rows(); ++row) alone(job, row, 0, &pool);
      return;
    }
    const int64_t rows = core_.tables().isSplit() ? 1 : blockColumns<T>();
    const int64_t series = along_ ? plan_.innerRows : plan_.rows(), blocks = (series + rows - 1) / rows;
    const auto task = [&](size_t index, size_t thread) {
      const int64_t first = static_cast<int64_t>(index) % blocks * rows, count = std::min(rows, series - first);
      if (along_)
        along(job, static_cast<int64_t>(index) / blocks * series + first, count, thread);
      else if (core_.tables().isSplit())
        alone(job, first, thread, nullptr);
      else
        together(job, first, count, thread);
    };
    const int64_t tasks = plan_.rows() / series * blocks;
    if (tasks * rows * plan_.length < cpu::kGrainElements / 2 && !pool.splitsAll())
      for (int64_t i = 0; i < tasks; ++i) task(static_cast<size_t>(i), 0);
    else
      pool.parallelFor(static_cast<size_t>(tasks), std::ref(task));
  }

 private:
  enum Part : size_t { kA, kB, kWork, kParts };
  struct Job {
    const T* x;
    const T* window;
    T* y;
    T* scratch;
  };
  static int64_t padded(int64_t scalars) { return (scalars + 15) / 16 * 16; }

  T* part(const Job& job, Part which, size_t thread) const {
    return job.scratch + static_cast<int64_t>(thread) * ends_[kWork] + (which == kA ? 0 : ends_[which - 1]);
  }
  PlaneView<T> planes(const Job& job, Part which, size_t thread) const {
    T* const first = part(job, which, thread);
    return {first, first + (ends_[which] - (which == kA ? 0 : ends_[which - 1])) / 2};
  }
  PlaneView<const T> constant(PlaneView<T> view) const { return {view.re, view.im}; }
  PlaneView<const T> roots() const { return {halfRoots_.re.data(), halfRoots_.im.data()}; }

  /// Whether rows of complex numbers lie beside each other, and so do the numbers of a block of them.
  bool canGoAlong() const {
    return plan_.x.step > plan_.x.inner && plan_.innerRows >= blockColumns<T>() / 2 && !plan_.isRealOut() &&
           plan_.length <= kMostAlong && isSmooth(plan_.length);
  }

  /// Rows beside each other: planes of [points][blockColumns].
  void along(const Job& job, int64_t firstRow, int64_t rows, size_t thread) const {
    const PlaneView<T> all = planes(job, kA, thread), numbers = plan_.inverse ? all.swapped() : all;
    const int64_t columns = blockColumns<T>();
    const T* x = job.x + plan_.x.rowAt(firstRow, plan_.innerRows);
    for (int64_t i = 0; i < plan_.given; ++i, x += plan_.x.step)
      if (plan_.isRealIn()) {
        core_.loops().readReal(x, 1, nullptr, rows, numbers.re + i * columns);
        std::fill_n(numbers.im + i * columns, rows, T(0));
      } else {
        core_.loops().read(x, {2, 1}, nullptr, {}, rows, numbers.from(i * columns));
      }
    fillZero(all, plan_.given * columns, points_ * columns);
    core_.transformAlong(all, rows, part(job, kWork, thread));
    const T scale = plan_.inverse ? T(1) / static_cast<T>(plan_.length) : T(1);
    T* y = job.y + plan_.y.rowAt(firstRow, plan_.innerRows);
    for (int64_t k = 0; k < plan_.results; ++k, y += plan_.y.step)
      core_.loops().write(constant(numbers.from(k * columns)), scale, rows, y, {2, 1});
  }
  void together(const Job& job, int64_t firstRow, int64_t rows, size_t thread) const {
    const PlaneView<T> all = planes(job, kA, thread), other = planes(job, kB, thread);
    for (int64_t i = 0; i < rows; ++i) readRow(job, firstRow + i, all.from(i * core_.pitch()), other, {});
    core_.transformTogether(all, rows, part(job, kWork, thread));
    for (int64_t i = 0; i < rows; ++i) writeRow(job, firstRow + i, all.from(i * core_.pitch()), other, {});
  }
  void alone(const Job& job, int64_t row, size_t thread, ThreadPool* pool) const {
    const PlaneView<T> a = planes(job, kA, thread), b = planes(job, kB, thread);
    const FourierCrew<T> crew{pool, part(job, kWork, thread), padded(core_.workScalars())};
    readRow(job, row, a, b, crew);
    core_.transformRow(a, b, crew);
    writeRow(job, row, a, b, crew);
  }

  /// The numbers to be transformed, in `to`.
  void readRow(const Job& job, int64_t row, PlaneView<T> to, PlaneView<T> other, const FourierCrew<T>& crew) const {
    const T* x = job.x + plan_.x.rowAt(row, plan_.innerRows);
    if (!plan_.isRealOut())
      return crew.eachRange(points_, [&](int64_t begin, int64_t end) { readRange(job, x, begin, end, to); });
    const int64_t half = plan_.length / 2 + 1;
    const PlaneView<T> spectrum = halvesOut_ ? other : to;
    crew.eachRange(half, [&](int64_t begin, int64_t end) { readNumbers(job, x, begin, end, spectrum); });
    spectrum.im[0] = 0;
    if (halvesOut_) {
      spectrum.im[half - 1] = 0;
      crew.eachRange(points_, [&](int64_t begin, int64_t end) {
        core_.loops().pack(constant(spectrum), roots(), points_, begin, end, to.swapped());
      });
      return;
    }
    for (int64_t k = 1; k < half; ++k) {
      to.re[plan_.length - k] = to.re[k];
      to.im[plan_.length - k] = -to.im[k];
    }
    std::swap_ranges(to.re, to.re + plan_.length, to.im);
  }

  void readRange(const Job& job, const T* x, int64_t begin, int64_t end, PlaneView<T> to) const {
    if (!halvesIn_) return readNumbers(job, x, begin, end, plan_.inverse ? to.swapped() : to);
    const int64_t step = plan_.x.step, pairs = plan_.given / 2, last = std::clamp(pairs, begin, end);
    const T* window = job.window ? job.window + 2 * begin : nullptr;
    core_.loops().read(x + 2 * begin * step, {2 * step, step}, window, {2, 1}, last - begin, to.from(begin));
    fillZero(to, last, end);
    if (plan_.given % 2 == 0 || pairs < begin || pairs >= end) return;
    to.re[pairs] = x[2 * pairs * step] * (job.window ? job.window[2 * pairs] : T(1));
  }
  /// Numbers [begin, end) of the row, zeros behind those that are given.
  void readNumbers(const Job& job, const T* x, int64_t begin, int64_t end, PlaneView<T> to) const {
    const int64_t step = plan_.x.step, last = std::clamp(plan_.given, begin, end);
    const T* window = job.window ? job.window + begin : nullptr;
    if (plan_.isRealIn()) {
      core_.loops().readReal(x + begin * step, step, window, last - begin, to.re + begin);
      std::fill(to.im + begin, to.im + last, T(0));
    } else {
      core_.loops().read(x + begin * step, {step, 1}, window, {1, 0}, last - begin, to.from(begin));
    }
    fillZero(to, last, end);
  }
  static void fillZero(PlaneView<T> to, int64_t begin, int64_t end) {
    std::fill(to.re + begin, to.re + end, T(0));
    std::fill(to.im + begin, to.im + end, T(0));
  }

  void writeRow(const Job& job, int64_t row, PlaneView<T> from, PlaneView<T> other, const FourierCrew<T>& crew) const {
    T* y = job.y + plan_.y.rowAt(row, plan_.innerRows);
    const T scale = plan_.inverse ? T(1) / static_cast<T>(plan_.length) : T(1);
    const int64_t step = plan_.y.step;
    if (halvesIn_) return writeHalves(y, from, other, crew);
    const PlaneView<T> result = plan_.inverse ? from.swapped() : from;
    const int64_t count = halvesOut_ ? points_ : plan_.results;
    crew.eachRange(count, [&](int64_t begin, int64_t end) {
      if (plan_.isRealOut() && !halvesOut_)
        core_.loops().writeReal(result.re + begin, scale, end - begin, y + begin * step, step);
      else
        core_.loops().write(constant(result.from(begin)), scale, end - begin,
                            y + begin * (halvesOut_ ? 2 * step : step),
                            halvesOut_ ? NumberPlaces{2 * step, step} : NumberPlaces{step, 1});
    });
  }
  /// Half a spectrum of a real row, and its mirror image if that is wanted too.
  void writeHalves(T* y, PlaneView<T> from, PlaneView<T> other, const FourierCrew<T>& crew) const {
    const int64_t step = plan_.y.step;
    crew.eachRange(points_ + 1, [&](int64_t begin, int64_t end) {
      core_.loops().unpack(constant(from), roots(), points_, begin, end, other);
      core_.loops().write(constant(other.from(begin)), T(1), end - begin, y + begin * step, {step, 1});
      if (plan_.onesided) return;
      for (int64_t k = std::max<int64_t>(begin, 1); k < std::min(end, points_); ++k) {
        T* const mirrored = y + (plan_.length - k) * step;
        mirrored[0] = other.re[k];
        mirrored[1] = -other.im[k];
      }
    });
  }

  FourierPlan plan_;
  size_t threads_;
  bool along_ = false;                         // neighbouring rows are transformed as columns
  bool halvesIn_ = false, halvesOut_ = false;  // a real row of x or y is one of half as many complex numbers
  int64_t points_ = 1;
  bool shares_ = false;  // all threads work on one row
  Planes<T> halfRoots_;
  FourierCore<T> core_;
  int64_t ends_[kParts] = {};
};

class TransformCpu final : public cpu::CpuKernel {
 public:
  TransformCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<FourierTransformParams>()) {}

  bool plansNothing() const override { return false; }
  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    return doubles_ ? doubles_->scratchBytes() : floats_ ? floats_->scratchBytes() : size_t{0};
  }
  Status onResize(TensorList inputs, TensorList) override { return plan(inputs); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (std::is_same_v<T, float>)
        runAs<T>(floats_, inputs, outputs);
      else
        runAs<T>(doubles_, inputs, outputs);
    });
    return Status::ok();
  }

 private:
  Status plan(TensorList inputs) {
    const TensorDesc& x = inputs[0]->desc;
    OPKIT_ASSIGN(const FourierPlan plan, planFourier(params_, inputs));
    if (planned_ && *planned_ == std::pair(x, plan.length)) return Status::ok();
    floats_.reset();
    doubles_.reset();
    if (plan.rows() > 0 && x.dtype == DType::Float64)
      doubles_.emplace(plan, pool_);
    else if (plan.rows() > 0)
      floats_.emplace(plan, pool_);
    planned_.emplace(x, plan.length);
    return Status::ok();
  }
  template <class T>
  void runAs(const std::optional<FourierCpu<T>>& transforms, TensorList inputs, TensorList outputs) {
    if (!transforms) return;
    const T* window = has(inputs, 1) ? inputs[1]->data<T>().data() : nullptr;
    transforms->run(pool_, inputs[0]->data<T>().data(), window, outputs[0]->data<T>().data(),
                    reinterpret_cast<T*>(cpu::scratchFloats(scratch())));
  }

  FourierTransformParamsT params_;
  std::optional<std::pair<TensorDesc, int64_t>> planned_;  // x and the length of a transform
  std::optional<FourierCpu<float>> floats_;
  std::optional<FourierCpu<double>> doubles_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "FourierTransform", cpu::creatorOf<TransformCpu>(cpu::supportsAll, cpu::kWideFloats));
}

}  // namespace opkit::ops::dft
