#include "engine/graph/run_passes.h"

#include "engine/graph/pass.h"

namespace opkit {
namespace {

constexpr int kMaxRounds = 8;  // the result of one pass may match another

bool isEnabled(const GraphPass& pass, std::span<const std::string> disabled) {
  return std::none_of(disabled.begin(), disabled.end(),
                      [&](const std::string& name) { return name == pass.name || name == kAllPasses; });
}

/// True if the numbers of inputs and outputs match the card. The shape rules check this too, but later: passes see
/// nodes first.
bool fitsCard(const ModelNode& node, const OpDef& def) {
  if (node.outputs.empty() || !portOf(def.outputs, node.outputs.size() - 1)) return false;
  if (!node.inputs.empty() && !def.control && !portOf(def.inputs, node.inputs.size() - 1)) return false;
  for (size_t i = 0; i < def.inputs.size(); ++i)
    if (def.inputs[i].kind == Port::Kind::Required && (i >= node.inputs.size() || !node.inputs[i])) return false;
  return true;
}

}  // namespace

Status checkPassNames(const OpRegistry& registry, std::span<const std::string> names) {
  for (const std::string& name : names) {
    std::vector<std::string> known;
    for (const auto& pass : registry.passes()) known.push_back(pass->name);
    if (name != kAllPasses && std::find(known.begin(), known.end(), name) == known.end())
      return Status::invalidArgument("no graph pass is called '{}'; expected {} or one of: {}", name, kAllPasses,
                                     fmt::join(known, ", "));
  }
  return Status::ok();
}

Result<std::vector<PassCount>> rewriteModel(Model& model, const OpRegistry& registry,
                                            std::span<const std::string> disabled) {
  std::vector<PassCount> counts;
  std::vector<const GraphPass*> passes;
  for (const auto& pass : registry.passes()) {
    if (pass->position != GraphPass::Position::BeforeLowering || !isEnabled(*pass, disabled)) continue;
    passes.push_back(pass.get());
    counts.push_back({pass->name, 0});
  }
  const bool fits = std::all_of(model.nodes.begin(), model.nodes.end(),
                                [&](const ModelNode& node) { return fitsCard(node, *registry.find(node.type)); });
  size_t changes = fits ? 1 : 0;  // mismatches are reported with the node's name, when shapes are known
  for (int round = 0; round < kMaxRounds && changes > 0; ++round) {
    changes = 0;
    for (size_t i = 0; i < passes.size(); ++i) {
      const std::string context = fmt::format("graph pass '{}'", passes[i]->name);
      auto changed = passes[i]->rewriteModel(model, registry);
      if (!changed) return changed.error().withContext(context);
      if (*changed == 0) continue;
      if (const Status status = validateModel(model, registry); !status.isOk())
        return Status::internal("{}: leaves a broken model: {}", context, status.message());
      counts[i].changes += *changed;
      changes += *changed;
    }
  }
  return counts;
}

Status rewriteGraph(EncodedGraph& graph, const Model& model, const OpRegistry& registry,
                    std::span<const std::string> disabled) {
  for (const auto position : {GraphPass::Position::AfterLowering, GraphPass::Position::Last}) {
    for (const auto& pass : registry.passes()) {
      if (pass->position != position || !isEnabled(*pass, disabled)) continue;
      const auto changed = pass->rewriteGraph(graph, model);
      if (!changed) return changed.error().withContext(fmt::format("graph pass '{}'", pass->name));
    }
  }
  return Status::ok();
}

}  // namespace opkit
