// fuse-matmul-clamp: merges a Relu or Clip into the MatMul before it.
// Assumes: what ops/unary/fuse_clamp.h says; the product is in floats, which a constant operand in floats proves, since
// the shape rule wants one type (fuseClamp).
#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"
#include "ops/matmul/matmul_generated.h"
#include "ops/unary/fuse_clamp.h"

namespace opkit::ops::matmul {
namespace {

Result<size_t> fuseClamp(Model& model, const OpRegistry&) {
  // Integer products do not clamp; a floating constant on one side shows that the product is floating.
  return unary::fuseClamps<MatMulParams>(model, "MatMul", [](const ModelEdit& edit, const ModelNode& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId input) {
      return edit.constant(input) && isFloat(edit.constant(input)->desc.dtype);
    });
  });
}

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"fuse-matmul-clamp", "a Relu or Clip after a MatMul is done by its kernel",
                    GraphPass::Position::BeforeLowering, fuseClamp, nullptr});
}

}  // namespace opkit::ops::matmul
