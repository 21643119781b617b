#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/quantized_pool/quantized_pool_parts.h"
#include "ops/reduce/reduce_generated.h"

namespace opkit::ops::quantized_pool {
namespace {

/// With the channels last: [batch, places, channels], whatever the rank of x.
Status channelsLast(OnnxNode& node) {
  const TensorId x = com_microsoft::dequantized(node, 0);
  com_microsoft::RuleParts parts(node);
  const TensorId batch = parts.extents(x, 0, 1), places = parts.extents(x, 1, -1),
                 channels = parts.extents(x, -1, com_microsoft::kMostAxes);
  const TensorId rows = parts.reshaped(x, parts.joined({batch, parts.list({-1}), channels}));
  const TensorId means =
      node.emitIntermediate("ReduceMean", {rows, parts.list({1})}, packParams(reduce::ReduceParamsT()));
  const TensorId ones = parts.expanded(parts.list({1}), node.emitIntermediate("Shape", {places}));
  return com_microsoft::emitQuantized(node, parts.reshaped(means, parts.joined({batch, ones, channels})), 3,
                                      node.input(0));
}

/// Without a zero point the type is not known yet: nodes in floats then.
Status globalAveragePool(OnnxNode& node) {
  OPKIT_ASSIGN(const bool isLast, com_microsoft::flagOf(node, "channels_last"));
  if (isLast) return channelsLast(node);
  if (node.input(2) && node.input(4))
    return node.emit("QLinearGlobalAveragePool",
                     {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)});
  const TensorId mean = node.emitIntermediate("GlobalAveragePool", {com_microsoft::dequantized(node, 0)});
  return com_microsoft::emitQuantized(node, mean, 3, node.input(0));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const auto write = [](const OpNode&, OnnxForm&) { return Status::ok(); };
  rules.add("com.microsoft::QLinearGlobalAveragePool", {"channels_last"},
            {globalAveragePool, {{"QLinearGlobalAveragePool"}, write}});
  rules.note("com.microsoft::QLinearGlobalAveragePool", {"QLinearGlobalAveragePool"});
}

}  // namespace opkit::ops::quantized_pool
