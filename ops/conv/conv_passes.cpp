// fuse-conv-clamp: merges a Relu or Clip into the Conv before it.
// Assumes: what ops/unary/fuse_clamp.h says; Conv takes floats only (its ports).
#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"
#include "ops/conv/conv_generated.h"
#include "ops/unary/fuse_clamp.h"

namespace opkit::ops::conv {
namespace {

Result<size_t> fuseClamp(Model& model, const OpRegistry&) {
  return unary::fuseClamps<ConvParams>(model, "Conv", [](const ModelEdit&, const ModelNode&) { return true; });
}

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"fuse-conv-clamp", "a Relu or Clip after a Conv is done by its kernel",
                    GraphPass::Position::BeforeLowering, fuseClamp, nullptr});
}

}  // namespace opkit::ops::conv
