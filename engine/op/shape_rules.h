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

/// Whether input `i`, if given, has the dtype of input `as`. InvalidArgument names both dtypes; `name` is for the
/// message, as below.
inline Status requireSameType(const ShapeArgs& args, size_t i, std::string_view name, size_t as) {
  if (!args.hasInput(i) || args.input(i).dtype == args.input(as).dtype) return Status::ok();
  return Status::invalidArgument("{} must be {} like input {}, got {}", name, nameOf(args.input(as).dtype), as,
                                 nameOf(args.input(i).dtype));
}

/// Whether input `i`, if given, holds a parameter of input 0: of its dtype and with shape `expected`, such as the scale
/// of a norm.
inline Status requireParameter(const ShapeArgs& args, size_t i, std::string_view name, const Shape& expected) {
  OPKIT_TRY(requireSameType(args, i, name, 0));
  if (!args.hasInput(i) || args.shape(i) == expected) return Status::ok();
  return Status::invalidArgument("{} must be {} for input {}, got {}", name, toString(expected),
                                 toString(args.shape(0)), toString(args.shape(i)));
}

/// Whether a tensor of shape `from` broadcasts to `to` and leaves it as it is; `name` is that tensor's.
inline Status requireBroadcast(const Shape& from, const Shape& to, std::string_view name) {
  const auto shape = broadcastShapes(from, to);
  if (shape && *shape == to) return Status::ok();
  return Status::invalidArgument("{} must broadcast to {}, got {}", name, toString(to), toString(from));
}

/// Whether input `i`, if given, holds one value, of any rank.
inline Status requireScalar(const ShapeArgs& args, size_t i, std::string_view name) {
  if (!args.hasInput(i) || args.input(i).elements() == 1) return Status::ok();
  return Status::invalidArgument("{} must be a scalar, got {}", name, toString(args.shape(i)));
}

/// Whether input `i`, if given, is a list: contents that one value per axis or the like are read from.
inline Status requireList(const ShapeArgs& args, size_t i, std::string_view name) {
  if (!args.hasInput(i) || args.shape(i).size() <= 1) return Status::ok();
  return Status::invalidArgument("{} must be a list, got {}", name, toString(args.shape(i)));
}

/// Whether `x` is [batch, channels, ...] and its channels divide into `groups` equal groups; `name` is that
/// parameter's.
inline Status checkGroups(const Shape& x, int64_t groups, std::string_view name) {
  if (x.size() < 2) return Status::invalidArgument("the input must be [batch, channels, ...], got {}", toString(x));
  if (groups >= 1 && x[1] % groups == 0) return Status::ok();
  return Status::invalidArgument("{} must divide the {} channels of {}, got {}", name, x[1], toString(x), groups);
}

/// Whether `indices` has the rank of the data and is nowhere longer than it but along `axis`, counted from the front:
/// an index per element, as GatherElements and ScatterElements take them.
inline Status checkIndicesFit(const Shape& data, const Shape& indices, int axis) {
  if (indices.size() != data.size())
    return Status::invalidArgument("indices must have the data's rank {}, got {}", data.size(), toString(indices));
  for (size_t d = 0; d < data.size(); ++d)
    if (static_cast<int>(d) != axis && indices[d] > data[d])
      return Status::invalidArgument("indices must fit into the data {} but for axis {}, got {}", toString(data), axis,
                                     toString(indices));
  return Status::ok();
}

}  // namespace opkit
