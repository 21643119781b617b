// inlineConstantBranches: replaces If nodes with a constant condition by the branch that they take.
#pragma once

#include "engine/base/status.h"
#include "engine/import/onnx/onnx_proto.h"

namespace opkit {

/// A condition is constant if it is an initializer without an input of its name, or the value of a Constant node, of
/// the graph or of one around it. The other branch is dropped unread. InvalidArgument: a branch that is missing, that
/// has inputs, or whose number of outputs is not the node's.
Status inlineConstantBranches(onnx::ModelProto& model);

}  // namespace opkit
