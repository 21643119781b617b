// Codes that share bytes: GatherBlockQuantized, and MatMulNBits where its kernels do not take the node, against plain
// loops.
#include "engine/tensor/float_format.h"
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft {
namespace {

using features::floats;
using features::refusalOf;

/// Codes [..., columns] as a tensor: of a packed type, or as bytes of u8 that each row begins anew.
Tensor packedBlocks(DType dtype, Shape shape, const std::vector<int>& codes, int bits) {
  const int64_t columns = shape.back();
  if (dtype == DType::UInt8) shape.back() = (columns * bits + 7) / 8;
  Tensor tensor = *Tensor::onHost({dtype, shape});
  std::ranges::fill(tensor.bytes(), std::byte{0});
  const int64_t rowBits = dtype == DType::UInt8 ? shape.back() * 8 : columns * bits;
  for (size_t i = 0; i < codes.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) / columns * rowBits + static_cast<int64_t>(i) % columns * bits;
    tensor.bytes()[static_cast<size_t>(at / 8)] |= std::byte((codes[i] & ((1 << bits) - 1)) << at % 8);
  }
  return tensor;
}

/// Different codes in [low, low + 2^bits).
std::vector<int> codesFrom(int low, int bits, int64_t count) {
  std::vector<int> codes;
  for (int64_t i = 0; i < count; ++i) codes.push_back(low + static_cast<int>(i * 7 + i / 5 * 3 + 2) % (1 << bits));
  return codes;
}

struct TableForm {
  DType dtype;
  int bits;
  Shape shape;  // rank 2, in elements
  int gatherAxis, quantizeAxis;
  bool hasPoints;
};

constexpr int64_t kBlock = 16;

void expectGathered(const TableForm& form) {
  const int low = form.dtype == DType::Int4 ? -8 : 0;
  const std::vector<int64_t> indices{1, -1, 0};
  Shape blocks = form.shape;
  int64_t& count = blocks[static_cast<size_t>(form.quantizeAxis)];
  count = (count + kBlock - 1) / kBlock;
  const std::vector<int> codes = codesFrom(low, form.bits, elementCount(form.shape));
  const std::vector<int> points = codesFrom(low, form.bits, elementCount(blocks));
  const int middle = form.dtype == DType::UInt8 ? 1 << (form.bits - 1) : 0;
  const Array scales = wave(blocks, 2);
  Shape shape = form.shape;
  shape[static_cast<size_t>(form.gatherAxis)] = 3;
  Array y(shape);
  for (int64_t r = 0; r < shape[0]; ++r)
    for (int64_t c = 0; c < shape[1]; ++c) {
      std::array<int64_t, 2> at{r, c};
      int64_t& picked = at[static_cast<size_t>(form.gatherAxis)];
      picked = indices[static_cast<size_t>(picked)];
      if (picked < 0) picked += form.shape[static_cast<size_t>(form.gatherAxis)];
      const int code = codes[static_cast<size_t>(at[0] * form.shape[1] + at[1])];
      at[static_cast<size_t>(form.quantizeAxis)] /= kBlock;
      const auto block = static_cast<size_t>(at[0] * blocks[1] + at[1]);
      y.at({r, c}) = (code - (form.hasPoints ? points[block] : middle)) * scales.values[block];
    }
  std::vector<std::optional<Tensor>> inputs{packedBlocks(form.dtype, form.shape, codes, form.bits),
                                            features::tensor(DType::Int64, {1, 3}, indices), tensorOf(scales)};
  if (form.hasPoints) inputs.push_back(packedBlocks(form.dtype, blocks, points, form.bits));
  NodeCase test("GatherBlockQuantized", inputs);
  for (size_t i : {0, 2, 3})
    if (i < inputs.size()) test.node.setConstant(i, *inputs[i]);
  test.node.integer = {{"bits", form.bits},
                       {"block_size", kBlock},
                       {"gather_axis", form.gatherAxis},
                       {"quantize_axis", form.quantizeAxis - 2}};
  shape.insert(shape.begin() + form.gatherAxis, 1);  // the indices have two axes
  test.expect({y.as(shape)}, 1e-6);
}

TEST(ComMicrosoftBlocks, TablesOfCodesGiveTheirRows) {
  for (const bool hasPoints : {false, true}) {
    for (const int bits : {2, 4, 8}) expectGathered({DType::UInt8, bits, {5, 40}, 0, 1, hasPoints});
    for (const DType dtype : {DType::UInt4, DType::Int4}) {
      expectGathered({dtype, 4, {5, 38}, 0, 1, hasPoints});
      expectGathered({dtype, 4, {5, 33}, 0, 1, hasPoints});  // rows end within a byte
      expectGathered({dtype, 4, {20, 6}, 0, 0, hasPoints});  // blocks are taken apart
      expectGathered({dtype, 4, {20, 6}, 1, 0, hasPoints});  // packed columns are
      expectGathered({dtype, 4, {3, 34}, 1, 1, hasPoints});
    }
  }
}

TEST(ComMicrosoftBlocks, TablesThatDoNotFitAreRefused) {
  const Tensor indices = features::tensor<int64_t>(DType::Int64, {1}, {0}), scales = floats({2, 1}, {1, 1});
  const auto refusal = [&](const Tensor& data, const std::map<std::string, int64_t>& attributes) {
    NodeCase test("GatherBlockQuantized", {data, indices, scales});
    test.node.setConstant(0, data);
    test.node.setConstant(2, scales);
    test.node.integer = attributes;
    return refusalOf(test.node);
  };
  const Tensor bytes = packedBlocks(DType::UInt8, {2, 16}, codesFrom(0, 4, 32), 4);
  EXPECT_EQ(refusal(bytes, {{"block_size", 8}}), "block_size must be a power of two from 16 on, got 8");
  EXPECT_EQ(refusal(bytes, {{"bits", 3}}), "bits must be 4, or 2 or 8 of u8, got 3");
  EXPECT_EQ(refusal(bytes, {{"bits", (int64_t{1} << 32) + 4}}), "bits must be 4, or 2 or 8 of u8, got 4294967300");
  EXPECT_EQ(refusal(bytes, {{"quantize_axis", 0}}),
            "with data of u8, gather_axis must be 0 and quantize_axis the last, got 0 and 0");
  EXPECT_EQ(refusal(bytes, {{"bits", 2}, {"block_size", 16}}),
            "scales must be [2,2] for data of [2,32] elements, got [2,1]");
  EXPECT_EQ(refusal(floats({2, 1}, {1, 2}), {}), "data must be u8, u4 or i4, got f32");
  NodeCase computed("GatherBlockQuantized", {bytes, indices, scales});
  EXPECT_EQ(refusalOf(computed.node), "data must be a constant of rank 1 or more, got one that is computed");
}

struct WeightForm {
  int bits;
  bool isConstant, hasPoints, realPoints, hasGroups;
};

/// a [2, 40] with weights [3, 40] in blocks of 16.
void expectProduct(const WeightForm& form) {
  const std::vector<int> codes = codesFrom(0, form.bits, 144), points = codesFrom(1, form.bits, 9);
  const Array a = wave({2, 40}, 1), scales = wave({3, 3}, 2), real = wave({3, 3}, 3), bias = wave({3}, 4);
  std::vector<int32_t> groups;
  for (int k = 0; k < 40; ++k) groups.push_back(form.hasGroups ? k * 5 % 3 : k / 16);
  Array y({2, 3});
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t n = 0; n < 3; ++n) {
      y.at({i, n}) = bias.at({n});
      for (int64_t k = 0; k < 40; ++k) {
        const int64_t block = groups[static_cast<size_t>(k)];
        const auto at = static_cast<size_t>(n * 3 + block);
        const double point = form.realPoints  ? real.values[at]
                             : form.hasPoints ? points[at] % (1 << form.bits)
                                              : 1 << (form.bits - 1);
        y.at({i, n}) += a.at({i, k}) * (codes[static_cast<size_t>(n * 48 + k)] - point) * scales.at({n, block});
      }
    }
  Tensor weights = packedBlocks(DType::UInt8, {3, 48}, codes, form.bits);
  weights.desc.shape = {3, 3, 2 * form.bits};
  std::vector<std::optional<Tensor>> inputs{tensorOf(a),  weights,      tensorOf(scales),
                                            std::nullopt, std::nullopt, tensorOf(bias)};
  if (form.hasPoints) inputs[3] = packedBlocks(DType::UInt8, {3, 3}, points, form.bits);
  if (form.realPoints) inputs[3] = tensorOf(real);
  if (form.hasGroups) inputs[4] = integers({40}, groups);
  NodeCase test("MatMulNBits", inputs);
  for (size_t i : {1, 2, 3})
    if (form.isConstant && inputs[i]) test.node.setConstant(i, *inputs[i]);
  test.node.integer = {{"N", 3}, {"K", 40}, {"bits", form.bits}, {"block_size", 16}, {"weight_prepacked", 0}};
  test.expect({y}, 2e-5);
}

TEST(ComMicrosoftBlocks, WeightsMayBeInputsAndHaveRealZeroPointsAndGroups) {
  for (const int bits : {2, 4, 8})
    for (const bool isConstant : {true, false}) {
      expectProduct({bits, isConstant, true, false, false});
      expectProduct({bits, isConstant, false, false, false});
      expectProduct({bits, isConstant, false, true, false});
      expectProduct({bits, isConstant, true, false, true});
    }
  NodeCase packedBefore("MatMulNBits", {floats({1, 1}, {1})});
  packedBefore.node.integer["weight_prepacked"] = 1;
  EXPECT_EQ(refusalOf(packedBefore.node), "MatMulNBits: weight_prepacked must be 0, got 1");
  packedBefore.node.integer = {{"N", 1}, {"K", int64_t{1} << 62}, {"block_size", 16}};
  EXPECT_NE(refusalOf(packedBefore.node).find("N and K must be in [1, 2147483647]"), std::string::npos);
}

}  // namespace
}  // namespace opkit::ops::com_microsoft
