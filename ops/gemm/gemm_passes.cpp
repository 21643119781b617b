// fuse-gemm-clamp: merges a Relu or Clip into the Gemm before it.
// Assumes: what ops/unary/fuse_clamp.h says; Gemm takes floats only (its ports).
#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/unary/fuse_clamp.h"

namespace opkit::ops::gemm {
namespace {

Result<size_t> fuseClamp(Model& model, const OpRegistry&) {
  return unary::fuseClamps<GemmParams>(model, "Gemm", [](const ModelEdit&, const ModelNode&) { return true; });
}

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"fuse-gemm-clamp", "a Relu or Clip after a Gemm is done by its kernel",
                    GraphPass::Position::BeforeLowering, fuseClamp, nullptr});
}

}  // namespace opkit::ops::gemm
