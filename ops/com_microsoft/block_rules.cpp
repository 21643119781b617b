// GatherBlockQuantized: slices of a table of codes of 2, 4 or 8 bits, as floats. The table stays packed where its rows
// are whole bytes: a run unpacks what it gathers.
#include <algorithm>
#include <bit>

#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/gather/gather_generated.h"
#include "ops/quantize/dequantize_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

enum Input : size_t { kData, kIndices, kScales, kZeroPoints };

/// Facts of the attributes and the constants.
struct Table {
  Tensor data, scales;
  Shape shape;  // in elements, where data of u8 counts bytes
  int bits;
  int gatherAxis, quantizeAxis;
  int64_t blockSize;

  bool isBytes() const { return data.desc.dtype == DType::UInt8; }
  /// Turns codes of i4 into those of u4, which are 8 larger.
  uint8_t flip() const { return data.desc.dtype == DType::Int4 ? 8 : 0; }
};

Result<Tensor> constantOf(const OnnxNode& node, Input input, const char* name) {
  const Tensor* value = node.constantInput(input);
  if (value && !value->desc.shape.empty()) return *value;
  return Status::unsupported("{} must be a constant of rank 1 or more, got {}", name,
                             value ? value->desc.toString() : "one that is computed");
}

Status checkTypes(const OnnxNode& node, const Table& table) {
  const DType dtype = table.data.desc.dtype;
  if (!DTypeSet(DType::UInt8, DType::UInt4, DType::Int4).contains(dtype))
    return Status::unsupported("data must be u8, u4 or i4, got {}", nameOf(dtype));
  const int64_t bits = node.intAttribute("bits", 4);
  if (bits != 4 && (!table.isBytes() || (bits != 2 && bits != 8)))
    return Status::invalidArgument("bits must be 4, or 2 or 8 of u8, got {}", bits);
  if (table.blockSize < 16 || !std::has_single_bit(static_cast<uint64_t>(table.blockSize)))
    return Status::invalidArgument("block_size must be a power of two from 16 on, got {}", table.blockSize);
  if (!table.isBytes() || (table.gatherAxis == 0 && table.quantizeAxis + 1 == static_cast<int>(table.shape.size())))
    return Status::ok();
  return Status::invalidArgument("with data of u8, gather_axis must be 0 and quantize_axis the last, got {} and {}",
                                 node.intAttribute("gather_axis", 0), node.intAttribute("quantize_axis", 1));
}

/// The axis of the data that an attribute names.
Result<int> axisOf(const OnnxNode& node, const char* name, int64_t fallback, const Table& table) {
  const Result<int> axis = normalizeAxis(node.intAttribute(name, fallback), table.shape.size());
  if (axis) return axis;
  return Status::invalidArgument("{}: {}", name, axis.error().message());
}

Result<Table> tableOf(const OnnxNode& node) {
  Table table{};
  OPKIT_ASSIGN(table.data, constantOf(node, kData, "data"));
  OPKIT_ASSIGN(table.scales, constantOf(node, kScales, "scales"));
  table.shape = table.data.desc.shape;
  OPKIT_ASSIGN(table.gatherAxis, axisOf(node, "gather_axis", 0, table));
  OPKIT_ASSIGN(table.quantizeAxis, axisOf(node, "quantize_axis", 1, table));
  table.blockSize = node.intAttribute("block_size", 128);
  OPKIT_TRY(checkTypes(node, table));
  table.bits = static_cast<int>(node.intAttribute("bits", 4));
  if (table.isBytes()) table.shape.back() *= 8 / table.bits;
  Shape blocks = table.shape;
  int64_t& count = blocks[static_cast<size_t>(table.quantizeAxis)];
  count = (count + table.blockSize - 1) / table.blockSize;
  if (table.scales.desc.shape == blocks) return table;
  return Status::invalidArgument("scales must be {} for data of {} elements, got {}", toString(blocks),
                                 toString(table.shape), toString(table.scales.desc.shape));
}

/// Codes as u8 [..., columns] that lie in rows of `rowBits` bits.
Result<Tensor> codesOf(const Tensor& stored, const Table& table, const Shape& shape, int64_t rowBits) {
  OPKIT_ASSIGN(Tensor codes, Tensor::onHost({DType::UInt8, shape}));
  const std::span<const std::byte> bytes = stored.bytes();
  const int64_t elements = elementCount(shape);
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t bit = i / shape.back() * rowBits + i % shape.back() * table.bits;
    const int code = static_cast<int>(bytes[static_cast<size_t>(bit / 8)]) >> bit % 8 & ((1 << table.bits) - 1);
    codes.data<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(code ^ table.flip());
  }
  return codes;
}

/// The codes of the data, packed as `bits` says.
Result<TensorId> addCodes(OnnxNode& node, const Table& table, int& bits) {
  bits = table.bits;
  if (table.isBytes()) return node.input(kData);
  if (table.shape.back() % 2 != 0) {
    bits = 8;
    OPKIT_ASSIGN(Tensor codes, codesOf(table.data, table, table.shape, table.shape.back() * table.bits));
    return node.addConstant("codes", std::move(codes));
  }
  Shape shape = table.shape;
  shape.back() /= 2;
  OPKIT_ASSIGN(Tensor bytes, Tensor::onHost({DType::UInt8, shape}));
  std::ranges::transform(table.data.bytes(), bytes.bytes().begin(),
                         [both = std::byte(table.flip() * 0x11)](std::byte pair) { return pair ^ both; });
  return node.addConstant("codes", std::move(bytes));
}

/// One zero point per scale, as u8. Without the input they are the middle of the range, 0 of u4.
Result<TensorId> addZeroPoints(OnnxNode& node, const Table& table) {
  const Shape& blocks = table.scales.desc.shape;
  if (!node.input(kZeroPoints)) {
    OPKIT_ASSIGN(Tensor points, Tensor::onHost({DType::UInt8, blocks}));
    const int middle = table.data.desc.dtype == DType::UInt4 ? 0 : 1 << (table.bits - 1);
    std::ranges::fill(points.bytes(), std::byte(middle));
    return node.addConstant("zero_points", std::move(points));
  }
  OPKIT_ASSIGN(const Tensor stored, constantOf(node, kZeroPoints, "zero_points"));
  TensorDesc expected{table.data.desc.dtype, blocks};
  if (table.isBytes()) expected.shape.back() = (blocks.back() * table.bits + 7) / 8;
  if (stored.desc != expected)
    return Status::invalidArgument("zero_points must be {}, got {}", expected.toString(), stored.desc.toString());
  const int64_t rowBits = table.isBytes() ? expected.shape.back() * 8 : blocks.back() * table.bits;
  OPKIT_ASSIGN(Tensor points, codesOf(stored, table, blocks, rowBits));
  return node.addConstant("zero_points", std::move(points));
}

Status gatherBlocks(OnnxNode& node) {
  OPKIT_ASSIGN(const Table table, tableOf(node));
  int bits = 0;
  OPKIT_ASSIGN(const TensorId codes, addCodes(node, table, bits));
  OPKIT_ASSIGN(const TensorId points, addZeroPoints(node, table));
  RuleParts parts(node);
  const int rank = static_cast<int>(table.shape.size());
  gather::GatherParamsT chosen;
  chosen.axis = table.gatherAxis;
  quantize::DequantizeParamsT blocks;
  blocks.block_size = table.blockSize;
  blocks.axis = table.quantizeAxis;
  // Packed columns, and blocks, can only be taken apart as a whole.
  if (table.gatherAxis == table.quantizeAxis || table.gatherAxis == rank - 1) {
    const std::vector<TensorId> inputs{parts.unpacked(codes, bits), node.input(kScales), points};
    const TensorId whole = node.emitIntermediate("DequantizeLinear", inputs, packParams(blocks));
    return node.emit("Gather", {whole, node.input(kIndices)}, packParams(chosen));
  }
  const auto pick = [&](TensorId x) {
    return node.emitIntermediate("Gather", {x, node.input(kIndices)}, packParams(chosen));
  };
  // The indices may have any rank: axes behind theirs are counted from the end.
  if (table.quantizeAxis > table.gatherAxis) blocks.axis -= rank;
  return node.emit("DequantizeLinear", {parts.unpacked(pick(codes), bits), pick(node.input(kScales)), pick(points)},
                   packParams(blocks));
}

}  // namespace

void addBlockRules(OnnxRules& rules) {
  rules.add(qualified("GatherBlockQuantized"), {"bits", "block_size", "gather_axis", "quantize_axis"}, gatherBlocks);
  rules.note(qualified("GatherBlockQuantized"), {"Gather", "DequantizeLinear"},
             "data is u8, u4 or i4; data, scales and zero_points are constants; an index out of range is an error");
}

}  // namespace opkit::ops::com_microsoft
