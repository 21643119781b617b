// ONNX lists figures of activations only where functions use them; here every function has its own.
#include "engine/import/onnx/onnx_fields.h"
#include "ops/cast/cast_generated.h"
#include "ops/recurrent/recurrent.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::recurrent {
namespace {

struct NamedActivation {
  const char* onnxName;
  Activation kind;
  bool usesAlpha;
  bool usesBeta;
};

constexpr NamedActivation kActivations[] = {{"Relu", Activation::Relu, false, false},
                                            {"Tanh", Activation::Tanh, false, false},
                                            {"Sigmoid", Activation::Sigmoid, false, false},
                                            {"Affine", Activation::Affine, true, true},
                                            {"LeakyRelu", Activation::LeakyRelu, true, false},
                                            {"ThresholdedRelu", Activation::ThresholdedRelu, true, false},
                                            {"ScaledTanh", Activation::ScaledTanh, true, true},
                                            {"HardSigmoid", Activation::HardSigmoid, true, true},
                                            {"Elu", Activation::Elu, true, false},
                                            {"Softsign", Activation::Softsign, false, false},
                                            {"Softplus", Activation::Softplus, false, false}};

/// By its name in any case.
Result<const NamedActivation*> activationNamed(const OnnxNode& node, std::string name) {
  const auto lowered = [](std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return text;
  };
  const std::string given = name;
  name = lowered(name);
  for (const NamedActivation& candidate : kActivations)
    if (name == lowered(candidate.onnxName)) return &candidate;
  return Status::unsupported("{}: activations must be functions of ONNX, got '{}'", node.opType(), given);
}

/// One figure per function. A list as long as the functions has one for each; a shorter one those that are used, in
/// order, and defaults take the rest.
Result<std::vector<float>> figuresOf(const OnnxNode& node, const std::string& attribute,
                                     const std::vector<const NamedActivation*>& functions,
                                     bool NamedActivation::*isUsed, float Function::*figure) {
  const std::vector<float> given = node.floatsAttribute(attribute);
  if (given.empty() || given.size() == functions.size()) return given;
  std::vector<float> figures;
  size_t next = 0;
  for (const NamedActivation* function : functions)
    figures.push_back(function->*isUsed && next < given.size() ? given[next++] : withDefaults(function->kind).*figure);
  if (next < given.size())
    return Status::invalidArgument("{}: {} lists {} values, but the activations use {}", node.opType(), attribute,
                                   given.size(), next);
  return figures;
}

Status setActivations(const OnnxNode& node, RecurrentParamsT& params) {
  std::vector<std::string> names = node.stringsAttribute("activations");
  if (names.empty()) return Status::ok();
  const size_t directions = params.direction == Direction::Bidirectional ? 2 : 1;
  if (node.opType() == "RNN" && names.size() > directions) names.resize(directions);  // ONNX lists two
  std::vector<const NamedActivation*> functions;
  for (const std::string& name : names) {
    OPKIT_ASSIGN(const NamedActivation* function, activationNamed(node, name));
    functions.push_back(function);
    params.activations.push_back(function->kind);
  }
  OPKIT_ASSIGN(params.activation_alpha,
               figuresOf(node, "activation_alpha", functions, &NamedActivation::usesAlpha, &Function::alpha));
  OPKIT_ASSIGN(params.activation_beta,
               figuresOf(node, "activation_beta", functions, &NamedActivation::usesBeta, &Function::beta));
  return Status::ok();
}

const OnnxFields<RecurrentParamsT>& fields() {
  using Params = RecurrentParamsT;
  static const OnnxFields<Params> fields{choice("direction", &Params::direction,
                                                {{"forward", Direction::Forward},
                                                 {"reverse", Direction::Reverse},
                                                 {"bidirectional", Direction::Bidirectional}}),
                                         field("hidden_size", &Params::hidden_size), field("clip", &Params::clip),
                                         field({"layout", 14}, &Params::batch_first)};
  return fields;
}

const OnnxField<RecurrentParamsT>& linearBeforeReset() {
  static const auto one = field({"linear_before_reset", 3}, &RecurrentParamsT::linear_before_reset);
  return one;
}

const OnnxField<RecurrentParamsT>& inputForget() {
  static const auto one = field("input_forget", &RecurrentParamsT::input_forget);
  return one;
}

Result<RecurrentParamsT> paramsOf(const OnnxNode& node) {
  OPKIT_ASSIGN(RecurrentParamsT params, readFields(node, fields()));
  OPKIT_TRY(linearBeforeReset().read(node, params));
  OPKIT_TRY(inputForget().read(node, params));
  OPKIT_TRY(setActivations(node, params));
  return params;
}

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const RecurrentParamsT params, paramsOf(node));
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

/// The figures that functions use, in their order. Where the parameters list none, defaults hold.
std::vector<float> usedFigures(const RecurrentParamsT& params, const std::vector<float>& figures,
                               bool NamedActivation::*isUsed) {
  std::vector<float> used;
  for (size_t i = 0; i < std::min(figures.size(), params.activations.size()); ++i)
    for (const NamedActivation& known : kActivations)
      if (known.kind == params.activations[i] && known.*isUsed) used.push_back(figures[i]);
  return used;
}

Status write(const RecurrentParamsT& params, const OpNode& node, OnnxForm& form) {
  OPKIT_TRY(writeFields(params, fields(), form));
  if (node.type == "GRU") OPKIT_TRY(linearBeforeReset().write(params, form));
  if (node.type == "LSTM") OPKIT_TRY(inputForget().write(params, form));
  std::vector<std::string> names;
  for (const Activation kind : params.activations)
    for (const NamedActivation& known : kActivations)
      if (known.kind == kind) names.emplace_back(known.onnxName);
  if (names.empty()) return Status::ok();
  form.attributes["activations"] = names;
  const std::vector<float> alpha = usedFigures(params, params.activation_alpha, &NamedActivation::usesAlpha),
                           beta = usedFigures(params, params.activation_beta, &NamedActivation::usesBeta);
  if (!alpha.empty()) form.attributes["activation_alpha"] = alpha;
  if (!beta.empty()) form.attributes["activation_beta"] = beta;
  return Status::ok();
}

OnnxInverse inverseFor(const char* type) { return inverseOf<RecurrentParamsT>({type}, write); }

/// Input i, quantised weights [directions, k, n] with scales and zero points [directions] or [directions, n] from input
/// `scale` on, as floats [directions, n, k].
Result<TensorId> realWeights(OnnxNode& node, size_t i, size_t scale, int64_t directions) {
  for (const size_t needed : {i, scale, scale + 1})
    if (!node.input(needed)) return Status::invalidArgument("input {} is required", needed);
  cast::CastParamsT toFloat;
  toFloat.to = cast::ElementType::f32;
  const auto floats = [&](TensorId x) { return node.emitIntermediate("Cast", {x}, packParams(toFloat)); };
  const TensorId shape = node.addConstant("per_direction", std::vector<int64_t>{directions, 1, -1});
  const auto spread = [&](TensorId values) { return node.emitIntermediate("Reshape", {values, shape}); };
  const TensorId differences =
      node.emitIntermediate("Sub", {floats(node.input(i)), spread(floats(node.input(scale + 1)))});
  const TensorId weights = node.emitIntermediate("Mul", {differences, spread(node.input(scale))});
  transpose::TransposeParamsT swap;
  swap.perm = {0, 2, 1};
  return node.emitIntermediate("Transpose", {weights}, packParams(swap));
}

/// An LSTM whose weights are quantised. Its products are computed in floats: ONNX Runtime quantises x and h as well.
Status dynamicLstm(OnnxNode& node) {
  OPKIT_ASSIGN(const RecurrentParamsT params, paramsOf(node));
  const int64_t directions = params.direction == Direction::Bidirectional ? 2 : 1;
  OPKIT_ASSIGN(const TensorId w, realWeights(node, 1, 8, directions));
  OPKIT_ASSIGN(const TensorId r, realWeights(node, 2, 10, directions));
  std::vector<TensorId> inputs{node.input(0), w, r};
  for (size_t i = 3; i < 8; ++i) inputs.push_back(node.input(i));
  return node.emit("LSTM", inputs, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const auto with = [](std::vector<OnnxAttribute> more) {
    std::vector<OnnxAttribute> attributes = attributesOf(fields());
    attributes.insert(attributes.end(), {"activation_alpha", "activation_beta", "activations"});
    attributes.insert(attributes.end(), more.begin(), more.end());
    return attributes;
  };
  // Before opset 7, output_sequence said whether the model uses y; its outputs say that too.
  const OnnxAttribute sequence{"output_sequence", 1, 6};
  rules.add("RNN", with({sequence}), {rule, inverseFor("RNN")});
  rules.add("GRU", with({sequence, linearBeforeReset().attributes[0]}), {rule, inverseFor("GRU")});
  rules.add("LSTM", with({sequence, inputForget().attributes[0]}), {rule, inverseFor("LSTM")});
  std::vector<OnnxAttribute> dynamic = with(inputForget().attributes);
  std::erase_if(dynamic, [](const OnnxAttribute& attribute) { return attribute.name == "layout"; });
  rules.add("com.microsoft::DynamicQuantizeLSTM", dynamic, dynamicLstm);
  rules.note("com.microsoft::DynamicQuantizeLSTM", {"DequantizeLinear", "LSTM"}, "computes in floats");
}

}  // namespace opkit::ops::recurrent
