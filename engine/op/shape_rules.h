// Shape rules shared by many operators. Plain functions for OpDef::inferShapes, thread-safe.
#pragma once

#include "engine/op/op_def.h"

namespace opkit {

/// One output with the dtype and shape of input 0. Ignores the other inputs.
inline Result<std::vector<TensorDesc>> likeFirstInput(const ShapeArgs& args) { return std::vector{args.input(0)}; }

/// One output with the dtype and shape of the inputs. InvalidArgument if the inputs differ; it names both descriptions.
inline Result<std::vector<TensorDesc>> likeAllInputs(const ShapeArgs& args) {
  for (size_t i = 1; i < args.inputs.size(); ++i)
    if (args.hasInput(i) && !(args.input(i) == args.input(0)))
      return Status::invalidArgument("inputs must be alike, got {} and {}", args.input(0).toString(),
                                     args.input(i).toString());
  return likeFirstInput(args);
}

}  // namespace opkit
