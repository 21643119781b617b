// Det on the CPU, in double: elimination with the largest pivot of each column, kPanel columns at a time, so that the
// rest of the matrix is read once per panel. Threads share the matrices of a batch, or the rows of a few large ones.
#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/det/det_parts.h"
#include "ops/det/det_rows.h"

namespace opkit::ops::det {
namespace {

constexpr int64_t kLarge = 192;  // rows of a matrix that are worth all threads

/// `eachRows(begin, body)` calls body(from, to) for parts of the rows from `begin` on.
template <class EachRows>
double determinant(const Elimination& loops, double* a, int64_t n, const EachRows& eachRows) {
  PivotProduct product;
  for (int64_t first = 0; first < n; first += kPanel) {
    loops.panel(a, n, first, product);
    if (first + kPanel < n)
      eachRows(first + kPanel, [&](int64_t from, int64_t to) { loops.rows(a, n, first, from, to); });
  }
  return product.value();
}

class DetCpu final : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

  Status onResize(TensorList inputs, TensorList outputs) override {
    n_ = inputs[0]->desc.shape.back();
    const int64_t matrices = outputs[0]->desc.elements();
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    sharesRows_ = matrices < threads && (n_ >= kLarge || pool_.splitsAll());
    spaces_.resize(static_cast<size_t>((sharesRows_ ? 1 : threads) * n_ * n_));
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      run(inputs[0]->data<T>().data(), outputs[0]->data<T>().data(), outputs[0]->desc.elements());
    });
    return Status::ok();
  }

 private:
  template <class T>
  void run(const T* x, T* y, int64_t matrices) {
    if (sharesRows_) {
      const auto shared = [&](int64_t begin, const auto& body) {
        const int64_t grain = cpu::kGrainElements / (kPanel * (n_ - begin)) + 1;
        cpu::parallelRanges(pool_, n_ - begin, grain,
                            [&](int64_t from, int64_t to) { body(begin + from, begin + to); });
      };
      for (int64_t i = 0; i < matrices; ++i) y[i] = static_cast<T>(one(x, i, 0, shared));
      return;
    }
    const auto alone = [&](int64_t begin, const auto& body) { body(begin, n_); };
    const int64_t work = std::max<int64_t>(n_ * n_ * (n_ / 2 + 1), 1);
    const int64_t perTask = pool_.splitsAll() ? 1 : std::max<int64_t>(2 * cpu::kGrainElements / work, 1);
    const auto task = [&](size_t index, size_t thread) {
      const int64_t begin = static_cast<int64_t>(index) * perTask;
      for (int64_t i = begin; i < std::min(begin + perTask, matrices); ++i)
        y[i] = static_cast<T>(one(x, i, thread, alone));
    };
    pool_.parallelFor(static_cast<size_t>((matrices + perTask - 1) / perTask), std::ref(task));
  }

  template <class T, class EachRows>
  double one(const T* x, int64_t matrix, size_t space, const EachRows& eachRows) {
    const int64_t size = n_ * n_;
    double* a = spaces_.data() + static_cast<int64_t>(space) * size;
    std::copy_n(x + matrix * size, size, a);
    return determinant(loops_, a, n_, eachRows);
  }

  const Elimination loops_ = eliminationOf();
  int64_t n_ = 0;
  bool sharesRows_ = false;
  std::vector<double> spaces_;  // one matrix per thread, or one alone
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Det", cpu::creatorOf<DetCpu>(cpu::supportsAll, cpu::kWideFloats));
}

}  // namespace opkit::ops::det
