#include "ops/control_flow/control_flow.h"

#include "engine/op/op_registry.h"
#include "ops/control_flow/scan_schema.h"

namespace opkit::ops::control_flow {

void define(OpRegistry& registry) {
  const Port any{"values", kEveryDType | kObjects, Port::Kind::Variadic};
  registry.add({.type = "If",
                .summary = "runs one of two subgraphs",
                .inputs = {{"condition", kBool}, any},
                .outputs = {any},
                .subgraphs = {"then_branch", "else_branch"},
                .control = runIf});
  registry.add(
      {.type = "Loop",
       .summary = "runs a subgraph a number of times or until it says stop",
       .inputs = {{"trips", kIndexTypes, Port::Kind::Optional}, {"condition", kBool, Port::Kind::Optional}, any},
       .outputs = {any},
       .subgraphs = {"body"},
       .control = runLoop});
  registry.add({.type = "Scan",
                .summary = "runs a subgraph over the slices of tensors and stacks what it makes",
                .params = paramsSchema<ScanParams>(kScanSchema),
                .inputs = {any},
                .outputs = {any},
                .subgraphs = {"body"},
                .control = runScan});
}

}  // namespace opkit::ops::control_flow
