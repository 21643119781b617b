#include "engine/backend/cpu/gemm/gemm.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/tensor/tensor.h"

namespace opkit::cpu::gemm {
namespace {

/// Floats aligned to 64 bytes.
Tensor floats(int64_t count) { return *Tensor::onHost({DType::Float32, {count}}); }
float* at(const Tensor& tensor) { return tensor.data<float>().data(); }

Tensor filled(int64_t count, auto&& next) {
  const Tensor tensor = floats(count);
  for (float& value : tensor.data<float>()) value = next();
  return tensor;
}

/// Small integers: every partial sum is exact in float, in any order.
Tensor integers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  return filled(count, [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4); });
}

Tensor reals(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  return filled(count, [&] { return values(random); });
}

enum class RightForm { Packed, Kept, Rows, Transposed, ShortRuns, LongRuns };
constexpr RightForm kRightForms[] = {RightForm::Packed,     RightForm::Kept,      RightForm::Rows,
                                     RightForm::Transposed, RightForm::ShortRuns, RightForm::LongRuns};

/// A[m,k] and B[k,n], both row-major, with everything that run() needs for each form.
struct Trial {
  Dims dims;
  Tensor a, b, other, packedA;
  std::vector<int64_t> offsets;
  Problem problem;
  bool isKept = false;

  Trial(const Dims& d, RightForm form, bool packLeftSide, bool transposedLeft, const Tensor& aValues,
        const Tensor& bValues)
      : dims(d), a(aValues), b(bValues) {
    problem.left = transposedLeft ? transposeLeft() : Left{at(a), dims.k, 1};
    if (packLeftSide) {
      packedA = floats(packedLeftFloats(dims.m, dims.k));
      packLeft(problem.left, dims.m, dims.k, at(packedA));
      problem.left = {at(packedA), 0, 0, true};
    }
    makeRight(form);
  }

  Left transposeLeft() {
    const Tensor copy = floats(dims.m * dims.k);
    for (int64_t i = 0; i < dims.m; ++i)
      for (int64_t p = 0; p < dims.k; ++p) at(copy)[p * dims.m + i] = at(a)[i * dims.k + p];
    a = copy;
    return {at(a), 1, dims.m};
  }

  void makeRight(RightForm form) {
    Right& right = problem.right;
    right = {.form = Right::Form::Strided, .data = at(b), .depthStride = dims.n, .columnStride = 1};
    if (form == RightForm::Packed) {
      other = floats(packedRightFloats(dims.k, dims.n));
      packRight(right, dims.k, dims.n, at(other));
      right = {.form = Right::Form::Packed, .data = at(other)};
    } else if (form == RightForm::Kept) {
      other = floats(packedRightFloats(dims.k, dims.n));
      keepRight(right, dims.k, dims.n, at(other));
      right = keptRight(at(other), dims.k, dims.n);
      isKept = true;
    } else if (form == RightForm::Transposed) {
      other = floats(dims.k * dims.n);
      for (int64_t p = 0; p < dims.k; ++p)
        for (int64_t j = 0; j < dims.n; ++j) at(other)[j * dims.k + p] = at(b)[p * dims.n + j];
      right = {.form = Right::Form::Strided, .data = at(other), .depthStride = 1, .columnStride = dims.k};
    } else if (form != RightForm::Rows) {
      gather(form == RightForm::ShortRuns ? 5 : 40);
    }
  }

  /// Rows of B cut into runs of `run` columns, with a gap of two floats.
  void gather(int64_t run) {
    const int64_t step = run + 2, rowFloats = (dims.n + run - 1) / run * step;
    other = filled(dims.k * rowFloats + kGatherSlack, [] { return std::numeric_limits<float>::quiet_NaN(); });
    for (int64_t p = 0; p < dims.k; ++p) {
      offsets.push_back(p * rowFloats);
      for (int64_t j = 0; j < dims.n; ++j) at(other)[offsets.back() + j / run * step + j % run] = at(b)[p * dims.n + j];
    }
    problem.right = {.form = Right::Form::Gathered,
                     .data = at(other),
                     .depthOffsets = offsets.data(),
                     .runLength = run,
                     .runStride = step,
                     .slack = dims.n % 2 == 0};
  }

  /// C of shape [m, n + 3], the last three columns poisoned and checked.
  std::vector<float> run(size_t threads = 1) {
    constexpr float kPoison = 12345.0f;
    const int64_t stride = dims.n + 3;
    const Tensor c = filled(dims.m * stride, [] { return kPoison; });
    problem.c = at(c);
    problem.cRowStride = stride;
    const Plan plan(dims, 1, isKept || problem.right.form == Right::Form::Packed, threads);
    const Tensor workspace = floats(plan.workspaceFloats());
    ThreadPool pool(threads);
    gemm::run(plan, {&problem, 1}, at(workspace), pool);
    std::vector<float> result;
    for (int64_t i = 0; i < dims.m; ++i) {
      for (int64_t j = 0; j < dims.n; ++j) result.push_back(at(c)[i * stride + j]);
      for (int64_t j = dims.n; j < stride; ++j) EXPECT_EQ(at(c)[i * stride + j], kPoison) << "wrote past row " << i;
    }
    return result;
  }

  std::vector<double> naive(bool magnitudes = false, const Tensor* left = nullptr) const {
    std::vector<double> result;
    const float* x = at(*left);
    const float* y = at(b);
    for (int64_t i = 0; i < dims.m; ++i) {
      for (int64_t j = 0; j < dims.n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < dims.k; ++p) {
          const double term = static_cast<double>(x[i * dims.k + p]) * y[p * dims.n + j];
          sum += magnitudes ? std::fabs(term) : term;
        }
        result.push_back(sum);
      }
    }
    return result;
  }
};

/// Integer operands of one size, their exact product, and the comparison in any form.
class ExactProduct {
 public:
  explicit ExactProduct(const Dims& dims)
      : dims_(dims), a_(integers(dims.m * dims.k, 1)), b_(integers(dims.k * dims.n, 2)) {
    expected_ = Trial(dims, RightForm::Rows, false, false, a_, b_).naive(false, &a_);
  }

  void expect(RightForm form, bool packLeftSide, bool transposedLeft, size_t threads) const {
    const std::vector<float> got = Trial(dims_, form, packLeftSide, transposedLeft, a_, b_).run(threads);
    ASSERT_EQ(got.size(), expected_.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], expected_[i]) << "element " << i << " of m=" << dims_.m << " n=" << dims_.n << " k=" << dims_.k
                                      << " form " << static_cast<int>(form) << " packed " << packLeftSide
                                      << transposedLeft;
  }

 private:
  Dims dims_;
  Tensor a_, b_;
  std::vector<double> expected_;
};

void expectExact(const Dims& dims, RightForm form, bool packLeftSide, bool transposedLeft, size_t threads) {
  ExactProduct(dims).expect(form, packLeftSide, transposedLeft, threads);
}

void expectExactInEveryForm(const Dims& dims) {
  const ExactProduct product(dims);
  for (const RightForm form : kRightForms)
    for (const bool packed : {false, true}) product.expect(form, packed, false, 1);
}

/// Runs every test once per instruction set that this machine and this build have.
class Gemm : public ::testing::TestWithParam<int64_t> {
 protected:
  Gemm() {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~Gemm() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(Gemm, ExactAroundEveryTileEdge) {
  const PanelShape panel = panelShape();
  std::vector<int64_t> rows = {0, 1, 2, panel.rows - 1, panel.rows, panel.rows + 1, 2 * panel.rows + 3};
  std::vector<int64_t> columns = {0, 1, 3, 5, 8, 9, panel.columns - 1, panel.columns, panel.columns + 1};
  columns.push_back(2 * panel.columns + 5);
  for (const int64_t m : rows)
    for (const int64_t n : columns)
      for (const int64_t k : {0, 1, 2, 19}) expectExactInEveryForm({m, n, k});
}

TEST_P(Gemm, ExactAroundEveryBlockEdge) {
  for (const RightForm form : kRightForms) {
    for (const int64_t k : {255, 256, 257, 513, 520}) expectExact({7, 35, k}, form, true, false, 1);
    for (const int64_t m : {239, 240, 241, 485}) expectExact({m, 17, 9}, form, true, false, 1);
    for (const int64_t n : {239, 240, 241, 500}) expectExact({9, n, 9}, form, false, false, 1);
    expectExact({97, 131, 300}, form, false, false, 3);
    expectExact({97, 131, 300}, form, true, false, 3);
  }
}

TEST_P(Gemm, ReadsATransposedLeftInPlace) {
  for (const int64_t m : {1, 5, 6, 8, 25}) {
    expectExact({m, 33, 11}, RightForm::Rows, false, true, 1);
    expectExact({m, 33, 11}, RightForm::Rows, true, true, 1);
  }
}

TEST_P(Gemm, ExactWithFewRowsOrColumns) {
  for (const int64_t k : {32, 35, 65})
    for (const int64_t few : {1, 2, 3, 4, 5, 8, 9, 24, 25})
      for (const Dims& dims : {Dims{few, 61, k}, Dims{61, few, k}}) {
        expectExactInEveryForm(dims);
        for (const RightForm form : kRightForms) expectExact(dims, form, false, true, 2);
      }
  expectExact({5000, 3, 40}, RightForm::Rows, false, true, 1);  // sums beyond the first-level cache
  expectExact({1, 5000, 40}, RightForm::Rows, false, false, 1);
}

void expectWithinTheBound(const Trial& trial, const Tensor& a, const std::vector<float>& got) {
  constexpr double kUnit = 0x1p-24;
  const std::vector<double> expected = trial.naive(false, &a), magnitude = trial.naive(true, &a);
  const auto depth = static_cast<double>(trial.dims.k);
  const double terms = std::min<double>(depth, 4 * std::sqrt(depth));
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::fabs(got[i] - expected[i]), kUnit * magnitude[i] * terms + 2 * kUnit * std::fabs(expected[i]));
}

TEST_P(Gemm, RandomWithinTheBoundAndAlikeOnAnyNumberOfThreads) {
  for (const Dims& dims : {Dims{33, 50, 1000}, Dims{1, 1000, 64}, Dims{200, 300, 65}, Dims{128, 1, 512}}) {
    const Tensor a = reals(dims.m * dims.k, 3);
    const Tensor b = reals(dims.k * dims.n, 4);
    std::vector<float> panels, first;
    for (const RightForm form : kRightForms) {
      for (const bool packed : {true, false}) {
        first = Trial(dims, form, packed, false, a, b).run(1);
        ASSERT_EQ(Trial(dims, form, packed, false, a, b).run(3), first) << "form " << static_cast<int>(form);
        if (panels.empty()) panels = first;
        ASSERT_TRUE(!packed || first == panels) << "form " << static_cast<int>(form);
        if (!packed) expectWithinTheBound(Trial(dims, form, packed, false, a, b), a, first);
      }
    }
  }
}

struct BiasForm {
  int64_t rowStride, columnStride;
};

TEST_P(Gemm, AppliesTheEpilogueOnce) {
  for (const int64_t k : {0, 9, 300}) {
    const Dims dims{9, 37, k};
    const Tensor a = integers(dims.m * k, 1);
    const Tensor b = integers(k * dims.n, 2);
    const Tensor bias = integers(dims.m * dims.n, 5);
    for (const BiasForm form : {BiasForm{0, 0}, BiasForm{0, 1}, BiasForm{1, 0}, BiasForm{dims.n, 1}}) {
      Trial trial(dims, RightForm::Rows, false, false, a, b);
      trial.problem.epilogue = {2.0f, 3.0f, at(bias), form.rowStride, form.columnStride, -20.0f, 50.0f};
      const std::vector<float> got = trial.run(2);
      const std::vector<double> product = trial.naive(false, &a);
      for (int64_t i = 0; i < dims.m; ++i) {
        for (int64_t j = 0; j < dims.n; ++j) {
          const auto e = static_cast<size_t>(i * dims.n + j);
          const double sum = 2 * product[e] + 3.0 * at(bias)[i * form.rowStride + j * form.columnStride];
          ASSERT_EQ(got[e], std::clamp(sum, -20.0, 50.0)) << "k " << k << " row " << i << " column " << j;
        }
      }
    }
  }
}

/// A packed left side has kernels of its own for few columns.
TEST_P(Gemm, GivesFewColumnsTheSameBits) {
  for (const int64_t m : {9, 16, 33, 72}) {
    for (const int64_t n : {1, 2, 3, 8, 9}) {
      const Dims dims{m, n, 300};
      const Tensor a = reals(m * dims.k, 3), b = reals(n * dims.k, 4), bias = reals(m * n, 5);
      const BiasForm form = m == 9 ? BiasForm{0, 1} : m == 33 ? BiasForm{n, 1} : BiasForm{1, 0};
      std::vector<float> results[2];
      for (const bool packed : {false, true}) {
        Trial trial(dims, RightForm::ShortRuns, packed, false, a, b);
        trial.problem.epilogue = {1.3f, 0.7f, at(bias), form.rowStride, form.columnStride, -8.0f, 5.0f};
        results[packed] = trial.run();
      }
      ASSERT_EQ(results[0], results[1]) << "m " << m << " n " << n;
    }
  }
}

TEST_P(Gemm, KeepsNaNAndInfinity) {
  const Tensor a = *Tensor::fromValues<float>({DType::Float32, {3}}, {NAN, INFINITY, 1.0f});
  const Tensor b = *Tensor::fromValues<float>({DType::Float32, {1}}, {2.0f});
  Trial trial({3, 1, 1}, RightForm::Rows, false, false, a, b);
  const std::vector<float> got = trial.run();
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], INFINITY);
  EXPECT_EQ(got[2], 2.0f);
}

TEST_P(Gemm, NeedsNoCopyOfALongOperand) {
  for (const Dims& dims : {Dims{16, 1 << 22, 64}, Dims{1, 1 << 22, 8}, Dims{200, 1 << 22, 8}})
    EXPECT_LE(Plan(dims, 1, true, 64).workspaceFloats(), int64_t{64} << 18) << dims.m << " x " << dims.n;
}

TEST_P(Gemm, RunsABatchOnOneWorkspace) {
  const Dims dims{20, 70, 33};
  constexpr int64_t kBatch = 6;
  const Tensor a = integers(kBatch * dims.m * dims.k, 1);
  const Tensor b = integers(kBatch * dims.k * dims.n, 2);
  const Tensor c = floats(kBatch * dims.m * dims.n);
  std::vector<Problem> problems(kBatch);
  for (int64_t i = 0; i < kBatch; ++i) {
    Problem& problem = problems[static_cast<size_t>(i)];
    problem.left = {at(a) + i * dims.m * dims.k, dims.k, 1};
    problem.right = {.data = at(b) + i * dims.k * dims.n, .depthStride = dims.n};
    problem.c = at(c) + i * dims.m * dims.n;
    problem.cRowStride = dims.n;
  }
  const Plan plan(dims, kBatch, false, 4);
  const Tensor workspace = floats(plan.workspaceFloats());
  ThreadPool pool(4);
  run(plan, problems, at(workspace), pool);
  for (int64_t i = 0; i < kBatch; ++i) {
    for (int64_t e = 0; e < dims.m * dims.n; ++e) {
      double sum = 0;
      for (int64_t p = 0; p < dims.k; ++p)
        sum += problems[static_cast<size_t>(i)].left.data[e / dims.n * dims.k + p] *
               problems[static_cast<size_t>(i)].right.data[p * dims.n + e % dims.n];
      ASSERT_EQ(at(c)[i * dims.m * dims.n + e], sum) << "batch " << i << " element " << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Gemm, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const ::testing::TestParamInfo<int64_t>& instance) {
                           return std::string(hwy::TargetName(instance.param));
                         });

}  // namespace
}  // namespace opkit::cpu::gemm
