// Reshape, Flatten, Squeeze and Unsqueeze: the same elements under another shape.
#include <algorithm>

#include "engine/op/op_registry.h"
#include "ops/reshape/reshape_parts.h"

namespace opkit::ops::reshape {
namespace {

Result<std::vector<TensorDesc>> withShape(const ShapeArgs& args, Shape shape) {
  return std::vector{TensorDesc{args.input(0).dtype, std::move(shape)}};
}

/// Resolves 0 (copy) and -1 (infer) in a requested shape.
Result<Shape> resolve(Shape target, const Shape& from, bool allowZero) {
  int inferred = -1;
  for (size_t d = 0; d < target.size(); ++d) {
    if (target[d] == 0 && !allowZero) {
      if (d >= from.size())
        return Status::invalidArgument("extent 0 at axis {} needs an input of rank > {}, got {}", d, d, toString(from));
      target[d] = from[d];
    } else if (target[d] == -1) {
      if (inferred >= 0) return Status::invalidArgument("at most one extent may be -1, got {}", toString(target));
      inferred = static_cast<int>(d);
    } else if (target[d] < 0) {
      return Status::invalidArgument("extents must be -1 or more, got {}", target[d]);
    }
  }
  const int64_t total = elementCount(from);
  if (inferred >= 0) {
    target[static_cast<size_t>(inferred)] = 1;
    OPKIT_TRY(checkShape(target));
    const int64_t rest = elementCount(target);
    if (rest == 0 || total % rest != 0)
      return Status::invalidArgument("cannot infer -1: {} elements of {} do not divide by {}", total, toString(from),
                                     rest);
    target[static_cast<size_t>(inferred)] = total / rest;
  }
  OPKIT_TRY(checkShape(target));
  if (elementCount(target) != total)
    return Status::invalidArgument("expected {} elements as in {}, got shape {}", total, toString(from),
                                   toString(target));
  return target;
}

Result<std::vector<TensorDesc>> reshapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(Shape shape, resolve(args.integers(1), args.shape(0), args.params<ReshapeParams>().allow_zero));
  return withShape(args, std::move(shape));
}

Result<std::vector<TensorDesc>> flattenRule(const ShapeArgs& args) {
  const Shape& from = args.shape(0);
  const auto rank = static_cast<int64_t>(from.size());
  int64_t axis = args.params<FlattenParams>().axis;
  if (axis < -rank || axis > rank)
    return Status::invalidArgument("axis must be in [{}, {}], got {}", -rank, rank, axis);
  if (axis < 0) axis += rank;
  const auto split = static_cast<size_t>(axis);
  return withShape(args, {elementCount(from, 0, split), elementCount(from, split, from.size())});
}

/// Marks which of `rank` axes are listed; InvalidArgument for one out of range or listed twice.
Result<std::vector<bool>> markAxes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> marked(rank, false);
  for (const int64_t listed : axes) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(listed, rank));
    if (marked[static_cast<size_t>(axis)]) return Status::invalidArgument("axis {} is listed twice", listed);
    marked[static_cast<size_t>(axis)] = true;
  }
  return marked;
}

Result<std::vector<TensorDesc>> squeezeRule(const ShapeArgs& args) {
  const Shape& from = args.shape(0);
  std::vector<bool> dropped(from.size());
  if (args.hasInput(1)) {
    OPKIT_ASSIGN(dropped, markAxes(args.integers(1), from.size()));
  } else {
    std::transform(from.begin(), from.end(), dropped.begin(), [](int64_t extent) { return extent == 1; });
  }
  Shape shape;
  for (size_t d = 0; d < from.size(); ++d) {
    if (!dropped[d])
      shape.push_back(from[d]);
    else if (from[d] != 1)
      return Status::invalidArgument("axis {} must have extent 1, got {}", d, toString(from));
  }
  return withShape(args, std::move(shape));
}

Result<std::vector<TensorDesc>> unsqueezeRule(const ShapeArgs& args) {
  const std::vector<int64_t> axes = args.integers(1);
  const size_t rank = args.shape(0).size() + axes.size();
  OPKIT_ASSIGN(const std::vector<bool> added, markAxes(axes, rank));
  Shape shape;
  size_t next = 0;
  for (size_t d = 0; d < rank; ++d) shape.push_back(added[d] ? 1 : args.shape(0)[next++]);
  return withShape(args, std::move(shape));
}

Result<std::vector<RegionList>> lower(const ShapeArgs&, std::span<const TensorDesc> outputs) {
  return std::vector{RegionList{{contiguousRegion(0, 0, 0, outputs[0].elements())}}};
}

}  // namespace

void define(OpRegistry& registry) {
  const Port shape{"shape", kIndexTypes, Port::Kind::Required, true};
  const Port axes{"axes", kIndexTypes, Port::Kind::Required, true};
  const Port optionalAxes{"axes", kIndexTypes, Port::Kind::Optional, true};
  registry.add({.type = "Reshape",
                .summary = "the same elements under a requested shape",
                .params = paramsSchema<ReshapeParams>(kReshapeSchema),
                .inputs = {{"x", kEveryDType}, shape},
                .outputs = {{"y", kEveryDType}},
                .inferShapes = reshapeRule,
                .lower = lower,
                .oracle = reference});
  registry.add({.type = "Flatten",
                .summary = "the same elements as a matrix, split at an axis",
                .params = paramsSchema<FlattenParams>(kFlattenSchema),
                .inputs = {{"x", kEveryDType}},
                .outputs = {{"y", kEveryDType}},
                .inferShapes = flattenRule,
                .lower = lower,
                .oracle = reference});
  registry.add({.type = "Squeeze",
                .summary = "removes axes of extent 1",
                .inputs = {{"x", kEveryDType}, optionalAxes},
                .outputs = {{"y", kEveryDType}},
                .inferShapes = squeezeRule,
                .lower = lower,
                .oracle = reference});
  registry.add({.type = "Unsqueeze",
                .summary = "inserts axes of extent 1",
                .inputs = {{"x", kEveryDType}, axes},
                .outputs = {{"y", kEveryDType}},
                .inferShapes = unsqueezeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::reshape
