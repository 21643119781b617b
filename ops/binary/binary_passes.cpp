// fuse-binary-clamp: merges a Relu or Clip into the kernel of the arithmetic on two floating operands before it. After
// lowering, since models do not say which tensors are floats before shapes are known.
//
// Assumes what ops/unary/fuse_clamp.h says, and leaves the activation otherwise:
// - Nothing else reads a view of the tensor either (readers_).
// - The clamp reads the very tensor: a view may have another shape. Its elements are floats, and what makes it is
//   arithmetic, whose kernels clamp on every backend (fuse).
#include "engine/graph/encoder.h"
#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"
#include "ops/binary/binary.h"
#include "ops/unary/fuse_clamp.h"

namespace opkit::ops::binary {
namespace {

class ClampFusion {
 public:
  ClampFusion(EncodedGraph& graph, const Model& model)
      : graph_(graph), model_(model), producer_(graph.descs.size(), nullptr), readers_(graph.descs.size(), 0) {
    for (EncodedCommand& command : graph.commands) {
      for (const TensorId output : command.outputs)
        if (output) producer_[output] = &command;
      for (const TensorId input : command.inputs)
        if (input) ++readers_[graph.alias[input]];
    }
    for (const TensorId output : model.outputs) ++readers_[graph.alias[output]];
  }

  size_t run() {
    std::vector<bool> fused(graph_.commands.size(), false);
    for (size_t c = 0; c < fused.size(); ++c) fused[c] = fuse(graph_.commands[c]);
    std::vector<EncodedCommand> kept;
    for (size_t c = 0; c < fused.size(); ++c)
      if (!fused[c]) kept.push_back(std::move(graph_.commands[c]));
    graph_.commands = std::move(kept);
    return static_cast<size_t>(std::count(fused.begin(), fused.end(), true));
  }

 private:
  /// True if the command is a clamp that its producer has taken over.
  bool fuse(EncodedCommand& command) {
    if (command.regions || command.inputs.empty()) return false;
    const std::optional<Clamp> clamp = unary::clampOfNode(command.def->type, command.params(model_));
    if (!clamp) return false;
    // The very tensor, not a view of it: a view may have another shape.
    const TensorId tensor = command.inputs[0];
    if (!producer_[tensor] || readers_[tensor] != 1 || !isFloat(graph_.descs[tensor].dtype)) return false;
    EncodedCommand& source = *producer_[tensor];
    if (!isArithmetic(*source.def)) return false;
    auto params = unpackParams<BinaryParams>(source.params(model_));
    const std::optional<Clamp> both = unary::composed(clampOf(params), *clamp);
    if (!both) return false;
    params.clamp_low = both->low;
    params.clamp_high = both->high;
    source.ownParams = packParams(params);
    source.outputs = command.outputs;
    source.flops += command.flops;
    producer_[command.outputs[0]] = producer_[tensor];  // for a clamp after this one
    return true;
  }

  static bool isArithmetic(const OpDef& def) {
    const auto rows = functions();
    return std::any_of(rows.begin(), rows.end(), [&](const Function& row) {
      return row.kind == Function::Kind::Arithmetic && row.name == def.type;
    });
  }

  EncodedGraph& graph_;
  const Model& model_;
  IndexedVector<TensorId, EncodedCommand*> producer_;  // the command that makes it, or null
  IndexedVector<TensorId, size_t> readers_;            // of a root tensor
};

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass(
      {"fuse-binary-clamp", "a Relu or Clip after arithmetic on two operands is done by its kernel",
       GraphPass::Position::AfterLowering, nullptr,
       [](EncodedGraph& graph, const Model& model) -> Result<size_t> { return ClampFusion(graph, model).run(); }});
}

}  // namespace opkit::ops::binary
