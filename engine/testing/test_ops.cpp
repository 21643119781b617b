#include "engine/testing/test_ops.h"

#include "engine/graph/passes/engine_passes.h"
#include "engine/op/decomposition.h"

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

Status mirrorPlusOne(const OracleArgs& args) {
  const std::vector<double>& x = args.input(0).real;
  for (size_t i = 0; i < x.size(); ++i) args.output(0).real[i] = x[x.size() - 1 - i] + 1;
  if (args.outputs.size() > 1) args.output(1).real = x;
  return Status::ok();
}

/// y = Mirror(x) + one, through a constant that depends on the shapes; z = x.
Status mirrorParts(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  OPKIT_ASSIGN(Tensor shape, Tensor::fromValues<int64_t>({DType::Int64, {static_cast<int64_t>(args.shape(0).size())}},
                                                         args.shape(0).toVector()));
  OPKIT_ASSIGN(Tensor one, Tensor::fromValues<float>({DType::Float32, {1}}, {1}));
  const auto ones = parts.add("FillTo", {parts.constant(std::move(shape)), parts.constant(std::move(one))});
  parts.setOutput(0, parts.add("Plus", {parts.add("Mirror", {parts.input(0)}), ones}));
  if (outputs.size() > 1) parts.setOutput(1, parts.input(0));
  return Status::ok();
}

Status plus(const OracleArgs& args) {
  for (size_t i = 0; i < args.input(0).real.size(); ++i)
    args.output().real[i] = args.input(0).real[i] + args.input(1).real[i];
  return Status::ok();
}

/// The number of positive elements.
Status countPositive(const OracleArgs& args) {
  int64_t count = 0;
  for (const double value : args.input(0).real) count += value > 0 ? 1 : 0;
  args.output(0).integer[0] = count;
  return Status::ok();
}

Result<std::vector<TensorDesc>> flatten(const ShapeArgs& args) {
  return std::vector{TensorDesc{args.input(0).dtype, {args.input(0).elements()}}};
}

}  // namespace

OpRegistry makeTestOps() {
  OpRegistry registry;
  addEnginePasses(registry);
  registry.add(
      {.type = "AddOne", .inputs = {{"x", kFloats}}, .outputs = {{"y"}}, .inferShapes = sameShape, .oracle = addOne});
  registry.add(
      {.type = "Negate", .inputs = {{"x", kFloats}}, .outputs = {{"y"}}, .inferShapes = sameShape, .oracle = negate});
  registry.add({.type = "NegateInPlace",
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .inPlace = {0},
                .inferShapes = sameShape,
                .oracle = negate});
  registry.add({.type = "Plus",
                .inputs = {{"a", kFloats}, {"b", kFloats}},
                .outputs = {{"y"}},
                .inferShapes = sameShape,
                .oracle = plus});
  registry.add({.type = "MirrorPlusOne",
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}, {"z", kAnyDType, Port::Kind::Optional}},
                .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
                  return std::vector{args.input(0), args.input(0)};
                },
                .decompose = mirrorParts,
                .oracle = mirrorPlusOne});
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
  registry.add({.type = "CountPositive",
                .inputs = {{"x", kFloats}},
                .outputs = {{.name = "count", .dtypes = DTypeSet{DType::Int64}, .extent = true}},
                .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
                  return std::vector{TensorDesc{DType::Int64, {1}}};
                },
                .oracle = countPositive});
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
