// Rules of products of com.microsoft: FusedMatMul, TransposeMatMul, FusedGemm, FusedConv, and the activations that
// follow them.

#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/conv/conv_onnx.h"
#include "ops/einsum/einsum_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/matmul/matmul_generated.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

/// x times a number, in the type of x.
TensorId scaled(OnnxNode& node, TensorId x, float factor) {
  if (factor == 1) return x;
  return RuleParts(node).pair("Mul", x, RuleParts(node).castLike(node.addConstant("factor", factor), x));
}

/// An operand of FusedMatMul.
struct Operand {
  size_t input;
  std::string letters;  // of its axes that are no batch axes, in their order; k is the one that is summed
  bool batchInside;     // batch axes stand between the two letters
  bool mayBeList;

  std::string term() const { return batchInside ? letters.substr(0, 1) + "..." + letters[1] : "..." + letters; }
};

Result<Operand> operandOf(const OnnxNode& node, size_t input, const char* trans, const char* transBatch,
                          std::string letters) {
  OPKIT_ASSIGN(const bool transposed, flagOf(node, trans));
  OPKIT_ASSIGN(const bool batchInside, flagOf(node, transBatch));
  if (transposed) std::swap(letters[0], letters[1]);
  const Tensor* constant = node.constantInput(input);
  return Operand{input, letters, batchInside, !batchInside && !(constant && constant->desc.shape.size() > 1)};
}

/// Lists of com.microsoft's products: they have no axes to exchange, and stand for a matrix of one row or column.
class Lists {
 public:
  explicit Lists(OnnxNode& node) : node_(node), parts_(node) {}

  /// The operand with an axis of 1 before or behind a list. The rank is known at resize.
  TensorId matrixOf(const Operand& operand) {
    const TensorId x = node_.input(operand.input), one = parts_.list({1});
    if (!operand.mayBeList) return x;
    const TensorId extents = node_.emitIntermediate("Shape", {x}), hasTwo = hasTwoAxes(operand);
    if (operand.letters[0] != 'k') {
      const TensorId behind = parts_.joined({one, extents});
      return parts_.reshaped(x, parts_.sliced(behind, hasTwo, parts_.list({kMostAxes}), 0));
    }
    const TensorId before = parts_.joined({extents, one});
    const TensorId end = parts_.pair("Sub", parts_.pair("Add", parts_.rankOf(x), one), hasTwo);
    return parts_.reshaped(x, parts_.sliced(before, parts_.list({0}), end, 0));
  }

  /// The extents of a product without the axes of 1 that lists have become.
  TensorId extentsOf(TensorId product, const Operand& a, const Operand& b) {
    const TensorId zero = parts_.list({0});
    const TensorId rows = parts_.sliced(parts_.extents(product, -2, -1), zero, hasTwoAxes(a), 0);
    const TensorId columns = parts_.sliced(parts_.extents(product, -1, kMostAxes), zero, hasTwoAxes(b), 0);
    return parts_.joined({parts_.extents(product, 0, -2), rows, columns});
  }

 private:
  /// 1 if the operand has two axes or more, else 0; i64[1].
  TensorId hasTwoAxes(const Operand& operand) {
    if (!operand.mayBeList) return parts_.list({1});
    const TensorId isMore = parts_.pair("Less", parts_.list({1}), parts_.rankOf(node_.input(operand.input)));
    return parts_.cast(isMore, cast::ElementType::i64);
  }

  OnnxNode& node_;
  RuleParts parts_;
};

/// alpha * op(a) op(b), where op exchanges the last two axes, or moves the first one behind the batch axes.
Status fusedMatMul(OnnxNode& node) {
  OPKIT_ASSIGN(const Operand a, operandOf(node, 0, "transA", "transBatchA", "ik"));
  OPKIT_ASSIGN(const Operand b, operandOf(node, 1, "transB", "transBatchB", "kj"));
  const float alpha = node.floatAttribute("alpha", 1);
  if (a.term() == "...ik" && b.term() == "...kj")
    return node.emit("Identity", {scaled(node, node.emitIntermediate("MatMul", node.inputs()), alpha)});
  einsum::EinsumParamsT params;
  params.equation = fmt::format("{},{}->...ij", a.term(), b.term());
  Lists lists(node);
  TensorId product = node.emitIntermediate("Einsum", {lists.matrixOf(a), lists.matrixOf(b)}, packParams(params));
  product = scaled(node, product, alpha);
  if (!a.mayBeList && !b.mayBeList) return node.emit("Identity", {product});
  return node.emit("Reshape", {product, lists.extentsOf(product, a, b)});
}

struct Activation {
  const char *name, *type;
  std::vector<const char*> parameters = {};
  bool isScaled = false;  // alpha * type(beta * x)
};

const std::vector<Activation>& activations() {
  static const std::vector<Activation> known{{"Relu", "Relu"},
                                             {"Tanh", "Tanh"},
                                             {"Sigmoid", "Sigmoid"},
                                             {"Silu", "Swish"},
                                             {"HardSwish", "HardSwish"},
                                             {"Softplus", "Softplus"},
                                             {"Softsign", "Softsign"},
                                             {"Elu", "Elu", {"alpha"}},
                                             {"Celu", "Celu", {"alpha"}},
                                             {"LeakyRelu", "LeakyRelu", {"alpha"}},
                                             {"ThresholdedRelu", "ThresholdedRelu", {"alpha"}},
                                             {"HardSigmoid", "HardSigmoid", {"alpha", "beta"}},
                                             {"Clip", "Clip", {"alpha", "beta"}},
                                             {"Selu", "Selu", {"alpha", "gamma"}},
                                             {"ParametricSoftplus", "Softplus", {"alpha", "beta"}, true},
                                             {"ScaledTanh", "Tanh", {"alpha", "beta"}, true}};
  return known;
}

Result<Activation> activationOf(const OnnxNode& node) {
  const std::string name = node.stringAttribute("activation", "");
  if (name.empty()) return Activation{"", "Identity"};
  std::string names;
  for (const Activation& known : activations()) {
    if (name == known.name) return known;
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return Status::unsupported("activation '{}' is not one of {}", name, names);
}

/// `values` are those of the activation's parameters, in their order.
Status emitWith(OnnxNode& node, TensorId x, const Activation& activation, const std::vector<float>& values) {
  if (activation.isScaled) {
    const TensorId y = node.emitIntermediate(activation.type, {scaled(node, x, values[1])});
    return node.emit("Identity", {scaled(node, y, values[0])});
  }
  if (values.empty()) return node.emit(activation.type, {x});
  unary::UnaryParamsT params;
  params.alpha = values[0];
  if (values.size() > 1) params.beta = values[1];
  return node.emit(activation.type, {x}, packParams(params));
}

/// Gemm, then the activation, whose parameters are attributes each.
Status fusedGemm(OnnxNode& node) {
  using Gemm = gemm::GemmParamsT;
  const OnnxFields<Gemm> fields{field("alpha", &Gemm::alpha), field("beta", &Gemm::beta),
                                field("transA", &Gemm::trans_a), field("transB", &Gemm::trans_b)};
  OPKIT_ASSIGN(const Gemm params, readFields(node, fields));
  OPKIT_ASSIGN(const Activation activation, activationOf(node));
  std::vector<float> values;
  for (const char* parameter : activation.parameters) {
    const std::string attribute = fmt::format("activation_{}", parameter);
    if (!node.hasAttribute(attribute))
      return Status::invalidArgument("activation {} needs the attribute {}", activation.name, attribute);
    values.push_back(node.floatAttribute(attribute, 0));
  }
  return emitWith(node, node.emitIntermediate("Gemm", node.inputs(), packParams(params)), activation, values);
}

/// Conv, plus the optional input Z, then the activation.
Status fusedConv(OnnxNode& node) {
  OPKIT_ASSIGN(const conv::ConvParamsT params, readFields(node, conv::convFields()));
  TensorId y = node.emitIntermediate("Conv", {node.input(0), node.input(1), node.input(2)}, packParams(params));
  if (node.input(3)) y = RuleParts(node).pair("Add", y, node.input(3));
  return emitActivation(node, y);
}

}  // namespace

Status emitActivation(OnnxNode& node, TensorId x) {
  OPKIT_ASSIGN(const Activation activation, activationOf(node));
  const size_t count = activation.parameters.size();
  if (count == 0) return emitWith(node, x, activation, {});
  const std::vector<float> values = node.floatsAttribute("activation_params");
  if (values.size() == count) return emitWith(node, x, activation, values);
  return Status::invalidArgument("activation {} takes {} activation_params, found {}", activation.name, count,
                                 values.size());
}

void addProductRules(OnnxRules& rules) {
  const std::string limits =
      "the activation is Relu, Tanh, Sigmoid, Silu, HardSwish, Softplus, Softsign, Elu, Celu, LeakyRelu, "
      "ThresholdedRelu, HardSigmoid, Clip, Selu, ParametricSoftplus or ScaledTanh";
  using Product = matmul::MatMulParamsT;
  const OnnxFields<Product> turned{field("transA", &Product::trans_a), field("transB", &Product::trans_b)};
  rules.add(qualified("FusedMatMul"), {"alpha", "transA", "transB", "transBatchA", "transBatchB"},
            {fusedMatMul, inverseOf({"MatMul"}, turned)});
  rules.add(qualified("TransposeMatMul"), {"alpha", "transA", "transB"}, fusedMatMul);
  rules.add(
      qualified("FusedGemm"),
      {"alpha", "beta", "transA", "transB", "activation", "activation_alpha", "activation_beta", "activation_gamma"},
      fusedGemm);
  std::vector<OnnxAttribute> conv = attributesOf(conv::convFields());
  conv.insert(conv.end(), {"activation", "activation_params"});
  rules.add(qualified("FusedConv"), conv, fusedConv);
  rules.note(qualified("FusedMatMul"), {"MatMul", "Einsum", "Mul"});
  rules.note(qualified("TransposeMatMul"), {"MatMul", "Einsum", "Mul"});
  rules.note(qualified("FusedGemm"), {"Gemm"}, limits);
  rules.note(qualified("FusedConv"), {"Conv", "Add"}, limits);
}

}  // namespace opkit::ops::com_microsoft
