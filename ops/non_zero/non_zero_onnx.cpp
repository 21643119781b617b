#include "engine/import/onnx/onnx_fields.h"
#include "ops/gather/gather_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::non_zero {
namespace {

/// Inputs of a Slice that keeps the first `count` columns of `indices`.
std::vector<TensorId> usedColumns(OnnxNode& node, TensorId x) {
  const std::vector<TensorId> found = node.emitIntermediates("NonZero", {x}, 2);
  return {found[0], node.addConstant("starts", std::vector<int64_t>{0}), found[1],
          node.addConstant("axes", std::vector<int64_t>{1})};
}

Status nonZero(OnnxNode& node) { return node.emit("Slice", usedColumns(node, node.input(0))); }

/// Gathers where the condition holds: slices along `axis`, or elements of the flattened tensor.
Status compress(OnnxNode& node) {
  const TensorId flatShape = node.addConstant("flat", std::vector<int64_t>{-1});
  const TensorId columns = node.emitIntermediate("Slice", usedColumns(node, node.input(1)));
  const TensorId indices = node.emitIntermediate("Reshape", {columns, flatShape});
  using Params = ops::gather::GatherParamsT;
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {field("axis", &Params::axis)}));
  const TensorId x =
      node.hasAttribute("axis") ? node.input(0) : node.emitIntermediate("Reshape", {node.input(0), flatShape});
  return node.emit("Gather", {x, indices}, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const auto write = [](const OpNode&, OnnxForm& form) {
    form.outputs = {{0, 1, 1}};
    return Status::ok();
  };
  rules.add("NonZero", {}, {nonZero, {{"NonZero"}, write}}, 9);
  rules.add("Compress", {"axis"}, text::overStrings(compress), 9);
  rules.note("Compress", {"NonZero", "Gather"});
}

}  // namespace opkit::ops::non_zero
