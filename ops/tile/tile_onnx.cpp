#include "engine/import/onnx/onnx_rules.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::tile {
namespace {

/// Before opset 6 `tiles` and `axis` were scalars, of integers or of the type of x.
Status alongOneAxis(OnnxNode& node) {
  com_microsoft::RuleParts parts(node);
  const auto numberIn = [&](size_t input) {
    return parts.reshapedTo(parts.cast(node.input(input), cast::ElementType::i64), {1});
  };
  for (const size_t input : {0, 1, 2})
    if (!node.input(input)) return Status::invalidArgument("Tile: input {} is missing", input);
  const TensorId extents = node.emitIntermediate("Shape", {node.input(0)});
  const TensorId ones = parts.expanded(parts.list({1}), node.emitIntermediate("Shape", {extents}));
  const TensorId repeats = node.emitIntermediate("ScatterElements", {ones, numberIn(2), numberIn(1)});
  return node.emit("Tile", {node.input(0), repeats});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Tile", {}, alongOneAxis, 1, 5);
  rules.add("Tile", {}, text::overStrings(passThrough("Tile")), 6);
}

}  // namespace opkit::ops::tile
