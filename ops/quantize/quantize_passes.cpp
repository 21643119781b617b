// integer-qdq: an operator between DequantizeLinear and QuantizeLinear becomes one on integers.
//
//   Conv      QLinearConv; the weights may have a scale per output channel
//   Gemm      QLinearConv over images of one pixel, with the same freedom
//   MatMul    QLinearMatMul; a constant right operand may have a scale per column
//   Add, Mul  QLinearAdd, QLinearMul
//   GlobalAveragePool   QLinearGlobalAveragePool
//   MaxPool, Reshape, Transpose, ...: the same operator, where the scale before it is the scale after it
//
// Scales and zero points are constants, types have 8 bits. A Relu or Clip before the QuantizeLinear vanishes where the
// range of the integers clamps alike. A sum in integers is exact and is rounded once; the nodes in floats round each
// step, so results may differ by one step of the output.
//
// Assumes, and leaves the nodes in floats otherwise:
// - The depth of a product is known and its sum fits 32 bits (fits): QLinearMatMul and QLinearConv are specified to
//   wrap there. QLinearGlobalAveragePool is not; its kernel sees to long sums.
// - A bias in units of the products is within half a step of the output of what it was (bias).
// - Nothing else reads what lies between, and none of it is an output of the model (rewrite).
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"
#include "ops/binary/binary_generated.h"
#include "ops/conv/conv_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/matmul/matmul_generated.h"
#include "ops/quantize/dequantize_generated.h"
#include "ops/quantize/quantize_generated.h"
#include "ops/shape/known_extents.h"
#include "ops/unary/fuse_clamp.h"

namespace opkit::ops::quantize {
namespace {

constexpr DTypeSet kBytes{DType::Int8, DType::UInt8};
constexpr std::string_view kMoves[] = {"MaxPool",   "Reshape",  "Transpose",    "Flatten",     "Squeeze",
                                       "Unsqueeze", "Identity", "Slice",        "Gather",      "Expand",
                                       "Tile",      "Concat",   "DepthToSpace", "SpaceToDepth"};

/// Tensors of the model: integers, their scale and their zero point. The last two are constants.
struct Quantized {
  TensorId values, scale, zeroPoint;
};

class IntegerPass {
 public:
  IntegerPass(Model& model, const OpRegistry& registry)
      : model_(model), registry_(registry), edit_(model), extents_(model, registry) {}

  Result<size_t> run() {
    for (ModelNode& node : model_.nodes)
      if (node.type == "QuantizeLinear" && !edit_.isRemoved(node) && rewrite(node)) edit_.count();
    return edit_.finish();
  }

 private:
  bool rewrite(ModelNode& quantize);
  bool rewriteConv(const ModelNode& conv, const Quantized& to, ModelNode& quantize);
  bool rewriteGemm(const ModelNode& gemm, const Quantized& to, ModelNode& quantize);
  bool rewriteMatMul(const ModelNode& product, const Quantized& to, ModelNode& quantize);
  bool rewritePair(const ModelNode& pair, const Quantized& to, ModelNode& quantize);
  bool rewritePool(const ModelNode& pool, const Quantized& to, ModelNode& quantize);
  bool rewriteMove(const ModelNode& move, const Quantized& to, ModelNode& quantize);

  std::optional<Quantized> source(TensorId real);
  std::optional<Quantized> activations(TensorId real);
  std::optional<Quantized> weights(TensorId real, int64_t lineAxis);
  std::optional<Quantized> target(const ModelNode& quantize);
  std::optional<TensorId> bias(TensorId real, const std::string& name, const Quantized& x, const Quantized& w,
                               const Quantized& to);

  bool fits(const Quantized& weights, int64_t depth) const;

  const Tensor& value(TensorId constant) const { return *edit_.constant(constant); }
  float scaleOf(const Quantized& tensor) const { return value(tensor.scale).data<float>()[0]; }
  bool isSingle(const Quantized& tensor) const { return value(tensor.scale).desc.elements() == 1; }
  int64_t zeroOf(const Quantized& tensor) const { return toInt64(value(tensor.zeroPoint))[0]; }
  bool isF32(TensorId tensor) const {
    const Tensor* constant = edit_.constant(tensor);
    return constant && constant->desc.dtype == DType::Float32;
  }
  TensorId zeroPointOf(const ModelNode& node, std::optional<DType> dtype);
  bool saturates(const Clamp& clamp, const Quantized& to) const;

  Model& model_;
  const OpRegistry& registry_;
  ModelEdit edit_;
  const shape::KnownExtents extents_;
};

/// The zero point of a quantising node: its input 2, or 0 in `dtype`. Absent unless it is a constant of 8 bits.
TensorId IntegerPass::zeroPointOf(const ModelNode& node, std::optional<DType> dtype) {
  if (node.inputs.size() > 2 && node.inputs[2]) {
    const Tensor* given = edit_.constant(node.inputs[2]);
    return given && kBytes.contains(given->desc.dtype) && given->desc.elements() > 0 ? node.inputs[2] : TensorId();
  }
  if (!dtype || !kBytes.contains(*dtype)) return {};
  auto zero = Tensor::onHost({*dtype, {}});
  return zero ? edit_.addConstant(node.name + "/zero_point", *std::move(zero)) : TensorId();
}

/// The integers that a DequantizeLinear makes `real` of.
std::optional<Quantized> IntegerPass::source(TensorId real) {
  const ModelNode* node = edit_.producer(real, "DequantizeLinear");
  if (!node || !isF32(node->inputs[1])) return std::nullopt;
  const auto params = unpackParams<DequantizeParams>(node->params);
  if (params.block_size != 0 || (params.output_type != RealType::like_scale && params.output_type != RealType::f32))
    return std::nullopt;
  const Tensor* stored = edit_.constant(node->inputs[0]);
  const TensorId zero = zeroPointOf(*node, stored ? std::optional(stored->desc.dtype) : std::nullopt);
  if (!zero) return std::nullopt;
  return Quantized{node->inputs[0], node->inputs[1], zero};
}

/// As above, with one scale.
std::optional<Quantized> IntegerPass::activations(TensorId real) {
  const std::optional<Quantized> found = source(real);
  return found && isSingle(*found) ? found : std::nullopt;
}

/// As above, of a constant, with one scale or one per index of axis `lineAxis`.
std::optional<Quantized> IntegerPass::weights(TensorId real, int64_t lineAxis) {
  const std::optional<Quantized> found = source(real);
  const Tensor* stored = found ? edit_.constant(found->values) : nullptr;
  if (!stored || isSingle(*found)) return stored ? found : std::nullopt;
  const auto params = unpackParams<DequantizeParams>(edit_.producer(real)->params);
  const auto rank = static_cast<int64_t>(stored->desc.shape.size());
  const int64_t axis = params.axis < 0 ? params.axis + rank : params.axis;
  return axis == (lineAxis < 0 ? lineAxis + rank : lineAxis) ? found : std::nullopt;
}

/// The scale and zero point of a QuantizeLinear, if it has one of each.
std::optional<Quantized> IntegerPass::target(const ModelNode& quantize) {
  const auto params = unpackParams<QuantizeParams>(quantize.params);
  const bool inFloats = params.precision == Precision::like_scale || params.precision == Precision::f32;
  if (params.block_size != 0 || !inFloats || !isF32(quantize.inputs[1])) return std::nullopt;
  const bool given = params.output_type != QuantizedType::like_zero_point;
  const TensorId zero = zeroPointOf(quantize, given ? static_cast<DType>(params.output_type) : DType::UInt8);
  if (!zero) return std::nullopt;
  const Quantized to{quantize.outputs[0], quantize.inputs[1], zero};
  return isSingle(to) && scaleOf(to) > 0 ? std::optional(to) : std::nullopt;
}

/// The integers' own range does what the clamp does.
bool IntegerPass::saturates(const Clamp& clamp, const Quantized& to) const {
  const bool isSigned = value(to.zeroPoint).desc.dtype == DType::Int8;
  const double lowest = isSigned ? -128 : 0, highest = isSigned ? 127 : 255;
  const auto code = [&](float bound) { return std::nearbyint(bound / scaleOf(to)) + static_cast<double>(zeroOf(to)); };
  return code(clamp.low) <= lowest && code(clamp.high) >= highest;
}

/// Whether a sum of `depth` products of a byte with a weight, and a bias below 2^30, fits 32 bits.
bool IntegerPass::fits(const Quantized& weights, int64_t depth) const {
  const Tensor& zeros = value(weights.zeroPoint);
  const bool isCentred =
      zeros.desc.dtype == DType::Int8 && std::ranges::all_of(toInt64(zeros), [](int64_t zero) { return zero == 0; });
  return static_cast<double>(depth) * 255 * (isCentred ? 128 : 255) < 0x1p30;
}

/// A bias per output as i32 in units of the products: absent where `real` is absent, nothing where it cannot be had.
std::optional<TensorId> IntegerPass::bias(TensorId real, const std::string& name, const Quantized& x,
                                          const Quantized& w, const Quantized& to) {
  if (!real) return TensorId();
  std::vector<double> values;
  Shape shape;
  if (isF32(real)) {
    shape = value(real).desc.shape;
    const std::span<const float> floats = value(real).data<float>();
    values.assign(floats.begin(), floats.end());
  } else {
    const ModelNode* node = edit_.producer(real, "DequantizeLinear");
    const Tensor* stored = node ? edit_.constant(node->inputs[0]) : nullptr;
    const bool hasZero = node && node->inputs.size() > 2 && node->inputs[2];
    if (!stored || stored->desc.dtype != DType::Int32 || !isF32(node->inputs[1])) return std::nullopt;
    if (hasZero && (!edit_.constant(node->inputs[2]) ||
                    std::ranges::any_of(toInt64(value(node->inputs[2])), [](int64_t zero) { return zero != 0; })))
      return std::nullopt;
    const std::span<const float> scales = value(node->inputs[1]).data<float>();
    shape = stored->desc.shape;
    const std::vector<int64_t> codes = toInt64(*stored);
    if (scales.size() != 1 && scales.size() != codes.size()) return std::nullopt;
    for (size_t i = 0; i < codes.size(); ++i)
      values.push_back(static_cast<double>(codes[i]) * scales[scales.size() == 1 ? 0 : i]);
  }
  if (!shape.empty() && shape.back() != static_cast<int64_t>(values.size())) return std::nullopt;  // per row of a Gemm
  const std::span<const float> scales = value(w.scale).data<float>();
  if (scales.size() != 1 && scales.size() != values.size()) return std::nullopt;
  std::vector<int32_t> codes;
  for (size_t i = 0; i < values.size(); ++i) {
    const double unit = double{scaleOf(x)} * scales[scales.size() == 1 ? 0 : i];
    const double code = std::nearbyint(values[i] / unit);
    if (!(std::fabs(code) < 0x1p30)) return std::nullopt;                                 // see fits
    if (!(std::fabs(values[i] - code * unit) <= 0.5 * scaleOf(to))) return std::nullopt;  // the unit is too coarse
    codes.push_back(static_cast<int32_t>(code));
  }
  auto tensor = Tensor::fromValues<int32_t>({DType::Int32, {static_cast<int64_t>(codes.size())}}, codes);
  return tensor ? std::optional(edit_.addConstant(name + "/bias", *std::move(tensor))) : std::nullopt;
}

std::vector<TensorId> quantizedInputs(const Quantized& x, const Quantized& w, const Quantized& to) {
  return {x.values, x.scale, x.zeroPoint, w.values, w.scale, w.zeroPoint, to.scale, to.zeroPoint};
}

bool IntegerPass::rewriteConv(const ModelNode& conv, const Quantized& to, ModelNode& quantize) {
  auto params = unpackParams<conv::ConvParams>(conv.params);
  const std::optional<Quantized> x = activations(conv.inputs[0]), w = weights(conv.inputs[1], 0);
  if (!x || !w || !saturates(clampOf(params), to)) return false;
  const Shape& kernels = value(w->values).desc.shape;
  if (!fits(*w, elementCount(kernels, 1, kernels.size()))) return false;
  const std::optional<TensorId> offsets =
      bias(conv.inputs.size() > 2 ? conv.inputs[2] : TensorId(), conv.name, *x, *w, to);
  if (!offsets) return false;
  params.clamp_low = -INFINITY;
  params.clamp_high = INFINITY;
  std::vector<TensorId> inputs = quantizedInputs(*x, *w, to);
  if (*offsets) inputs.push_back(*offsets);
  edit_.replaceNode(quantize, {conv.name, "QLinearConv", 1, inputs, quantize.outputs, packParams(params), {}});
  return true;
}

/// A matrix of bytes with its axes exchanged.
Result<Tensor> transposed(const Tensor& matrix) {
  const int64_t rows = matrix.desc.shape[1], columns = matrix.desc.shape[0];
  OPKIT_ASSIGN(Tensor turned, Tensor::onHost({matrix.desc.dtype, {rows, columns}}));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      turned.bytes()[static_cast<size_t>(i * columns + j)] = matrix.bytes()[static_cast<size_t>(j * rows + i)];
  return turned;
}

/// x [M, K] becomes [M, K, 1, 1], weights [N, K] become [N, K, 1, 1].
bool IntegerPass::rewriteGemm(const ModelNode& gemm, const Quantized& to, ModelNode& quantize) {
  const auto params = unpackParams<gemm::GemmParams>(gemm.params);
  const std::optional<Quantized> x = activations(gemm.inputs[0]), w = weights(gemm.inputs[1], params.trans_b ? 0 : 1);
  if (!x || !w || params.alpha != 1 || params.beta != 1 || params.trans_a || !saturates(clampOf(params), to))
    return false;
  Tensor matrix = value(w->values);
  if (matrix.desc.shape.size() != 2) return false;
  const int64_t rows = matrix.desc.shape[params.trans_b ? 0 : 1], depth = matrix.desc.shape[params.trans_b ? 1 : 0];
  if (!fits(*w, depth)) return false;
  const TensorId real = gemm.inputs.size() > 2 ? gemm.inputs[2] : TensorId();
  const std::optional<TensorId> offsets = bias(real, gemm.name, *x, *w, to);
  if (!offsets || (*offsets && value(*offsets).desc.elements() != rows)) return false;
  if (!params.trans_b) {
    auto turned = transposed(matrix);
    if (!turned) return false;
    matrix = *std::move(turned);
  }
  matrix.desc.shape = {rows, depth, 1, 1};
  auto pixel = Tensor::fromValues<int64_t>({DType::Int64, {4}}, {0, 0, 1, 1});
  auto list = Tensor::fromValues<int64_t>({DType::Int64, {2}}, {0, rows});
  if (!pixel || !list) return false;
  Quantized images = *x, kernels = *w;
  kernels.values = edit_.addConstant(gemm.name + "/weights", std::move(matrix));
  images.values = edit_.addNode({.name = gemm.name + "/pixels",
                                 .type = "Reshape",
                                 .inputs = {x->values, edit_.addConstant(gemm.name + "/pixel", *std::move(pixel))}});
  std::vector<TensorId> inputs = quantizedInputs(images, kernels, to);
  if (*offsets) inputs.push_back(*offsets);
  const TensorId y = edit_.addNode({.name = gemm.name,
                                    .type = "QLinearConv",
                                    .inputs = std::move(inputs),
                                    .params = packParams(conv::ConvParamsT())});
  const TensorId shape = edit_.addConstant(gemm.name + "/row", *std::move(list));
  edit_.replaceNode(quantize, {quantize.name, "Reshape", 1, {y, shape}, quantize.outputs, {}, {}});
  return true;
}

bool IntegerPass::rewriteMatMul(const ModelNode& product, const Quantized& to, ModelNode& quantize) {
  const std::optional<Quantized> a = activations(product.inputs[0]);
  std::optional<Quantized> b = activations(product.inputs[1]);
  if (!b) b = weights(product.inputs[1], -1);
  const bool isVector = b && edit_.constant(b->values) && value(b->values).desc.shape.size() < 2;
  if (!a || !b || isVector) return false;
  // Either operand tells the depth; that of `a` is its last extent even if it is a vector.
  int64_t depth = extents_.extent(product.inputs[0]);
  if (depth == kDynamic) depth = extents_.extent(product.inputs[1], 1);
  if (depth == kDynamic || !fits(*b, depth)) return false;
  const auto params = unpackParams<matmul::MatMulParams>(product.params);
  if (params.trans_a || params.trans_b || !saturates(clampOf(params), to)) return false;
  edit_.replaceNode(quantize,
                    {product.name, "QLinearMatMul", 1, quantizedInputs(*a, *b, to), quantize.outputs, {}, {}});
  return true;
}

/// Add or Mul.
bool IntegerPass::rewritePair(const ModelNode& pair, const Quantized& to, ModelNode& quantize) {
  const std::optional<Quantized> a = activations(pair.inputs[0]), b = activations(pair.inputs[1]);
  const auto params = unpackParams<binary::BinaryParams>(pair.params);
  if (!a || !b || params.axis || !saturates(clampOf(params), to)) return false;
  edit_.replaceNode(quantize,
                    {pair.name, "QLinear" + pair.type, 1, quantizedInputs(*a, *b, to), quantize.outputs, {}, {}});
  return true;
}

bool IntegerPass::rewritePool(const ModelNode& pool, const Quantized& to, ModelNode& quantize) {
  const std::optional<Quantized> x = activations(pool.inputs[0]);
  if (!x) return false;
  const std::vector<TensorId> inputs{x->values, x->scale, x->zeroPoint, to.scale, to.zeroPoint};
  edit_.replaceNode(quantize, {pool.name, "QLinearGlobalAveragePool", 1, inputs, quantize.outputs, {}, {}});
  return true;
}

/// Input 0 moves, or every input of a Concat. All have the scale and zero point of the result.
bool IntegerPass::rewriteMove(const ModelNode& move, const Quantized& to, ModelNode& quantize) {
  if (std::ranges::find(kMoves, move.type) == std::end(kMoves) || move.outputs.size() != 1) return false;
  const DType dtype = value(to.zeroPoint).desc.dtype;
  if (!registry_.find(move.type)->inputs[0].dtypes.contains(dtype)) return false;
  ModelNode moved = move;
  for (size_t i = 0; i < (move.type == "Concat" ? move.inputs.size() : 1); ++i) {
    const std::optional<Quantized> x = activations(move.inputs[i]);
    if (!x || scaleOf(*x) != scaleOf(to) || zeroOf(*x) != zeroOf(to) || value(x->zeroPoint).desc.dtype != dtype)
      return false;
    moved.inputs[i] = x->values;
  }
  moved.outputs = quantize.outputs;
  edit_.replaceNode(quantize, moved);
  return true;
}

bool IntegerPass::rewrite(ModelNode& quantize) {
  const std::optional<Quantized> to = target(quantize);
  if (!to) return false;
  std::vector<ModelNode*> replaced;
  TensorId real = quantize.inputs[0];
  for (ModelNode* node = edit_.producer(real); node && edit_.isOnlyReader(real); node = edit_.producer(real)) {
    replaced.push_back(node);
    const std::optional<Clamp> clamp = unary::clampOfNode(node->type, node->params);
    if (!clamp) break;
    if (!saturates(*clamp, *to)) return false;
    real = node->inputs[0];
  }
  if (replaced.empty() || unary::clampOfNode(replaced.back()->type, replaced.back()->params)) return false;
  const ModelNode& node = *replaced.back();
  using Rewrite = bool (IntegerPass::*)(const ModelNode&, const Quantized&, ModelNode&);
  static const std::map<std::string_view, Rewrite> kRewrites = {
      {"Conv", &IntegerPass::rewriteConv},     {"Gemm", &IntegerPass::rewriteGemm},
      {"MatMul", &IntegerPass::rewriteMatMul}, {"Add", &IntegerPass::rewritePair},
      {"Mul", &IntegerPass::rewritePair},      {"GlobalAveragePool", &IntegerPass::rewritePool}};
  const auto found = kRewrites.find(node.type);
  const Rewrite rewriteNode = found == kRewrites.end() ? &IntegerPass::rewriteMove : found->second;
  if (!(this->*rewriteNode)(node, *to, quantize)) return false;
  for (ModelNode* old : replaced) edit_.remove(*old);
  return true;
}

Result<size_t> toIntegers(Model& model, const OpRegistry& registry) { return IntegerPass(model, registry).run(); }

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"integer-qdq", "an operator between DequantizeLinear and QuantizeLinear computes with integers",
                    GraphPass::Position::BeforeLowering, toIntegers, nullptr});
}

}  // namespace opkit::ops::quantize
