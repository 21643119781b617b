// Identity, and Dropout in inference: the input, and a mask that keeps everything.
#include "engine/op/op_registry.h"
#include "ops/identity/identity_parts.h"

namespace opkit::ops::identity {
namespace {

Region whole(const TensorDesc& desc) { return contiguousRegion(0, 0, 0, desc.elements()); }

Result<std::vector<TensorDesc>> identityRule(const ShapeArgs& args) { return std::vector{args.input(0)}; }

Result<std::vector<RegionList>> lowerIdentity(const ShapeArgs&, std::span<const TensorDesc> outputs) {
  return std::vector{RegionList{{whole(outputs[0])}}};
}

Result<std::vector<TensorDesc>> dropoutRule(const ShapeArgs& args) {
  if (args.input(1).elements() != 1)
    return Status::invalidArgument("kept must hold one element, got {}", toString(args.shape(1)));
  return std::vector{args.input(0), TensorDesc{args.input(1).dtype, args.shape(0)}};
}

Result<std::vector<RegionList>> lowerDropout(const ShapeArgs&, std::span<const TensorDesc> outputs) {
  std::vector<RegionList> lists{RegionList{{whole(outputs[0])}}};
  if (outputs.size() > 1) lists.push_back({{}, RegionList::Fill::Input, 1});
  return lists;
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Identity",
                .summary = "a copy",
                .inputs = {{"x", kEveryDType}},
                .outputs = {{"y", kEveryDType}},
                .inferShapes = identityRule,
                .lower = lowerIdentity,
                .oracle = reference});
  registry.add({.type = "Dropout",
                .summary = "inference: the input, and a mask that keeps everything",
                .inputs = {{"x"}, {"kept"}},
                .outputs = {{"y"}, {"mask", kAnyDType, Port::Kind::Optional}},
                .inferShapes = dropoutRule,
                .lower = lowerDropout,
                .oracle = reference});
}

}  // namespace opkit::ops::identity
