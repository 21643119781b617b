// Running the graph passes of a registry, in order, without those that were switched off.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/graph/encoder.h"
#include "engine/model/model.h"
#include "engine/op/op_registry.h"

namespace opkit {

/// How often a pass changed something.
struct PassCount {
  std::string name;
  size_t changes = 0;
};

/// The name that stands for every pass in a list of disabled ones.
inline constexpr const char* kAllPasses = "all";

/// InvalidArgument for a name that is no pass of the registry; lists the known ones.
Status checkPassNames(const OpRegistry& registry, std::span<const std::string> names);
/// The passes before lowering, again and again until none finds anything (a few rounds at most). Internal if a pass
/// leaves an invalid model; the message names the pass.
Result<std::vector<PassCount>> rewriteModel(Model& model, const OpRegistry& registry,
                                            std::span<const std::string> disabled);
/// The passes after lowering, then the last ones.
Status rewriteGraph(EncodedGraph& graph, const Model& model, const OpRegistry& registry,
                    std::span<const std::string> disabled);

}  // namespace opkit
