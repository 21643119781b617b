#include "engine/backend/cpu/vector_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/backend/cpu/parallel.h"

namespace opkit::cpu {
namespace {

std::vector<float> randomRow(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> row(static_cast<size_t>(count));
  for (float& value : row) value = static_cast<float>(random() % 2000) * 0.01f - 10.0f;
  return row;
}

/// Lengths around every vector width and unrolled block.
const std::vector<int64_t> kLengths = {0, 1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 67, 130};

TEST(VectorOps, FoldsAgreeWithPlainLoops) {
  for (const int64_t n : kLengths) {
    const std::vector<float> x = randomRow(n, static_cast<uint32_t>(n));
    double sum = 0, absolute = 0, square = 0, deviation = 0;
    float largest = -INFINITY, smallest = INFINITY;
    for (const float value : x) {
      sum += value;
      absolute += std::fabs(value);
      square += static_cast<double>(value) * value;
      deviation += (value - 0.25) * (value - 0.25);
      largest = std::max(largest, value);
      smallest = std::min(smallest, value);
    }
    EXPECT_NEAR(sumOf(x.data(), n), sum, 1e-9) << n;
    EXPECT_NEAR(absoluteSumOf(x.data(), n), absolute, 1e-9) << n;
    EXPECT_NEAR(squareSumOf(x.data(), n), square, 1e-8) << n;
    EXPECT_NEAR(deviationOf(x.data(), 0.25, n), deviation, 1e-8) << n;
    EXPECT_EQ(maxOf(x.data(), n), largest) << n;
    EXPECT_EQ(minOf(x.data(), n), smallest) << n;
  }
}

TEST(VectorOps, ANanWinsWhereverItStands) {
  for (size_t at = 0; at < 37; ++at) {
    std::vector<float> x = randomRow(37, 1);
    x[at] = NAN;
    EXPECT_TRUE(std::isnan(maxOf(x.data(), 37))) << at;
    EXPECT_TRUE(std::isnan(minOf(x.data(), 37))) << at;
    std::vector<float> y(37, 100.0f);
    maxTo(x.data(), y.data(), 37);
    EXPECT_TRUE(std::isnan(y[at]));
    EXPECT_EQ(y[(at + 1) % 37], 100.0f);
  }
}

TEST(VectorOps, WritesExactlyTheRow) {
  for (const int64_t n : kLengths) {
    const std::vector<float> x = randomRow(n, 2);
    std::vector<float> y(static_cast<size_t>(n) + 1, 7.0f);
    affine(x.data(), 3.0f, 2.0f, 1.0f, y.data(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_FLOAT_EQ(y[static_cast<size_t>(i)], (x[static_cast<size_t>(i)] - 3) * 2 + 1);
    EXPECT_EQ(y.back(), 7.0f) << n;
    const float total = expOf(x.data(), 10.0f, y.data(), n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double expected = std::exp(static_cast<double>(x[static_cast<size_t>(i)]) - 10.0);
      EXPECT_NEAR(y[static_cast<size_t>(i)], expected, 3e-6 * expected);  // x - shift is rounded, too
      sum += expected;
    }
    EXPECT_NEAR(total, sum, 1e-5 * sum);
    EXPECT_EQ(y.back(), 7.0f) << n;
  }
}

TEST(VectorOps, TransposesEveryShape) {
  for (const int64_t rows : kLengths) {
    for (const int64_t columns : kLengths) {
      const std::vector<float> x = randomRow(rows * columns, 3);
      for (const int64_t yRow : {rows, rows + 3}) {
        std::vector<float> y(static_cast<size_t>(columns * yRow), 7.0f);
        transpose(x.data(), columns, rows, columns, y.data(), yRow);
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t i = 0; i < yRow; ++i)
            ASSERT_EQ(y[static_cast<size_t>(j * yRow + i)], i < rows ? x[static_cast<size_t>(i * columns + j)] : 7.0f)
                << rows << "x" << columns << ", column " << j << ", row " << i;
      }
    }
  }
}

TEST(VectorOps, HalvesWidenExactlyAndRoundToEven) {
  std::vector<Half> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<uint16_t>(i);
  std::vector<float> floats(halves.size());
  widenHalves(halves.data(), floats.data(), static_cast<int64_t>(halves.size()));
  for (size_t i = 0; i < halves.size(); ++i) {
    const float expected = toFloat(halves[i]);
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(floats[i])
                                     : std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(floats[i]))
        << i;
  }
  // Every half, its neighbours, the ties between halves and the neighbours of those; then the ends of the range.
  std::vector<float> values;
  for (size_t i = 0; i < halves.size(); ++i) {
    const float tie = static_cast<float>((static_cast<double>(floats[i]) + floats[(i + 1) % halves.size()]) / 2);
    for (const float at : {floats[i], tie})
      for (const float to : {at, -INFINITY, INFINITY}) values.push_back(std::nextafter(at, to));
  }
  for (const float at : {1e-8f, 2.98e-8f, 65519.9f, 65520.0f, 1e38f, INFINITY, NAN, 1e-45f}) {
    values.push_back(at);
    values.push_back(-at);
  }
  std::vector<Half> rounded(values.size());
  roundToHalves(values.data(), rounded.data(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]))
      EXPECT_TRUE(std::isnan(toFloat(rounded[i])));
    else
      EXPECT_EQ(rounded[i].bits, toHalf(values[i]).bits) << values[i];
  }
}

TEST(VectorOps, ClampsKeepNaN) {
  for (const int64_t n : kLengths) {
    std::vector<float> y = randomRow(n, 3), expected = y;
    for (float& value : expected) value = std::clamp(value, -2.5f, 4.0f);
    if (n > 0) y.back() = expected.back() = NAN;
    clampTo(-2.5f, 4.0f, y.data(), n);
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_TRUE(y[i] == expected[i] || (std::isnan(y[i]) && std::isnan(expected[i]))) << n << " at " << i;
  }
}

TEST(Parallel, RangesAndRowsCoverEverythingOnce) {
  for (const size_t threads : {1, 3}) {
    ThreadPool pool(threads);
    for (const int64_t count : {0, 1, 15, 100, 70000}) {
      std::vector<int> seen(static_cast<size_t>(count), 0);
      parallelRanges(pool, count, 16, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      parallelRows(pool, count, 1000, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 2), count) << threads;
    }
  }
}

TEST(Parallel, RunsWalkBroadcastLoopsFromAnywhere) {
  const Loops loops = loopsOver({3, 4, 5}, {{3, 1, 5}, {4, 1}});
  std::vector<std::pair<int64_t, int64_t>> expected;
  for (int64_t i = 0; i < 60; ++i) expected.emplace_back(i / 20 * 5 + i % 5, i / 5 % 4);
  for (const int64_t begin : {0, 1, 7, 20, 59}) {
    std::vector<std::pair<int64_t, int64_t>> seen;
    forEachRun<2>(loops, begin, 60, [&](int64_t first, const auto& at, int64_t count, const auto& strides) {
      EXPECT_EQ(first, begin + static_cast<int64_t>(seen.size()));
      for (int64_t i = 0; i < count; ++i) seen.emplace_back(at[0] + i * strides[0], at[1] + i * strides[1]);
    });
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), expected.begin() + begin, expected.end())) << begin;
  }
}

TEST(VectorOps, TransposesBlocksAndTheirEdges) {
  for (const int64_t rows : {1, 4, 7, 16})
    for (const int64_t columns : {1, 3, 8, 13}) {
      const int64_t xRow = columns + 2, yRow = rows + 3;
      std::vector<float> x(static_cast<size_t>(rows * xRow)), y(static_cast<size_t>(columns * yRow), -1.0f);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
      transpose(x.data(), xRow, rows, columns, y.data(), yRow);
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < yRow; ++i)
          ASSERT_EQ(y[static_cast<size_t>(j * yRow + i)], i < rows ? static_cast<float>(i * xRow + j) : -1.0f)
              << rows << " x " << columns;
    }
}

}  // namespace
}  // namespace opkit::cpu
