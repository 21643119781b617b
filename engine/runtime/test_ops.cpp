#include "engine/runtime/test_ops.h"

namespace opkit::test {
namespace {

Result<std::vector<TensorDesc>> sameShape(const ShapeArgs& args) { return std::vector{args.input(0)}; }

Status addOne(const OracleArgs& args) {
  for (size_t i = 0; i < args.input(0).real.size(); ++i) args.output().real[i] = args.input(0).real[i] + 1;
  return Status::ok();
}

Status negate(const OracleArgs& args) {
  for (size_t i = 0; i < args.input(0).real.size(); ++i) args.output().real[i] = -args.input(0).real[i];
  return Status::ok();
}

Status shapeOf(const OracleArgs& args) {
  std::copy(args.input(0).shape().begin(), args.input(0).shape().end(), args.output().integer.begin());
  return Status::ok();
}

Status fill(const OracleArgs& args) {
  std::fill(args.output().real.begin(), args.output().real.end(), args.input(1).real[0]);
  return Status::ok();
}

Result<std::vector<RegionList>> view(const ShapeArgs& args, std::span<const TensorDesc>) {
  return std::vector{RegionList{{contiguousRegion(0, 0, 0, args.input(0).elements())}}};
}

Result<std::vector<RegionList>> mirror(const ShapeArgs& args, std::span<const TensorDesc>) {
  const int64_t count = args.input(0).elements();
  return std::vector{RegionList{{Region{0, count - 1, 0, {count}, {-1}, {1}}}}};
}

Result<std::vector<RegionList>> concat(const ShapeArgs& args, std::span<const TensorDesc>) {
  const int64_t first = args.input(0).elements();
  return std::vector{
      RegionList{{contiguousRegion(0, 0, 0, first), contiguousRegion(1, 0, first, args.input(1).elements())}}};
}

Result<std::vector<TensorDesc>> flatten(const ShapeArgs& args) {
  return std::vector{TensorDesc{args.input(0).dtype, {args.input(0).elements()}}};
}

}  // namespace

OpRegistry makeTestOps() {
  OpRegistry registry;
  registry.add(
      {.type = "AddOne", .inputs = {{"x", kFloats}}, .outputs = {{"y"}}, .inferShapes = sameShape, .oracle = addOne});
  registry.add(
      {.type = "Negate", .inputs = {{"x", kFloats}}, .outputs = {{"y"}}, .inferShapes = sameShape, .oracle = negate});
  registry.add({.type = "View", .inputs = {{"x"}}, .outputs = {{"y"}}, .inferShapes = flatten, .lower = view});
  registry.add({.type = "Mirror", .inputs = {{"x"}}, .outputs = {{"y"}}, .inferShapes = sameShape, .lower = mirror});
  registry.add(
      {.type = "Concat2",
       .inputs = {{"a"}, {"b"}},
       .outputs = {{"y"}},
       .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
         return std::vector{TensorDesc{args.input(0).dtype, {args.input(0).elements() + args.input(1).elements()}}};
       },
       .lower = concat});
  registry.add({.type = "ShapeOf",
                .inputs = {{"x"}},
                .outputs = {{"shape"}},
                .shapeOnly = true,
                .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
                  return std::vector{TensorDesc{DType::Int64, {static_cast<int64_t>(args.shape(0).size())}}};
                },
                .oracle = shapeOf});
  registry.add({.type = "FillTo",
                .inputs = {{.name = "shape", .dtypes = kIndexTypes, .contents = true}, {"value", kFloats}},
                .outputs = {{"y"}},
                .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
                  return std::vector{TensorDesc{args.input(1).dtype, args.integers(0)}};
                },
                .oracle = fill});
  return registry;
}

}  // namespace opkit::test
