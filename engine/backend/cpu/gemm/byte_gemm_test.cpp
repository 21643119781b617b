#include "engine/backend/cpu/gemm/byte_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/backend/cpu/gemm/byte_gemm_kernel.h"
#include "engine/tensor/tensor.h"

namespace opkit::cpu::bytes {
namespace {

/// Bytes aligned to 64.
Tensor aligned(int64_t count) { return *Tensor::onHost({DType::UInt8, {std::max<int64_t>(count, 1)}}); }
uint8_t* at(const Tensor& tensor) { return tensor.data<uint8_t>().data(); }

std::vector<uint8_t> randomBytes(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = random() % 4 == 0 ? 0x80 : static_cast<uint8_t>(random());
  return bytes;
}
std::vector<int32_t> randomZeroPoints(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (int32_t& value : values) value = static_cast<int32_t>(random() % 128);
  return values;
}
int32_t valueOf(uint8_t byte, bool isSigned) { return isSigned ? static_cast<int8_t>(byte) : byte; }

enum class Form { Packed, Rows, Gathered };

enum class ZeroPoints { Own, Shared };

/// One product of random operands, and the sums of plain loops. Zero points: one per row and per column; or 0 for rows
/// and one for all columns.
struct Product {
  Product(const Dims& d, bool isSignedA, bool isSignedB, ZeroPoints zeroPoints = ZeroPoints::Own)
      : dims(d), signedA(isSignedA), signedB(isSignedB), a(randomBytes(d.m * d.k, 1)), b(randomBytes(d.k * d.n, 2)) {
    zeroA = randomZeroPoints(d.m, 3);
    zeroB = randomZeroPoints(d.n, 4);
    if (zeroPoints == ZeroPoints::Shared) {
      std::ranges::fill(zeroA, 0);
      std::ranges::fill(zeroB, 77);
      step = 0;
    }
    for (int64_t i = 0; i < d.m; ++i)
      for (int64_t j = 0; j < d.n; ++j) expected.push_back(sumOf(i, j));
    for (int32_t& zero : zeroA) zero += leftOffset(isSignedA);
    for (int32_t& zero : zeroB) zero += rightOffset(isSignedB);
    for (int64_t p = 0; p < d.k; ++p) offsets.push_back(p * d.n);
  }
  int32_t sumOf(int64_t i, int64_t j) const {
    int32_t sum = 0;
    for (int64_t p = 0; p < dims.k; ++p)
      sum += (valueOf(a[static_cast<size_t>(i * dims.k + p)], signedA) - zeroA[static_cast<size_t>(i)]) *
             (valueOf(b[static_cast<size_t>(p * dims.n + j)], signedB) - zeroB[static_cast<size_t>(j)]);
    return sum;
  }

  /// The product by run(); `finish` completes the problem, which has C.
  template <class Finish>
  void run(Form form, ThreadPool& pool, const Finish& finish) {
    left = aligned(packedLeftBytes(dims.m, dims.k));
    packLeft({a.data(), dims.k, signedA}, 1, dims.m, dims.k, at(left), &pool);
    Problem problem{.left = at(left),
                    .right = {.data = b.data(), .isSigned = signedB, .depthStride = dims.n},
                    .leftZeroPoint = {zeroA.data(), 1},
                    .rightZeroPoint = {zeroB.data(), step},
                    .cRowStride = dims.n};
    if (form == Form::Packed) {
      packed = aligned(packedRightBytes(dims.k, dims.n));
      packRight(problem.right, dims.k, dims.n, at(packed));
      problem.right = {.data = at(packed), .packed = true};
    } else if (form == Form::Gathered) {
      problem.right.depthOffsets = offsets.data();
      problem.right.runLength = 7;  // runs that follow each other: the same matrix
      problem.right.runStride = 7;
    }
    finish(problem);
    const Plan plan(dims, 1, form == Form::Packed, pool);
    const Tensor workspace = aligned(plan.workspaceBytes());
    bytes::run(plan, {&problem, 1}, at(workspace), pool);
  }

  Dims dims;
  bool signedA, signedB;
  int64_t step = 1;  // between zero points of columns
  std::vector<uint8_t> a, b;
  std::vector<int32_t> zeroA, zeroB, expected;
  std::vector<int64_t> offsets;
  Tensor left, packed;
};

const Dims kDims[] = {{1, 1, 1},   {5, 7, 3},    {8, 48, 4},    {9, 49, 5},    {6, 16, 64},  {13, 100, 33},
                      {4, 8, 130}, {31, 95, 17}, {70, 200, 9},  {3, 5, 0},     {0, 5, 3},    {3, 0, 5},
                      {1, 300, 7}, {300, 1, 70}, {64, 33, 300}, {33, 97, 129}, {500, 17, 64}};

class ByteGemm : public ::testing::TestWithParam<Instructions> {
 protected:
  void SetUp() override { setBest(GetParam()); }
  void TearDown() override { setBest(Instructions::Tiles); }
};

TEST_P(ByteGemm, SumsAreThoseOfPlainLoops) {
  ThreadPool pool(3);
  for (const Dims& dims : kDims)
    for (const bool signedA : {false, true})
      for (const bool signedB : {false, true})
        for (const ZeroPoints zeroPoints : {ZeroPoints::Own, ZeroPoints::Shared})
          for (const Form form : {Form::Packed, Form::Rows, Form::Gathered}) {
            Product product(dims, signedA, signedB, zeroPoints);
            std::vector<int32_t> c(product.expected.size(), -1);
            product.run(form, pool, [&](Problem& problem) { problem.c = c.data(); });
            ASSERT_EQ(c, product.expected) << dims.m << "x" << dims.n << "x" << dims.k << " " << signedA << signedB
                                           << " form " << static_cast<int>(form);
          }
}

/// The bytes that plain arithmetic makes of the sums.
void expectRequantised(const Dims& dims, ZeroPoints zeroPoints, int64_t columnStep, bool isSigned, int32_t zero) {
  ThreadPool pool(2);
  Product product(dims, true, false, zeroPoints);
  std::vector<float> rows(static_cast<size_t>(dims.m)), columns(static_cast<size_t>(dims.n));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = 0.01f + 0.001f * static_cast<float>(i % 50);
  for (size_t j = 0; j < columns.size(); ++j) columns[j] = 0.02f - 0.0001f * static_cast<float>(j % 100);
  std::vector<int32_t> bias(rows.size(), 1000);
  std::vector<uint8_t> y(product.expected.size());
  product.run(Form::Rows, pool, [&](Problem& problem) {
    problem.y = y.data();
    problem.bias = {bias.data(), 1};
    problem.requantization = {{rows.data(), 1}, {columns.data(), columnStep}, 0.7f, zero, isSigned};
  });
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t n = columns.size();
    const float multiplier = rows[i / n] * columns[columnStep == 0 ? 0 : i % n] / 0.7f;
    const float scaled = static_cast<float>(product.expected[i] + 1000) * multiplier;
    const double whole = std::nearbyint(static_cast<double>(scaled)) + zero;
    ASSERT_EQ(valueOf(y[i], isSigned), std::clamp(whole, isSigned ? -128.0 : 0.0, isSigned ? 127.0 : 255.0))
        << i << " of " << dims.m << "x" << dims.n << "x" << dims.k << ", zero point " << zero;
  }
}

TEST_P(ByteGemm, Requantises) {
  for (const Dims& dims : {Dims{19, 101, 40}, Dims{13, 49, 5}, Dims{70, 1, 33}, Dims{1001, 6, 9}, Dims{5, 3, 64}})
    for (const ZeroPoints zeroPoints : {ZeroPoints::Own, ZeroPoints::Shared})
      for (const int64_t columnStep : {0, 1}) {
        for (const int32_t zero : {0, 11, 255}) expectRequantised(dims, zeroPoints, columnStep, false, zero);
        for (const int32_t zero : {-128, 0, 127}) expectRequantised(dims, zeroPoints, columnStep, true, zero);
      }
}

/// A scale may be anything: infinite products saturate, NaN gives the least byte.
TEST_P(ByteGemm, WildScalesSaturate) {
  ThreadPool pool(1);
  for (const bool isSigned : {false, true})
    for (const int64_t n : {2, 40}) {
      Product product({4, n, 8}, true, false, ZeroPoints::Shared);
      const std::vector<float> rows{INFINITY, -INFINITY, NAN, 3e38f}, columns(static_cast<size_t>(n), 1.0f);
      std::vector<uint8_t> y(product.expected.size());
      product.run(Form::Rows, pool, [&](Problem& problem) {
        problem.y = y.data();
        problem.requantization = {{rows.data(), 1}, {columns.data(), 0}, 1.0f, 0, isSigned};
      });
      const int32_t least = isSigned ? -128 : 0, greatest = isSigned ? 127 : 255;
      for (size_t i = 0; i < y.size(); ++i) {
        const float scaled = static_cast<float>(product.expected[i]) * rows[i / static_cast<size_t>(n)];
        ASSERT_EQ(valueOf(y[i], isSigned), std::isnan(scaled) || scaled < 0 ? least : scaled > 0 ? greatest : 0) << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Best, ByteGemm,
                         ::testing::Values(Instructions::Widened, Instructions::Vnni, Instructions::Tiles));

}  // namespace
}  // namespace opkit::cpu::bytes
