#include "engine/graph/passes/engine_passes.h"

#include "engine/op/op_registry.h"

namespace opkit {

void addEnginePasses(OpRegistry& registry) {
  registry.addPass(removeDeadCodePass());
  registry.addPass(joinEqualNodesPass());
  registry.addPass(fuseRegionsPass());
  registry.addPass(viewRangesPass());
}

}  // namespace opkit
