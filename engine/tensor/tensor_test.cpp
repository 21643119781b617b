#include "engine/tensor/tensor.h"
#include "engine/tensor/objects.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opkit {
namespace {

TEST(DType, NamesRoundTrip) {
  for (int value = 1; isValidDType(value); ++value) {
    const auto dtype = static_cast<DType>(value);
    EXPECT_EQ(dtypeFromName(nameOf(dtype)), dtype);
  }
  EXPECT_FALSE(dtypeFromName("float"));
  EXPECT_FALSE(isValidDType(0));
}

TEST(Half, EveryValueRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const float value = toFloat(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(toFloat(toHalf(value)))) << bits;
    else
      EXPECT_EQ(toHalf(value).bits, bits);
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(toHalf(1.0 + 0x1p-11).bits, toHalf(1.0).bits);  // tie goes to even
  EXPECT_EQ(toHalf(1.0 + 0x1p-11 + 0x1p-30).bits, toHalf(1.0).bits + 1);
  EXPECT_EQ(toHalf(1.0 + 3 * 0x1p-11).bits, toHalf(1.0).bits + 2);
  EXPECT_EQ(toHalf(65519.0).bits, 0x7BFF);
  EXPECT_EQ(toHalf(65520.0).bits, 0x7C00);
  EXPECT_EQ(toHalf(0x1p-25).bits, 0);  // tie with zero
  EXPECT_EQ(toHalf(0x1.8p-25).bits, 1);
  EXPECT_EQ(toHalf(-0.0).bits, 0x8000);
}

TEST(Shape, BroadcastsLikeNumPy) {
  EXPECT_EQ(*broadcastShapes({8, 1, 6, 1}, {7, 1, 5}), (Shape{8, 7, 6, 5}));
  EXPECT_EQ(*broadcastShapes({}, {3}), Shape{3});
  EXPECT_EQ(*broadcastShapes({0}, {1}), Shape{0});
  EXPECT_FALSE(broadcastShapes({2}, {3}));
  EXPECT_EQ(broadcastStrides({7, 1, 5}, {8, 7, 6, 5}), (std::vector<int64_t>{0, 5, 0, 1}));
}

TEST(Shape, RefusesNegativeAndHuge) {
  EXPECT_TRUE(checkShape({0, 5}).isOk());
  EXPECT_FALSE(checkShape({-1}).isOk());
  EXPECT_FALSE(checkShape({int64_t{1} << 21, int64_t{1} << 21}).isOk());
  EXPECT_FALSE(checkShape({int64_t{1} << 62, 0, int64_t{1} << 62}).isOk());
}

TEST(Shape, NormalisesAxes) {
  EXPECT_EQ(*normalizeAxis(-1, 3), 2);
  EXPECT_EQ(normalizeAxis(3, 3).error().message(), "axis must be in [-3, 2], got 3");
}

TEST(Shape, VisitsIndicesInRowMajorOrder) {
  std::vector<Shape> seen;
  forEachIndex({2, 2}, [&](const auto& index) { seen.push_back(index); });
  EXPECT_EQ(seen, (std::vector<Shape>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  forEachIndex({2, 0}, [&](const auto&) { FAIL(); });
}

TEST(TensorDesc, TextRoundTrips) {
  for (const char* text : {"f32[]", "i64[3]", "bool[1,0,2]", "f16[?,3]"}) {
    ASSERT_TRUE(parseTensorDesc(text)) << text;
    EXPECT_EQ(parseTensorDesc(text)->toString(), text);
  }
  for (const char* text : {"", "f32", "f32[", "f32[1,]", "f32[-1]", "x[1]", "f32[1;2]"})
    EXPECT_FALSE(parseTensorDesc(text)) << text;
}

TEST(Tensor, ConvertsBetweenDTypes) {
  const Tensor from = *Tensor::fromValues<float>({DType::Float32, {4}}, {0.0f, 1.5f, -2.0f, 65536.0f});
  const Tensor half = *Tensor::onHost({DType::Float16, {4}});
  convertElements(from, half);
  EXPECT_EQ(toFloat(half.data<Half>()[1]), 1.5f);
  EXPECT_TRUE(std::isinf(toFloat(half.data<Half>()[3])));
  const Tensor truth = *Tensor::onHost({DType::Bool, {4}});
  convertElements(from, truth);
  EXPECT_EQ(toInt64(truth), (std::vector<int64_t>{0, 1, 1, 1}));
}

/// The definition of the layout, element by element.
TEST(Layout, EveryPairConvertsAndPadsWithZero) {
  const TensorDesc desc{DType::Float32, {2, 6, 3, 5}};
  std::vector<float> values(static_cast<size_t>(desc.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  const Tensor plain = *Tensor::fromValues(desc, values);
  const auto stored = [&](Layout layout, DType dtype) {
    Tensor tensor = *Tensor::onHost({DType::UInt8, {storedElements(desc.shape, layout) * 4}});
    tensor.desc = {dtype, desc.shape};
    tensor.layout = layout;
    std::fill(tensor.bytes().begin(), tensor.bytes().end(), std::byte{0x55});
    return tensor;
  };
  const Tensor packed = stored(Layout::NC4HW4, DType::Float16);
  convertElements(plain, packed);
  ASSERT_EQ(packed.data<Half>().size(), 2u * 8 * 15);
  EXPECT_EQ(toFloat(packed.data<Half>()[60 + 4 + 1]), values[5 * 15 + 1]);  // second block, pixel 1, channel 5
  EXPECT_EQ(packed.data<Half>()[60 + 4 + 2].bits, 0);                       // channel 6 does not exist
  const Tensor back = *Tensor::onHost(desc);
  convertElements(packed, back);
  EXPECT_EQ(std::vector<float>(back.data<float>().begin(), back.data<float>().end()), values);
}

TEST(Objects, DescribeThemselvesAndTheirParts) {
  const Tensor two = *Tensor::fromValues<float>({DType::Float32, {2}}, {1, 2});
  const Tensor words = stringTensor({1, 2}, {"a", "b"});
  const Tensor sequence = sequenceOf({two, words}), maybe = optionalOf(sequence);
  EXPECT_EQ(describe(maybe), "optional[sequence[f32[2], string[1,2]]]");
  const std::vector<Leaf> leaves = leavesOf(maybe);
  ASSERT_EQ(leaves.size(), 2u);
  EXPECT_EQ(leaves[1].place, "[0][1]");
  EXPECT_EQ(stringsOf(leaves[1].tensor)[1], "b");
  EXPECT_EQ(describe(*copyOf(maybe)), describe(maybe));
  EXPECT_EQ(maybe.sizeBytes(), 0u);
}

TEST(Objects, NewOnesAreEmpty) {
  EXPECT_EQ(describe(*Tensor::onHost({DType::Sequence, {3}})), "sequence[]");
  EXPECT_EQ(describe(*Tensor::onHost({DType::Optional, {1}})), "optional[]");
  EXPECT_EQ(stringsOf(*Tensor::onHost({DType::String, {2}})), std::vector<std::string>(2));
}

}  // namespace
}  // namespace opkit
