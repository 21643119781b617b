#include "engine/import/onnx/onnx_rules.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::tile {
namespace {

/// Tile-1 repeated along one axis given by a tensor; no exporter in use writes it.
Status oldTile(OnnxNode&) {
  return Status::unsupported("Tile: opset 1 to 5 repeats along an axis given as a tensor; convert to opset 6 or later");
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Tile", {}, oldTile, 1, 5);
  rules.add("Tile", {}, text::overStrings(passThrough("Tile")), 6);
  rules.note("Tile", {}, "opset 6 or later");
}

}  // namespace opkit::ops::tile
