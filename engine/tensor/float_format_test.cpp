#include "engine/tensor/float_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opkit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DType kCoded[] = {DType::BFloat16,       DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2,
                            DType::Float8E5M2FNUZ, DType::Float8E8M0,   DType::Float4E2M1};

uint32_t codesOf(DType dtype) { return 1u << bitsOf(dtype); }

TEST(FloatFormat, EveryCodeRoundTrips) {
  for (const DType dtype : kCoded) {
    const FloatFormat& format = formatOf(dtype);
    for (uint32_t code = 0; code < codesOf(dtype); ++code) {
      const double value = decode(format, code);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode(format, encode(format, value)))) << nameOf(dtype) << " " << code;
      else
        EXPECT_EQ(encode(format, value), code) << nameOf(dtype);
    }
  }
}

// Largest numbers, least numbers and counts of NaN as the tables of ONNX's "Float stored in 8 bits" and OCP MX state
// them.
TEST(FloatFormat, LimitsAreThoseOfTheFormats) {
  struct Row {
    DType dtype;
    double largest, least;
    int nans;
    bool infinities;
  };
  constexpr Row kRows[] = {
      {DType::BFloat16, 0x1.FEp127, 0x1p-133, 254, true}, {DType::Float8E4M3FN, 448, 0x1p-9, 2, false},
      {DType::Float8E4M3FNUZ, 240, 0x1p-10, 1, false},    {DType::Float8E5M2, 57344, 0x1p-16, 6, true},
      {DType::Float8E5M2FNUZ, 57344, 0x1p-17, 1, false},  {DType::Float8E8M0, 0x1p127, 0x1p-127, 1, false}};
  for (const Row& row : kRows) {
    const FloatFormat& format = formatOf(row.dtype);
    double largest = 0, least = kInfinity;
    int nans = 0, infinities = 0;
    for (uint32_t code = 0; code < codesOf(row.dtype); ++code) {
      const double value = decode(format, code);
      nans += std::isnan(value);
      infinities += std::isinf(value);
      if (std::isfinite(value)) largest = std::max(largest, value);
      if (value > 0) least = std::min(least, value);
    }
    EXPECT_EQ(largest, row.largest) << nameOf(row.dtype);
    EXPECT_EQ(least, row.least) << nameOf(row.dtype);
    EXPECT_EQ(nans, row.nans) << nameOf(row.dtype);
    EXPECT_EQ(infinities, row.infinities ? 2 : 0) << nameOf(row.dtype);
  }
}

TEST(FloatFormat, RoundsToNearestEven) {
  for (const DType dtype : kCoded) {
    if (dtype == DType::Float8E8M0) continue;
    const FloatFormat& format = formatOf(dtype);
    for (uint32_t code = 0; code < format.largestCode(); ++code) {
      const double below = decode(format, code), above = decode(format, code + 1), tie = below + (above - below) / 2;
      EXPECT_EQ(encode(format, tie), code + code % 2) << nameOf(dtype);
      EXPECT_EQ(encode(format, std::nextafter(tie, 0)), code) << nameOf(dtype);
      EXPECT_EQ(encode(format, std::nextafter(tie, kInfinity)), code + 1) << nameOf(dtype);
    }
  }
}

TEST(FloatFormat, OverflowIsInfinityOrNaN) {
  EXPECT_EQ(decode(formatOf(DType::BFloat16), encode(formatOf(DType::BFloat16), 1e39)), kInfinity);
  EXPECT_EQ(decode(formatOf(DType::Float8E5M2), encode(formatOf(DType::Float8E5M2), -61440)), -kInfinity);
  EXPECT_EQ(decode(formatOf(DType::Float8E5M2), encode(formatOf(DType::Float8E5M2), 61439)), 57344);
  EXPECT_EQ(encode(formatOf(DType::Float8E4M3FN), 464), 0x7Eu);
  EXPECT_EQ(encode(formatOf(DType::Float8E4M3FN), -465), 0xFFu);
  EXPECT_EQ(encode(formatOf(DType::Float8E4M3FNUZ), kInfinity), 0x80u);
  EXPECT_EQ(encode(formatOf(DType::Float8E5M2FNUZ), -1e-30), 0u);
}

TEST(FloatFormat, ScalesArePowersOfTwo) {
  const FloatFormat& format = formatOf(DType::Float8E8M0);
  EXPECT_EQ(encode(format, 1), 127u);
  EXPECT_EQ(encode(format, 1.4999), 127u);
  EXPECT_EQ(encode(format, 1.5), 128u);
  for (const double value : {0.0, -1.0, 0x1p-128, 0x1p128, kInfinity, std::nan("")})
    EXPECT_EQ(encode(format, value), 255u);
}

TEST(FloatFormat, ElementsConvert) {
  const Tensor floats = *Tensor::fromValues<float>({DType::Float32, {3}}, {1.5f, -0x1.01p0f, 3e38f});
  const Tensor brains = *Tensor::onHost({DType::BFloat16, {3}});
  convertElements(floats, brains);
  EXPECT_EQ(brains.data<uint16_t>()[0], 0x3FC0);
  EXPECT_EQ(readCoded(brains, 1), -1);
  const Tensor whole = *Tensor::onHost({DType::Int32, {3}});
  convertElements(brains, whole);
  EXPECT_EQ(whole.data<int32_t>()[0], 1);
  EXPECT_EQ(whole.data<int32_t>()[1], -1);
}

TEST(FloatFormat, FourBitsHoldNeitherInfinityNorNaN) {
  const FloatFormat& format = formatOf(DType::Float4E2M1);
  const double numbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t code = 0; code < 8; ++code) {
    EXPECT_EQ(decode(format, code), numbers[code]);
    EXPECT_EQ(decode(format, code + 8), -numbers[code]);
  }
  EXPECT_EQ(encode(format, kInfinity), 7u);
  EXPECT_EQ(encode(format, -1e30), 15u);
  EXPECT_EQ(encode(format, std::nan("")), 8u) << "-0";
  EXPECT_EQ(encode(format, 5), 6u) << "a tie goes to the even code";
}

TEST(PackedDTypes, ElementsShareBytesFromTheLowestBitsOn) {
  for (const DType dtype : {DType::Int4, DType::UInt4, DType::Int2, DType::UInt2, DType::Float4E2M1}) {
    const int64_t count = 7;
    const Tensor tensor = *Tensor::onHost({dtype, {count}});
    EXPECT_EQ(tensor.sizeBytes(), bitsOf(dtype) == 4 ? 4u : 2u);
    for (uint32_t i = 0; i < count; ++i) writeCode(tensor, i, i + 1);
    const uint32_t mask = (1u << bitsOf(dtype)) - 1;
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(readCode(tensor, i), (i + 1) & mask) << nameOf(dtype);
    EXPECT_EQ(tensor.bytes()[0], bitsOf(dtype) == 4 ? std::byte{0x21} : std::byte{0x39});
  }
  const Tensor four = *Tensor::onHost({DType::Int4, {2}}), two = *Tensor::onHost({DType::Int2, {2}});
  for (const auto& [value, kept] : {std::pair{-8.0, -8.0}, {7, 7}, {8, -8}, {-9, 7}, {3.9, 3}}) {
    writeCoded(four, 1, value);
    EXPECT_EQ(readCoded(four, 1), kept);
  }
  writeCoded(two, 0, -2);
  EXPECT_EQ(toInt64(two), (std::vector<int64_t>{-2, 0}));
}

}  // namespace
}  // namespace opkit
