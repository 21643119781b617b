#include "ops/com_microsoft/com_microsoft.h"
#include "ops/quantized_pool/quantized_pool_parts.h"

namespace opkit::ops::quantized_pool {
namespace {

/// Without a zero point the type is not known yet: nodes in floats then.
Status globalAveragePool(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "channels_last", 0));
  if (node.input(2) >= 0 && node.input(4) >= 0)
    return node.emit("QLinearGlobalAveragePool",
                     {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)});
  const int mean = node.emitIntermediate("GlobalAveragePool", {com_microsoft::dequantized(node, 0)});
  return com_microsoft::emitQuantized(node, mean, 3);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("com.microsoft::QLinearGlobalAveragePool", {"channels_last"}, globalAveragePool);
}

}  // namespace opkit::ops::quantized_pool
