#include "engine/import/onnx/onnx_fields.h"
#include "ops/text/over_strings.h"
#include "ops/unique/unique_parts.h"

namespace opkit::ops::unique {
namespace {

using Params = UniqueParamsT;

OnnxFields<Params> fields() { return {field("axis", &Params::axis), field("sorted", &Params::sorted)}; }

/// Three of the outputs are cut to the number of slices that are used.
Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const Params params, readFields(node, fields()));
  const std::vector<TensorId> found = node.emitIntermediates("Unique", {node.input(0)}, 5, packParams(params));
  const TensorId zero = node.addConstant("zero", std::vector<int64_t>{0});
  const TensorId axis = node.addConstant("axis", std::vector<int64_t>{params.axis.value_or(0)});
  OPKIT_TRY(node.emitOutput(0, "Slice", {found[0], zero, found[4], axis}));
  OPKIT_TRY(node.emitOutput(1, "Slice", {found[1], zero, found[4]}));
  OPKIT_TRY(node.emitOutput(2, "Identity", {found[2]}));
  return node.emitOutput(3, "Slice", {found[3], zero, found[4]});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const auto write = [](const Params& params, const OpNode& node, OnnxForm& form) -> Status {
    if (node.outputs < 5) return Status::unsupported("without its last output Unique does not say how much is used");
    const int64_t axis = params.axis.value_or(0), rank = std::ssize(node.inputs[0]->shape);
    form.outputs = {{0, 4, static_cast<size_t>(axis < 0 ? axis + rank : axis)}, {1, 4}, {2}, {3, 4}};
    return writeFields(params, fields(), form);
  };
  const OnnxRule unique{rule, inverseOf<Params>({"Unique"}, write)};
  rules.add("Unique", attributesOf(fields()), text::overStrings(unique, {.made = text::Made::FirstStrings}), 11);
}

}  // namespace opkit::ops::unique
