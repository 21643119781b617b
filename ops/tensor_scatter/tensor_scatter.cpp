// TensorScatter as a ScatterND of rows, or as a Concat if every sample is written from its start on.
#include <numeric>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/parts.h"
#include "ops/tensor_scatter/tensor_scatter_parts.h"

namespace opkit::ops::tensor_scatter {
namespace {

using Value = Decomposition::Value;

/// The cache as [batch, outer, extent, inner], where tokens are written along `extent`.
struct Plan {
  size_t axis;
  int64_t batch, outer, extent, tokens, inner;
};

Result<Plan> planOf(const ShapeArgs& args) {
  const Shape &cache = args.shape(0), &update = args.shape(1);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<TensorScatterParams>().axis, cache.size()));
  if (axis == 0) return Status::invalidArgument("axis must not be that of the batch, got 0 of {}", toString(cache));
  const auto a = static_cast<size_t>(axis);
  Shape expected = cache;
  if (update.size() == cache.size()) expected[a] = update[a];
  if (update != expected || update[a] > cache[a])
    return Status::invalidArgument("update must be {} or shorter along axis {}, got {}", toString(cache), axis,
                                   toString(update));
  return Plan{a, cache[0], elementCount(cache, 1, a), cache[a], update[a], elementCount(cache, a + 1, cache.size())};
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const Plan plan, planOf(args));
  OPKIT_TRY(requireSameType(args, 1, "update", 0));
  if (args.hasInput(2) && args.shape(2) != Shape{plan.batch})
    return Status::invalidArgument("write_indices must be [{}], got {}", plan.batch, toString(args.shape(2)));
  return std::vector{args.input(0)};
}

class Parts {
 public:
  Parts(const ShapeArgs& args, const Plan& plan, Decomposition& parts) : args_(args), plan_(plan), parts_(parts) {}

  /// All samples from 0 on: the update, then the rest of the cache.
  Status writeFront() {
    const auto axis = static_cast<int64_t>(plan_.axis);
    OPKIT_ASSIGN(const Value starts, listOf(parts_, {plan_.tokens}));
    OPKIT_ASSIGN(const Value ends, listOf(parts_, {plan_.extent}));
    OPKIT_ASSIGN(const Value axes, listOf(parts_, {axis}));
    const Value rest = parts_.add("Slice", {parts_.input(0), starts, ends, axes});
    parts_.setOutput(0, concatenated(parts_, {parts_.input(1), rest}, static_cast<int>(axis)));
    return Status::ok();
  }

  /// Token t of row r = (sample, outer) goes to place (r, write_index[sample] + t).
  Status writeAnywhere() {
    const int64_t rows = plan_.batch * plan_.outer;
    OPKIT_ASSIGN(const Value places, placesOf());
    OPKIT_ASSIGN(const Value data, reshaped(parts_, parts_.input(0), {rows, plan_.extent, plan_.inner}));
    OPKIT_ASSIGN(const Value updates, reshaped(parts_, parts_.input(1), {rows, plan_.tokens, plan_.inner}));
    OPKIT_ASSIGN(const Value y, reshaped(parts_, parts_.add("ScatterND", {data, places, updates}), args_.shape(0)));
    parts_.setOutput(0, y);
    return Status::ok();
  }

 private:
  Result<Value> expanded(Value x, const Shape& shape) {
    OPKIT_ASSIGN(const Value list, listOf(parts_, shape));
    return parts_.add("Expand", {x, list});
  }
  Result<Value> counted(const Shape& shape) {
    std::vector<int64_t> values(static_cast<size_t>(elementCount(shape)));
    std::iota(values.begin(), values.end(), int64_t{0});
    return integersOf(parts_, shape, values);
  }

  /// [rows, tokens, 2]: row and place of each token.
  Result<Value> placesOf() {
    const int64_t rows = plan_.batch * plan_.outer;
    OPKIT_ASSIGN(const Value first, reshaped(parts_, parts_.input(2), {plan_.batch, 1, 1, 1}));
    OPKIT_ASSIGN(const Value token, counted({1, 1, plan_.tokens, 1}));
    Value place = parts_.add("Add", {first, token});
    if (args_.params<TensorScatterParams>().mode == WriteMode::Circular) {
      OPKIT_ASSIGN(const Value extent, scalarOf(parts_, DType::Int64, plan_.extent));
      place = parts_.add("Mod", {place, extent});
    }
    OPKIT_ASSIGN(place, expanded(place, {plan_.batch, plan_.outer, plan_.tokens, 1}));
    OPKIT_ASSIGN(place, reshaped(parts_, place, {rows, plan_.tokens, 1}));
    OPKIT_ASSIGN(Value row, counted({rows, 1, 1}));
    OPKIT_ASSIGN(row, expanded(row, {rows, plan_.tokens, 1}));
    return concatenated(parts_, {row, place}, 2);
  }

  const ShapeArgs& args_;
  const Plan& plan_;
  Decomposition& parts_;
};

Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  OPKIT_ASSIGN(const Plan plan, planOf(args));
  Parts made(args, plan, parts);
  return args.hasInput(2) ? made.writeAnywhere() : made.writeFront();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "TensorScatter",
                .summary = "a cache with new tokens, written from an index of each sample on",
                .params = paramsSchema<TensorScatterParams>(kTensorScatterSchema),
                .inputs = {{"past_cache"}, {"update"}, {"write_indices", DTypeSet{DType::Int64}, Port::Kind::Optional}},
                .outputs = {{"present_cache"}},
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = [](const ShapeArgs&, auto) { return 0.0; },
                .oracle = hiding(reference, hidden)});
}

}  // namespace opkit::ops::tensor_scatter
