// GraphPass: one named rewrite of a model or of its encoded commands, at a fixed position of the schedule.
//
// Passes live in OpRegistry::passes(): the engine brings those that name no operator (engine/graph/passes), operator
// folders bring theirs in <op>_passes.cpp, plugins add more. Each can be switched off by name. A pass is immutable
// and may be used by several threads at once.
#pragma once

#include <functional>
#include <string>

#include "engine/base/status.h"

namespace opkit {

struct Model;
struct EncodedGraph;
class OpRegistry;

struct GraphPass {
  enum class Position {
    BeforeLowering,  // once per Interpreter, on the Model: shapes are not known
    AfterLowering,   // at each resize, on the commands and regions
    Last,            // after all of those
  };
  std::string name;     // "fold-batch-norm"; unique in a registry
  std::string summary;  // one sentence for lists
  Position position = Position::BeforeLowering;
  /// Set for BeforeLowering. Leaves a valid model with the same outputs; returns how often it changed something.
  std::function<Result<size_t>(Model&, const OpRegistry&)> rewriteModel;
  /// Set for the other positions. Does not change tensors that are outputs of the model.
  std::function<Result<size_t>(EncodedGraph&, const Model&)> rewriteGraph;
};

const char* nameOf(GraphPass::Position position);

}  // namespace opkit
