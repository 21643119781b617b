// Rules of norms of com.microsoft: SkipLayerNormalization, SkipSimplifiedLayerNormalization,
// SimplifiedLayerNormalization, GatedRMSNorm, GroupNorm, SkipGroupNorm.
#include <optional>

#include "engine/import/onnx/onnx_fields.h"
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/group_norm/group_norm_generated.h"
#include "ops/layer_norm/layer_norm_generated.h"
#include "ops/rms_norm/rms_norm_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

using Layer = layer_norm::LayerNormParamsT;

/// The input of a norm; the bias may be absent.
struct Rows {
  TensorId x, scale, bias;
  Layer params = {};
};

ParamBytes rmsParams(int axis, float epsilon) {
  rms_norm::RmsNormParamsT params;
  params.axis = axis;
  params.epsilon = epsilon;
  return packParams(params);
}

/// Output 0 alone. Rows that are not centred have the type of their scale.
Status emitRows(OnnxNode& node, const Rows& rows) {
  const Layer& params = rows.params;
  if (!params.centred)
    return node.emitOutput(0, "RMSNormalization", {rows.x, rows.scale}, rmsParams(params.axis, params.epsilon));
  std::vector<TensorId> inputs{rows.x, rows.scale};
  if (rows.bias) inputs.push_back(rows.bias);
  return node.emitOutput(0, "LayerNormalization", std::move(inputs), packParams(params));
}

/// Output 0, and the means and inverse deviations of rows as the outputs `mean` and `inverse`; these are f32.
Status emitRowsAndStatistics(OnnxNode& node, const Rows& rows, std::optional<size_t> mean, size_t inverse) {
  if (!(mean && node.hasOutput(*mean)) && !node.hasOutput(inverse)) return emitRows(node, rows);
  RuleParts parts(node);
  std::vector<TensorId> inputs{rows.x, parts.castLike(rows.scale, rows.x)};
  if (rows.bias) inputs.push_back(rows.bias);
  const std::vector<TensorId> made =
      node.emitIntermediates("LayerNormalization", std::move(inputs), 3, packParams(rows.params));
  OPKIT_TRY(node.emitOutput(0, "CastLike", {made[0], rows.scale}));
  cast::CastParamsT toF32;
  toF32.to = cast::ElementType::f32;
  if (mean) OPKIT_TRY(node.emitOutput(*mean, "Cast", {made[1]}, packParams(toF32)));
  return node.emitOutput(inverse, "Cast", {made[2]}, packParams(toF32));
}

/// Inputs x, skip, gamma, then beta (not in the simplified form) and bias. y = norm(x + skip + bias). Outputs y, mean,
/// 1 / deviation, sum.
Status skipNorm(OnnxNode& node, bool simplified) {
  RuleParts parts(node);
  TensorId sum = parts.pair("Add", node.input(0), node.input(1));
  if (const TensorId bias = node.input(simplified ? 3 : 4); bias) sum = parts.pair("Add", sum, bias);
  OPKIT_TRY(node.emitOutput(3, "Identity", {sum}));
  Rows rows{sum, node.input(2), simplified ? TensorId() : node.input(3)};
  rows.params.epsilon = node.floatAttribute("epsilon", 1e-12f);
  rows.params.centred = !simplified;
  return emitRowsAndStatistics(node, rows, 1, 2);
}

/// Outputs y and 1 / deviation.
Status simplifiedNorm(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "stash_type", 1));
  const OnnxFields<Layer> fields{field("axis", &Layer::axis), field("epsilon", &Layer::epsilon),
                                 fixed(&Layer::centred, false)};
  OPKIT_ASSIGN(const Layer params, readFields(node, fields));
  return emitRowsAndStatistics(node, {node.input(0), node.input(1), {}, params}, std::nullopt, 1);
}

/// Inputs x [..., groups * size], scale [size], gate. Each group is normalised on its own.
Status gatedNorm(OnnxNode& node) {
  RuleParts parts(node);
  const TensorId x = node.input(0), scale = node.input(1);
  const TensorId groups = parts.reshaped(x, parts.joined({parts.list({-1}), parts.extents(scale, 0, 1)}));
  const TensorId y =
      node.emitIntermediate("RMSNormalization", {groups, scale}, rmsParams(-1, node.floatAttribute("epsilon", 1e-5f)));
  const TensorId gate = node.emitIntermediate("Swish", {node.input(2)});
  return node.emit("Mul", {parts.reshaped(y, node.emitIntermediate("Shape", {x})), gate});
}

/// Channels of x normalised in groups, in the type of gamma; then perhaps Swish. Channels are the second axis.
Result<TensorId> groupsOf(OnnxNode& node, TensorId x) {
  group_norm::GroupNormParamsT params;
  OPKIT_ASSIGN(params.num_groups, requiredInt(node, "groups"));
  params.epsilon = node.floatAttribute("epsilon", params.epsilon);
  OPKIT_ASSIGN(const bool isSwish, flagOf(node, "activation"));
  const TensorId gamma = node.input(1), wide = RuleParts(node).castLike(x, gamma);
  const TensorId y = node.emitIntermediate("GroupNormalization", {wide, gamma, node.input(2)}, packParams(params));
  return isSwish ? node.emitIntermediate("Swish", {y}) : y;
}

/// x, or x + skip + bias, as [batch, places, channels]; a skip of [batch, channels] has one place.
TensorId placesOf(OnnxNode& node) {
  RuleParts parts(node);
  const TensorId x = node.input(0);
  const TensorId shape = parts.joined({parts.extents(x, 0, 1), parts.list({-1}), parts.extents(x, -1, kMostAxes)});
  TensorId sum = parts.reshaped(x, shape);
  if (node.input(3)) sum = parts.pair("Add", sum, parts.reshaped(node.input(3), shape));
  return !node.input(4) ? sum : parts.pair("Add", sum, node.input(4));
}

/// Inputs x, gamma, beta, and those of the other form: skip and bias. Outputs y and, in the other form, the sum.
Status groupNorm(OnnxNode& node) {
  RuleParts parts(node);
  OPKIT_ASSIGN(const bool isLast, flagOf(node, "channels_last", true));
  const TensorId x = node.input(0);
  if (!isLast) {
    if (node.input(3)) return Status::unsupported("channels_last must be 1 beside the input skip, got 0");
    OPKIT_ASSIGN(const TensorId y, groupsOf(node, x));
    return node.emit("CastLike", {y, x});
  }
  const TensorId sum = placesOf(node), extents = node.emitIntermediate("Shape", {x});
  OPKIT_ASSIGN(const TensorId y, groupsOf(node, parts.transposed(sum, {0, 2, 1})));
  OPKIT_TRY(node.emitOutput(0, "Reshape", {parts.castLike(parts.transposed(y, {0, 2, 1}), x), extents}));
  return node.hasOutput(1) ? node.emitOutput(1, "Reshape", {sum, extents}) : Status::ok();
}

}  // namespace

void addNormRules(OnnxRules& rules) {
  rules.add(qualified("SkipLayerNormalization"), {"epsilon"}, [](OnnxNode& node) { return skipNorm(node, false); });
  rules.add(qualified("SkipSimplifiedLayerNormalization"), {"epsilon"},
            [](OnnxNode& node) { return skipNorm(node, true); });
  rules.note(qualified("SkipLayerNormalization"), {"Add", "LayerNormalization"});
  rules.note(qualified("SkipSimplifiedLayerNormalization"), {"Add", "RMSNormalization", "LayerNormalization"});
  // ONNX Runtime's optimiser writes it in the domain of ONNX.
  for (const std::string& type :
       {qualified("SimplifiedLayerNormalization"), std::string("SimplifiedLayerNormalization")}) {
    rules.add(type, {"axis", "epsilon", "stash_type"}, simplifiedNorm);
    rules.note(type, {"RMSNormalization", "LayerNormalization"}, "statistics are f32: stash_type is 1");
  }
  rules.add(qualified("GatedRMSNorm"), {"epsilon"}, gatedNorm);
  rules.note(qualified("GatedRMSNorm"), {"RMSNormalization", "Swish", "Mul"});
  const std::vector<OnnxAttribute> groups{required("activation"), "channels_last", "epsilon", required("groups")};
  rules.add(qualified("GroupNorm"), groups, groupNorm);
  rules.add(qualified("SkipGroupNorm"), groups, groupNorm);
  rules.note(qualified("GroupNorm"), {"GroupNormalization", "Swish"});
  rules.note(qualified("SkipGroupNorm"), {"Add", "GroupNormalization", "Swish"}, "channels_last is 1");
}

}  // namespace opkit::ops::com_microsoft
