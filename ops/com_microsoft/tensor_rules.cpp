// Rules of com.microsoft that are a few elementwise operators, moves or transforms: BiasAdd, GatedAdd, BiasSplitGelu,
// BiasSoftmax, CDist, ExpandDims, UnfoldTensor, TorchEmbedding, Rfft, Irfft; and those that are operators of ONNX in
// another domain: GatherND, GridSample, Pad, Range, Trilu, Unique.
#include "engine/import/onnx/onnx_fields.h"
#include "ops/builtin_ops.h"
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/dft/dft_generated.h"
#include "ops/einsum/einsum_generated.h"
#include "ops/gather/gather_generated.h"
#include "ops/pad/pad_generated.h"
#include "ops/reduce/reduce_generated.h"
#include "ops/softmax/softmax_generated.h"
#include "ops/unique/unique_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

/// x + bias + skip.
Status biasAdd(OnnxNode& node) {
  return node.emit("Add", {RuleParts(node).pair("Add", node.input(0), node.input(1)), node.input(2)});
}

/// x + y * gate.
Status gatedAdd(OnnxNode& node) {
  return node.emit("Add", {node.input(0), RuleParts(node).pair("Mul", node.input(1), node.input(2))});
}

/// The first half of x + bias, times Gelu of the second.
Status biasSplitGelu(OnnxNode& node) {
  RuleParts parts(node);
  const std::vector<TensorId> halves = parts.split(parts.pair("Add", node.input(0), node.input(1)), -1, 2);
  return node.emit("Mul", {halves[0], node.emitIntermediate("Gelu", {halves[1]})});
}

/// Softmax of x + bias over the axes from `axis` on. The bias broadcasts as in Add, whichever axes it lacks.
Status biasSoftmax(OnnxNode& node) {
  using Params = softmax::SoftmaxParamsT;
  OPKIT_ASSIGN(const Params params,
               readFields<Params>(node, {field("axis", &Params::axis, 1), fixed(&Params::flatten, true)}));
  OPKIT_TRY(flagOf(node, "is_inner_broadcast").error());
  return node.emit("Softmax", {RuleParts(node).pair("Add", node.input(0), node.input(1))}, packParams(params));
}

/// Distances of the rows of [m, n] and [k, n], as [m, k].
Status distances(OnnxNode& node) {
  OPKIT_ASSIGN(
      const char* const type,
      choiceAttribute<const char*>(node, "metric", {{"sqeuclidean", "ReduceSumSquare"}, {"euclidean", "ReduceL2"}}));
  RuleParts parts(node);
  const TensorId pairs = parts.pair("Sub", parts.unsqueezed(node.input(0), 1), parts.unsqueezed(node.input(1), 0));
  reduce::ReduceParamsT params;
  params.keep_dims = false;
  return node.emit(type, {pairs, parts.list({-1})}, packParams(params));
}

/// The axis is an i32 of one element.
Status expandDims(OnnxNode& node) {
  RuleParts parts(node);
  const TensorId axis = parts.cast(parts.reshapedTo(node.input(1), {1}), cast::ElementType::i64);
  return node.emit("Unsqueeze", {node.input(0), axis});
}

/// Letters of an Einsum that moves axis `axis` + 1, counted in x, to the end.
std::string movedToEnd(int64_t axis) {
  std::string letters;
  for (int64_t i = 0; i < (axis < 0 ? -axis - 1 : axis); ++i) letters += static_cast<char>('a' + i);
  return axis < 0 ? "...YZ" + letters + "->...Y" + letters + "Z" : letters + "YZ...->" + letters + "Y...Z";
}

/// Slices of `size` elements, `step` apart, along an axis; the elements of a slice are a further axis at the end.
Status unfold(OnnxNode& node) {
  constexpr int64_t kMostLetters = 24;
  const int64_t axis = node.intAttribute("dim", -1), step = node.intAttribute("step", 1);
  OPKIT_ASSIGN(const int64_t size, requiredInt(node, "size"));
  if (size < 1 || step < 1)
    return Status::invalidArgument("size and step must be 1 or more, got {} and {}", size, step);
  if (axis < -kMostLetters || axis > kMostLetters)
    return Status::unsupported("dim must be in [{}, {}], got {}", -kMostLetters, kMostLetters, axis);
  RuleParts parts(node);
  const TensorId x = node.input(0), stepList = parts.list({step});
  const TensorId extent = parts.extents(x, static_cast<int>(axis), axis == -1 ? kMostAxes : static_cast<int>(axis) + 1);
  const TensorId last = parts.pair("Div", parts.pair("Sub", extent, parts.list({size})), stepList);
  const TensorId begins = parts.pair("Mul", parts.countedTo(parts.pair("Add", last, parts.list({1}))), stepList);
  const TensorId elements = parts.pair("Add", parts.unsqueezed(begins, 1), parts.countedTo(parts.list({size})));
  gather::GatherParamsT params;
  params.axis = static_cast<int>(axis);
  if (axis == -1) return node.emit("Gather", {x, elements}, packParams(params));
  einsum::EinsumParamsT moved;
  moved.equation = movedToEnd(axis);
  return node.emit("Einsum", {node.emitIntermediate("Gather", {x, elements}, packParams(params))}, packParams(moved));
}

/// Further inputs, padding_idx and scale_grad_by_freq, are for training.
Status embedding(OnnxNode& node) {
  return node.emit("Gather", {node.input(0), node.input(1)}, packParams(gather::GatherParamsT()));
}

/// Half of the spectrum of real rows, and back.
Status realFourier(OnnxNode& node, bool inverse) {
  OPKIT_TRY(requireOnly(node, "normalized", 0));
  OPKIT_TRY(requireOnly(node, "onesided", 1));
  OPKIT_TRY(requireOnly(node, "signal_ndim", 1));
  RuleParts parts(node);
  dft::DftParamsT params;
  params.inverse = inverse;
  params.onesided = true;
  if (!inverse) return node.emit("DFT", {parts.unsqueezed(node.input(0), -1)}, packParams(params));
  const TensorId y = node.emitIntermediate("DFT", {node.input(0)}, packParams(params));
  return node.emit("Squeeze", {y, parts.list({-1})});
}

/// The rule of ONNX's operator of this name, as of an opset.
OnnxRule asInOnnx(const char* type, int opset) {
  return [=](OnnxNode& node) { return builtinOnnxRules().find(type, opset)->rule(node); };
}

/// As in ONNX, but pads may be a row.
Status padded(OnnxNode& node) {
  using Params = pad::PadParamsT;
  using pad::Mode;
  const auto mode =
      choice("mode", &Params::mode,
             {{"constant", Mode::Constant}, {"reflect", Mode::Reflect}, {"edge", Mode::Edge}, {"wrap", Mode::Wrap}});
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {mode}));
  std::vector<TensorId> inputs{node.input(0), RuleParts(node).reshapedTo(node.input(1), {-1})};
  if (node.input(2)) inputs.push_back(node.input(2));
  return node.emit("Pad", std::move(inputs), packParams(params));
}

/// As in ONNX, but the step may be absent.
Status range(OnnxNode& node) {
  const TensorId start = node.input(0), delta = node.input(2);
  const TensorId step = delta ? delta : RuleParts(node).castLike(node.addConstant("step", 1.0f), start);
  return node.emit("Range", {start, node.input(1), step});
}

/// Values in the order in which they occur, their places, counts.
Status uniqueInOrder(OnnxNode& node) {
  unique::UniqueParamsT params;
  params.sorted = false;
  RuleParts parts(node);
  const std::vector<TensorId> found = node.emitIntermediates("Unique", {node.input(0)}, 5, packParams(params));
  const TensorId zero = parts.list({0}), count = found[4];
  OPKIT_TRY(node.emitOutput(0, "Slice", {found[0], zero, count}));
  OPKIT_TRY(node.emitOutput(1, "Identity", {found[2]}));
  return node.emitOutput(2, "Slice", {found[3], zero, count});
}

}  // namespace

void addTensorRules(OnnxRules& rules) {
  rules.add(qualified("BiasAdd"), {}, biasAdd);
  rules.add(qualified("GatedAdd"), {}, gatedAdd);
  rules.add(qualified("BiasSplitGelu"), {}, biasSplitGelu);
  rules.add(qualified("BiasSoftmax"), {"axis", required("is_inner_broadcast")}, biasSoftmax);
  rules.add(qualified("CDist"), {"metric"}, distances);
  rules.add(qualified("ExpandDims"), {}, expandDims);
  rules.add(qualified("UnfoldTensor"), {"dim", required("size"), "step"}, unfold);
  rules.add(qualified("TorchEmbedding"), {}, embedding);
  rules.add(qualified("Rfft"), {"normalized", "onesided", "signal_ndim"},
            [](OnnxNode& node) { return realFourier(node, false); });
  rules.add(qualified("Irfft"), {"normalized", "onesided", required("signal_ndim")},
            [](OnnxNode& node) { return realFourier(node, true); });
  rules.add(qualified("GatherND"), {}, asInOnnx("GatherND", 12));
  rules.add(qualified("GridSample"), {"align_corners", "mode", "padding_mode"}, asInOnnx("GridSample", 16));
  rules.add(qualified("Trilu"), {"upper"}, asInOnnx("Trilu", 14));
  rules.add(qualified("Pad"), {"mode"}, padded);
  rules.add(qualified("Range"), {}, range);
  rules.add(qualified("Unique"), {}, uniqueInOrder);
  rules.note(qualified("BiasAdd"), {"Add"});
  rules.note(qualified("GatedAdd"), {"Mul", "Add"});
  rules.note(qualified("BiasSplitGelu"), {"Add", "Split", "Gelu", "Mul"});
  rules.note(qualified("BiasSoftmax"), {"Add", "Softmax"});
  rules.note(qualified("CDist"), {"Sub", "ReduceSumSquare", "ReduceL2"}, "metric is sqeuclidean or euclidean");
  rules.note(qualified("ExpandDims"), {"Unsqueeze"});
  rules.note(qualified("UnfoldTensor"), {"Gather", "Einsum"});
  rules.note(qualified("TorchEmbedding"), {"Gather"});
  for (const char* type : {"GatherND", "GridSample", "Trilu", "Pad", "Range", "Unique"})
    rules.note(qualified(type), {type});
  rules.note(qualified("Rfft"), {"DFT"}, "signal_ndim is 1");
  rules.note(qualified("Irfft"), {"DFT"}, "signal_ndim is 1");
}

}  // namespace opkit::ops::com_microsoft
