#include "ops/com_microsoft/com_microsoft.h"
#include "ops/conv/conv_onnx.h"
#include "ops/einsum/einsum_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/layer_norm/layer_norm_generated.h"
#include "ops/rms_norm/rms_norm_generated.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

/// x, or x + bias if the node has that input.
int plus(OnnxNode& node, int x, size_t bias) {
  return node.input(bias) < 0 ? x : node.emitIntermediate("Add", {x, node.input(bias)});
}

Status biasGelu(OnnxNode& node) { return node.emit("Gelu", {plus(node, node.input(0), 1)}); }
Status fastGelu(OnnxNode& node) { return node.emit("GeluTanh", {plus(node, node.input(0), 1)}); }

/// x * sigmoid(alpha x).
Status quickGelu(OnnxNode& node) {
  unary::UnaryParamsT params;
  params.alpha = node.floatAttribute("alpha", 1.702f);
  return node.emit("Swish", {node.input(0)}, packParams(params));
}

/// alpha * op(a) op(b), where op exchanges the last two axes. A list has none to exchange.
Status fusedMatMul(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "transBatchA", 0));
  OPKIT_TRY(requireOnly(node, "transBatchB", 0));
  const bool transA = node.intAttribute("transA", 0) != 0, transB = node.intAttribute("transB", 0) != 0;
  const float alpha = node.floatAttribute("alpha", 1);
  int product = 0;
  if (transA || transB) {
    einsum::EinsumParamsT params;
    params.equation = fmt::format("...{},...{}->...ij", transA ? "ki" : "ik", transB ? "jk" : "kj");
    product = node.emitIntermediate("Einsum", {node.input(0), node.input(1)}, packParams(params));
  } else {
    product = node.emitIntermediate("MatMul", {node.input(0), node.input(1)});
  }
  if (alpha == 1) return node.emit("Identity", {product});
  return node.emit("Mul", {product, node.emitIntermediate("CastLike", {node.addConstant("alpha", alpha), product})});
}

Status fusedGemm(OnnxNode& node) {
  using Gemm = gemm::GemmParamsT;
  const OnnxFields<Gemm> fields{field("alpha", &Gemm::alpha), field("beta", &Gemm::beta),
                                field("transA", &Gemm::trans_a), field("transB", &Gemm::trans_b)};
  OPKIT_ASSIGN(const Gemm params, readFields(node, fields));
  std::vector<float> values;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (node.hasAttribute(name)) values.push_back(node.floatAttribute(name, 0));
  const int product = node.emitIntermediate("Gemm", node.inputs(), packParams(params));
  return emitActivation(node, product, node.stringAttribute("activation", ""), values);
}

/// Conv, plus the optional input Z, then the activation.
Status fusedConv(OnnxNode& node) {
  OPKIT_ASSIGN(const conv::ConvParamsT params, readFields(node, conv::convFields()));
  const int made = node.emitIntermediate("Conv", {node.input(0), node.input(1), node.input(2)}, packParams(params));
  return emitActivation(node, plus(node, made, 3), node.stringAttribute("activation", ""),
                        node.floatsAttribute("activation_params"));
}

Status requireNoStatistics(const OnnxNode& node) {
  if (!node.hasOutput(1) && !node.hasOutput(2)) return Status::ok();
  return Status::unsupported("its outputs mean and inv_std_var are for training");
}

/// Inputs x, skip, gamma, then beta (not in the simplified form) and bias. y = norm(x + skip + bias).
Status skipNorm(OnnxNode& node, bool simplified) {
  OPKIT_TRY(requireNoStatistics(node));
  const int sum = plus(node, node.emitIntermediate("Add", {node.input(0), node.input(1)}), simplified ? 3 : 4);
  const float epsilon = node.floatAttribute("epsilon", 1e-12f);
  OPKIT_TRY(node.emitOutput(3, "Identity", {sum}));
  if (simplified) {
    rms_norm::RmsNormParamsT params;
    params.epsilon = epsilon;
    return node.emitOutput(0, "RMSNormalization", {sum, node.input(2)}, packParams(params));
  }
  layer_norm::LayerNormParamsT params;
  params.epsilon = epsilon;
  std::vector<int> inputs{sum, node.input(2)};
  if (node.input(3) >= 0) inputs.push_back(node.input(3));
  return node.emitOutput(0, "LayerNormalization", std::move(inputs), packParams(params));
}

Status simplifiedNorm(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "stash_type", 1));
  if (node.hasOutput(1)) return requireNoStatistics(node);
  using Params = rms_norm::RmsNormParamsT;
  const OnnxFields<Params> fields{field("axis", &Params::axis), field("epsilon", &Params::epsilon)};
  OPKIT_ASSIGN(const Params params, readFields(node, fields));
  return node.emit("RMSNormalization", node.inputs(), packParams(params));
}

}  // namespace

Status emitActivation(OnnxNode& node, int x, const std::string& name, const std::vector<float>& values) {
  struct Known {
    const char *name, *type;
    size_t parameters;
  };
  constexpr Known kKnown[] = {{"Relu", "Relu", 0},
                              {"Tanh", "Tanh", 0},
                              {"Sigmoid", "Sigmoid", 0},
                              {"HardSwish", "HardSwish", 0},
                              {"LeakyRelu", "LeakyRelu", 1},
                              {"HardSigmoid", "HardSigmoid", 2},
                              {"Clip", "Clip", 2}};
  if (name.empty()) return node.emit("Identity", {x});
  for (const Known& known : kKnown) {
    if (name != known.name) continue;
    if (!values.empty() && values.size() < known.parameters)
      return Status::invalidArgument("activation {} takes {} parameters, found {}", name, known.parameters,
                                     values.size());
    unary::UnaryParamsT params;
    if (known.parameters > 0 && !values.empty()) params.alpha = values[0];
    if (known.parameters > 1 && !values.empty()) params.beta = values[1];
    return node.emit(known.type, {x}, packParams(params));
  }
  return Status::unsupported(
      "activation '{}' is not one of Relu, Tanh, Sigmoid, HardSwish, LeakyRelu, HardSigmoid, Clip", name);
}

std::string qualified(const char* type) { return std::string("com.microsoft::") + type; }

void addOnnx(OnnxRules& rules) {
  rules.add(qualified("Gelu"), {}, passThrough("Gelu"));
  rules.add(qualified("BiasGelu"), {}, biasGelu);
  rules.add(qualified("FastGelu"), {}, fastGelu);
  rules.add(qualified("QuickGelu"), {"alpha"}, quickGelu);
  rules.add(qualified("FusedMatMul"), {"alpha", "transA", "transB", "transBatchA", "transBatchB"}, fusedMatMul);
  rules.add(qualified("TransposeMatMul"), {"alpha", "transA", "transB"}, fusedMatMul);
  rules.add(qualified("FusedGemm"),
            {"alpha", "beta", "transA", "transB", "activation", "activation_alpha", "activation_beta"}, fusedGemm);
  std::vector<OnnxAttribute> conv = attributesOf(conv::convFields());
  conv.insert(conv.end(), {"activation", "activation_params"});
  rules.add(qualified("FusedConv"), conv, fusedConv);
  rules.add(qualified("SkipLayerNormalization"), {"epsilon"}, [](OnnxNode& node) { return skipNorm(node, false); });
  rules.add(qualified("SkipSimplifiedLayerNormalization"), {"epsilon"},
            [](OnnxNode& node) { return skipNorm(node, true); });
  // ONNX Runtime's optimiser writes it in the domain of ONNX.
  for (const std::string& type :
       {qualified("SimplifiedLayerNormalization"), std::string("SimplifiedLayerNormalization")})
    rules.add(type, {"axis", "epsilon", "stash_type"}, simplifiedNorm);
  addQuantisedRules(rules);
  addAttentionRules(rules);
  addGroupQueryRules(rules);
  addRotaryRules(rules);
  addEmbeddingRules(rules);
  addLayoutRules(rules);
  addBlockRules(rules);
  rules.note(qualified("Gelu"), {"Gelu"});
  rules.note(qualified("BiasGelu"), {"Add", "Gelu"});
  rules.note(qualified("FastGelu"), {"Add", "GeluTanh"});
  rules.note(qualified("QuickGelu"), {"Swish"});
  rules.note(qualified("FusedMatMul"), {"MatMul", "Einsum", "Mul"}, "transBatchA and transBatchB are 0");
  rules.note(qualified("TransposeMatMul"), {"MatMul", "Einsum", "Mul"});
  rules.note(qualified("FusedGemm"), {"Gemm"},
             "the activation is Relu, Tanh, Sigmoid, HardSwish, LeakyRelu, HardSigmoid or Clip");
  rules.note(qualified("FusedConv"), {"Conv", "Add"},
             "the activation is Relu, Tanh, Sigmoid, HardSwish, LeakyRelu, HardSigmoid or Clip");
  rules.note(qualified("SkipLayerNormalization"), {"Add", "LayerNormalization"}, "no outputs mean and inv_std_var");
  rules.note(qualified("SkipSimplifiedLayerNormalization"), {"Add", "RMSNormalization"},
             "no outputs mean and inv_std_var");
  for (const std::string& type :
       {qualified("SimplifiedLayerNormalization"), std::string("SimplifiedLayerNormalization")})
    rules.note(type, {"RMSNormalization"}, "statistics are f32: stash_type is 1; no output inv_std_var");
}

}  // namespace opkit::ops::com_microsoft
