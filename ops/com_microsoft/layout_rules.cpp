// Rules of operators of com.microsoft whose channels are the last axis: NhwcConv, NhwcFusedConv, NhwcMaxPool;
// QLinearAveragePool in both layouts.
#include <numeric>

#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/conv/conv_onnx.h"
#include "ops/pool/pool_onnx.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

/// [0, 2, 3, ..., 1]: channels from the second axis to the end.
std::vector<int> toLast(size_t rank) {
  std::vector<int> perm(rank, 0);
  std::iota(perm.begin() + 1, perm.end() - 1, 2);
  perm.back() = 1;
  return perm;
}
/// [0, last, 1, 2, ...]: channels from the end to the second axis.
std::vector<int> toSecond(size_t rank) {
  std::vector<int> perm(rank, 0);
  perm[1] = static_cast<int>(rank) - 1;
  std::iota(perm.begin() + 2, perm.end(), 1);
  return perm;
}

/// The rank of x, from kernel_shape or the weights.
Result<size_t> convRank(const OnnxNode& node) {
  if (const size_t axes = node.intsAttribute("kernel_shape").size(); axes > 0) return axes + 2;
  if (const Tensor* weights = node.constantInput(1)) return weights->desc.shape.size();
  return Status::unsupported("kernel_shape must be given where the weights are no constant");
}

/// Inputs x, weights [out, in / group, ...], bias, and z, which is added. x, z and the result have their channels last.
Status conv(OnnxNode& node) {
  OPKIT_ASSIGN(const size_t rank, convRank(node));
  if (rank < 3) return Status::invalidArgument("the weights must have rank 3 or more, got {}", rank);
  OPKIT_ASSIGN(const conv::ConvParamsT params, readFields(node, conv::convFields()));
  RuleParts parts(node);
  const TensorId x = parts.transposed(node.input(0), toSecond(rank));
  TensorId y = node.emitIntermediate("Conv", {x, node.input(1), node.input(2)}, packParams(params));
  y = parts.transposed(y, toLast(rank));
  if (node.input(3)) y = parts.pair("Add", y, node.input(3));
  return emitActivation(node, y);
}

/// The largest elements of windows of bytes, channels last.
Status maxPool(OnnxNode& node) {
  OPKIT_ASSIGN(const pool::PoolParamsT params, readFields(node, pool::averageFields()));
  const size_t rank = params.kernel_shape.size() + 2;
  if (rank < 3) return Status::invalidArgument("kernel_shape must not be empty");
  RuleParts parts(node);
  const TensorId x = parts.transposed(node.input(0), toSecond(rank));
  const TensorId y = node.emitIntermediate("MaxPool", {x}, packParams(params));
  return node.emit("Identity", {parts.transposed(y, toLast(rank))});
}

/// Inputs x, its scale and zero point, then scale and zero point of the output.
Status averagePool(OnnxNode& node) {
  OPKIT_ASSIGN(const pool::PoolParamsT params, readFields(node, pool::averageFields()));
  const size_t rank = node.intsAttribute("kernel_shape").size() + 2;
  if (rank < 3) return Status::invalidArgument("attribute kernel_shape is missing");
  RuleParts parts(node);
  OPKIT_ASSIGN(const bool isLast, flagOf(node, "channels_last"));
  TensorId x = dequantized(node, 0);
  if (isLast) x = parts.transposed(x, toSecond(rank));
  TensorId y = node.emitIntermediate("AveragePool", {x}, packParams(params));
  if (isLast) y = parts.transposed(y, toLast(rank));
  return emitQuantized(node, y, 3, node.input(0));
}

}  // namespace

void addLayoutRules(OnnxRules& rules) {
  std::vector<OnnxAttribute> attributes = attributesOf(conv::convFields());
  rules.add(qualified("NhwcConv"), attributes, conv);
  attributes.insert(attributes.end(), {"activation", "activation_params"});
  rules.add(qualified("NhwcFusedConv"), attributes, conv);
  rules.add(qualified("QLinearAveragePool"),
            {"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "kernel_shape", "pads", "strides"},
            averagePool);
  rules.add(qualified("NhwcMaxPool"),
            {"auto_pad", "ceil_mode", "dilations", required("kernel_shape"), "pads", "strides"}, maxPool);
  rules.note(qualified("NhwcMaxPool"), {"Transpose", "MaxPool"});
  rules.note(qualified("NhwcConv"), {"Transpose", "Conv"}, "kernel_shape is given where the weights are no constant");
  rules.note(qualified("NhwcFusedConv"), {"Transpose", "Conv", "Add"}, "as NhwcConv; activations as in FusedConv");
  rules.note(qualified("QLinearAveragePool"), {"DequantizeLinear", "AveragePool", "QuantizeLinear"});
}

}  // namespace opkit::ops::com_microsoft
