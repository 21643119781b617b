#include "engine/backend/cpu/row_kernel.h"

#include <gtest/gtest.h>

namespace opkit::cpu {
namespace {

struct List {
  explicit List(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) tensors.push_back({{DType::Float32, shape}, nullptr});
    for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
  }

  std::vector<Tensor> tensors;
  std::vector<const Tensor*> pointers;
};

RowSplit elementwise(const std::vector<Shape>& inputs, const Shape& output) {
  return elementwiseRows(List(inputs).pointers, List({output}).pointers);
}

using Axes = std::vector<size_t>;

TEST(RowKernel, EqualShapesAreRowsOfOneElement) {
  const RowSplit split = elementwise({{2, 3}, {2, 3}}, {2, 3});
  EXPECT_EQ(split.outputAxes, 2u);
  EXPECT_EQ(split.inputAxes, (Axes{2, 2}));
}

TEST(RowKernel, ARepeatedOperandIsReadWhole) {
  const RowSplit trailing = elementwise({{2, 3, 4}, {4}}, {2, 3, 4});
  EXPECT_EQ(trailing.outputAxes, 2u);
  EXPECT_EQ(trailing.inputAxes, (Axes{2, 0}));
  const RowSplit scalar = elementwise({{}, {2, 3}}, {2, 3});
  EXPECT_EQ(scalar.outputAxes, 2u);
  EXPECT_EQ(scalar.inputAxes, (Axes{0, 2}));
  const RowSplit inner = elementwise({{2, 3, 4}, {2, 1, 4}}, {2, 3, 4});
  EXPECT_EQ(inner.outputAxes, 1u);
  EXPECT_EQ(inner.inputAxes, (Axes{1, 1}));
}

TEST(RowKernel, OuterProductsHaveRowsOfTheFirst) {
  const RowSplit split = elementwise({{5, 1}, {1, 7}}, {5, 7});
  EXPECT_EQ(split.outputAxes, 1u);
  EXPECT_EQ(split.inputAxes, (Axes{1, 0}));
}

TEST(RowKernel, AScalarDoesNotFallApart) { EXPECT_EQ(elementwise({{}, {}}, {}).outputAxes, 0u); }

TEST(RowKernel, ChannelsAreRowsOfOneImage) {
  const List one({{1, 8, 4, 4}, {8}}), more({{3, 8, 4, 4}, {8}}), vector({{8}, {1}});
  EXPECT_EQ(channelRows(one.pointers).outputAxes, 2u);
  EXPECT_EQ(channelRows(one.pointers).inputAxes, (Axes{2, 1}));
  EXPECT_EQ(channelRows(more.pointers).outputAxes, 1u);
  EXPECT_EQ(channelRows(more.pointers).inputAxes, (Axes{1, 0}));
  EXPECT_EQ(channelRows(vector.pointers).inputAxes, (Axes{1, 0}));
}

}  // namespace
}  // namespace opkit::cpu
