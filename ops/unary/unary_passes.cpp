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
bool isPlainScalar(const ModelEdit& edit, int tensor, double value) {
  const std::optional<float> found = edit.scalar(tensor);
  if (!found || !edit.constant(tensor)->desc.shape.empty()) return false;
  const Tensor& constant = *edit.constant(tensor);
  const double exact = constant.desc.dtype == DType::Float64 ? constant.data<double>()[0] : double{*found};
  const bool isRoot = value == M_SQRT2 || value == M_SQRT1_2;
  return std::fabs(exact - value) <= (isRoot ? value * roundingOf(constant.desc.dtype) : 0);
}

/// The other input of a node with this scalar as one input; -1 if neither is the scalar.
int otherThan(const ModelEdit& edit, const ModelNode& node, double value) {
  if (isPlainScalar(edit, node.inputs[1], value)) return node.inputs[0];
  return isPlainScalar(edit, node.inputs[0], value) ? node.inputs[1] : -1;
}

/// The x of 1 + erf(x / sqrt 2); -1 if `tensor` is something else or has other readers.
int argumentOfErfPlusOne(const ModelEdit& edit, int tensor, std::vector<ModelNode*>& parts) {
  ModelNode* add = edit.producer(tensor, "Add");
  if (!add || !edit.isOnlyReader(tensor) || !add->params.empty()) return -1;
  const int errorValue = otherThan(edit, *add, 1);
  ModelNode* error = edit.producer(errorValue, "Erf");
  if (!error || !edit.isOnlyReader(errorValue)) return -1;
  const int scaled = error->inputs[0];
  ModelNode* scale = edit.producer(scaled);
  if (!scale || !edit.isOnlyReader(scaled) || !scale->params.empty()) return -1;
  int x = -1;
  if (scale->type == "Div" && isPlainScalar(edit, scale->inputs[1], M_SQRT2)) x = scale->inputs[0];
  if (scale->type == "Mul") x = otherThan(edit, *scale, M_SQRT1_2);
  if (x >= 0) parts.insert(parts.end(), {add, error, scale});
  return x;
}

/// The factors of a product of any nesting, as long as the intermediate products have no other readers.
void collectFactors(const ModelEdit& edit, ModelNode& product, std::vector<int>& factors,
                    std::vector<ModelNode*>& parts) {
  parts.push_back(&product);
  for (int input : product.inputs) {
    ModelNode* inner = edit.producer(input, "Mul");
    const bool within = inner && edit.isOnlyReader(input) && inner->params.empty() && parts.size() < 4;
    if (within)
      collectFactors(edit, *inner, factors, parts);
    else
      factors.push_back(input);
  }
}

/// The x of the GELU that ends in `product`; -1 if there is none. `parts` are its nodes.
int geluArgument(const ModelEdit& edit, ModelNode& product, std::vector<ModelNode*>& parts) {
  std::vector<int> factors;
  collectFactors(edit, product, factors, parts);
  if (factors.size() != 3) return -1;
  const auto half =
      std::find_if(factors.begin(), factors.end(), [&](int factor) { return isPlainScalar(edit, factor, 0.5); });
  if (half == factors.end()) return -1;
  factors.erase(half);
  for (size_t i = 0; i < 2; ++i) {
    std::vector<ModelNode*> more;
    const int x = argumentOfErfPlusOne(edit, factors[i], more);
    if (x < 0 || x != factors[1 - i]) continue;
    parts.insert(parts.end(), more.begin(), more.end());
    return x;
  }
  return -1;
}

Result<size_t> fuseGelu(Model& model, const OpRegistry&) {
  ModelEdit edit(model);
  for (size_t n = model.nodes.size(); n-- > 0;) {  // the outermost product first
    ModelNode& node = model.nodes[n];
    if (node.type != "Mul" || edit.isRemoved(node) || !node.params.empty()) continue;
    std::vector<ModelNode*> parts;
    const int x = geluArgument(edit, node, parts);
    if (x < 0) continue;
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
