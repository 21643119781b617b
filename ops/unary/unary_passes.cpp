// fuse-gelu: x * 0.5 * (1 + erf(x / sqrt 2)), multiplied in any order, is Gelu(x).
//
// Assumes, and leaves the nodes otherwise:
// - The constants have rank 0: one of higher rank might raise the rank of the result (isPlainScalar).
// - 1 and 0.5 are exact: 1 + erf is near 0 for negative x, where any other sum is not. The root is that of its type or,
//   but for f16, a neighbour of it (isPlainScalar).
// - x is the same tensor in the product and in erf (geluArgument).
// - The arithmetic has no parameters: no clamp, no axis of old broadcasting (argumentOfErfPlusOne, collectFactors).
// - Nothing else reads what lies between, and none of it is an output of the model (likewise).
#include <cmath>

#include "engine/graph/model_edit.h"
#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"

namespace opkit::ops::unary {
namespace {

/// How far a root in this type may be from the number, as a share of it; f64 has 1e-12 for constants of few digits.
double roundingOf(DType dtype) { return dtype == DType::Float16 ? 0x1p-11 : dtype == DType::Float32 ? 0x1p-23 : 1e-12; }

/// A constant of rank 0 with this value; a root may be rounded.
bool isPlainScalar(const ModelEdit& edit, TensorId tensor, double value) {
  const std::optional<float> found = edit.scalar(tensor);
  if (!found || !edit.constant(tensor)->desc.shape.empty()) return false;
  const Tensor& constant = *edit.constant(tensor);
  const double exact = constant.desc.dtype == DType::Float64 ? constant.data<double>()[0] : double{*found};
  const bool isRoot = value == M_SQRT2 || value == M_SQRT1_2;
  return std::fabs(exact - value) <= (isRoot ? value * roundingOf(constant.desc.dtype) : 0);
}

/// The other input of a node with this scalar as one input; absent if neither is the scalar.
TensorId otherThan(const ModelEdit& edit, const ModelNode& node, double value) {
  if (isPlainScalar(edit, node.inputs[1], value)) return node.inputs[0];
  return isPlainScalar(edit, node.inputs[0], value) ? node.inputs[1] : TensorId();
}

/// The x of 1 + erf(x / sqrt 2); absent if `tensor` is something else or has other readers.
TensorId argumentOfErfPlusOne(const ModelEdit& edit, TensorId tensor, std::vector<ModelNode*>& parts) {
  ModelNode* add = edit.producer(tensor, "Add");
  if (!add || !edit.isOnlyReader(tensor) || !add->params.empty()) return {};
  const TensorId errorValue = otherThan(edit, *add, 1);
  ModelNode* error = edit.producer(errorValue, "Erf");
  if (!error || !edit.isOnlyReader(errorValue)) return {};
  const TensorId scaled = error->inputs[0];
  ModelNode* scale = edit.producer(scaled);
  if (!scale || !edit.isOnlyReader(scaled) || !scale->params.empty()) return {};
  TensorId x;
  if (scale->type == "Div" && isPlainScalar(edit, scale->inputs[1], M_SQRT2)) x = scale->inputs[0];
  if (scale->type == "Mul") x = otherThan(edit, *scale, M_SQRT1_2);
  if (x) parts.insert(parts.end(), {add, error, scale});
  return x;
}

/// The factors of a product of any nesting, as long as the intermediate products have no other readers.
void collectFactors(const ModelEdit& edit, ModelNode& product, std::vector<TensorId>& factors,
                    std::vector<ModelNode*>& parts) {
  parts.push_back(&product);
  for (const TensorId input : product.inputs) {
    ModelNode* inner = edit.producer(input, "Mul");
    const bool within = inner && edit.isOnlyReader(input) && inner->params.empty() && parts.size() < 4;
    if (within)
      collectFactors(edit, *inner, factors, parts);
    else
      factors.push_back(input);
  }
}

/// The x of the GELU that ends in `product`; absent if there is none. `parts` are its nodes.
TensorId geluArgument(const ModelEdit& edit, ModelNode& product, std::vector<ModelNode*>& parts) {
  std::vector<TensorId> factors;
  collectFactors(edit, product, factors, parts);
  if (factors.size() != 3) return {};
  const auto half =
      std::find_if(factors.begin(), factors.end(), [&](TensorId factor) { return isPlainScalar(edit, factor, 0.5); });
  if (half == factors.end()) return {};
  factors.erase(half);
  for (size_t i = 0; i < 2; ++i) {
    std::vector<ModelNode*> more;
    const TensorId x = argumentOfErfPlusOne(edit, factors[i], more);
    if (!x || x != factors[1 - i]) continue;
    parts.insert(parts.end(), more.begin(), more.end());
    return x;
  }
  return {};
}

Result<size_t> fuseGelu(Model& model, const OpRegistry&) {
  ModelEdit edit(model);
  for (auto each = model.nodes.rbegin(); each != model.nodes.rend(); ++each) {  // the outermost product first
    ModelNode& node = *each;
    if (node.type != "Mul" || edit.isRemoved(node) || !node.params.empty()) continue;
    std::vector<ModelNode*> parts;
    const TensorId x = geluArgument(edit, node, parts);
    if (!x) continue;
    const ModelNode gelu{node.name, "Gelu", 1, {x}, node.outputs, {}, {}};
    for (ModelNode* part : parts)
      if (part != &node) edit.remove(*part);
    edit.replaceNode(node, gelu);
    edit.count();
  }
  return edit.finish();
}

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"fuse-gelu", "the five nodes of an erf-GELU are one Gelu", GraphPass::Position::BeforeLowering,
                    fuseGelu, nullptr});
}

}  // namespace opkit::ops::unary
