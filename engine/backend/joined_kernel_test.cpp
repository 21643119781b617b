#include "engine/backend/joined_kernel.h"

#include <gtest/gtest.h>

#include "engine/backend/backend_registry.h"

namespace opkit {
namespace {

OpDef card() {
  return {
      .type = "Any",
      .inputs = {{"x"}},
      .outputs = {{"y"}},
      .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> { return Status::unsupported("any"); }};
}

/// A Creator whose Executions cannot be made: the message says which it is.
Creator named(const std::string& kernel, DTypeSet dtypes, Status (*supports)(const CreateArgs&)) {
  return {.supports = supports,
          .create = [kernel](const CreateArgs&, Backend&) -> Result<std::unique_ptr<Execution>> {
            return Status::internal("made by {}", kernel);
          },
          .dtypes = dtypes,
          .kernel = kernel};
}

Status takesAll(const CreateArgs&) { return Status::ok(); }
Status takesSmall(const CreateArgs& args) {
  return args.input(0).elements() < 8 ? Status::ok() : Status::unsupported("too large");
}

void addThree(OpRegistry& registry) {
  Creator image = named("image", DTypeSet(DType::Float32), takesAll);
  image.layout = Layout::NC4HW4;
  registry.addCreator("cpu", "Any", image);
  registry.addCreator("cpu", "Any", named("small", DTypeSet(DType::Float32), takesSmall));
  registry.addCreator("cpu", "Any", named("wide", DTypeSet(DType::Float64), takesAll));
  registry.addCreator("vulkan", "Any", named("device", kAnyDType, takesAll));
}

/// The refusal of a node, or the name of the kernel that runs it.
std::string outcome(const Creator& creator, const TensorDesc& x, Backend& backend) {
  const OpDef def = card();
  const DeviceCaps device;
  const std::vector<const TensorDesc*> inputs{&x};
  const CreateArgs args{def, {}, inputs, {}, {}, device};
  const Status supported = creator.supports(args);
  return supported.isOk() ? creator.create(args, backend).error().message() : supported.message();
}

TEST(JoinedKernel, GivesANodeToTheFirstKernelThatTakesIt) {
  OpRegistry registry;
  registry.add(card());
  const Creator joined = joinedKernel(registry, "cpu", "Any", addThree, "fused", [](const CreateArgs& args) {
    return args.input(0).shape.size() == 1 ? Status::ok() : Status::unsupported("rank");
  });
  EXPECT_EQ(joined.kernel, "fused");
  EXPECT_EQ(joined.layout, Layout::NCHW);
  EXPECT_TRUE((joined.dtypes == DTypeSet{DType::Float32, DType::Float64}));
  const auto runtime = createRuntime("cpu", {});
  ASSERT_TRUE(runtime);
  const auto backend = (*runtime)->createBackend(registry, {});
  ASSERT_TRUE(backend);
  EXPECT_EQ(outcome(joined, {DType::Float32, {4}}, **backend), "made by small");
  EXPECT_EQ(outcome(joined, {DType::Float64, {4}}, **backend), "made by wide");
  EXPECT_EQ(outcome(joined, {DType::Float32, {4, 1}}, **backend), "rank") << "its own condition comes first";
  EXPECT_EQ(outcome(joined, {DType::Int32, {4}}, **backend), "Any: the kernel takes f64, got i32");
  EXPECT_TRUE(registry.creators("cpu", "Any").empty()) << "the copies stay out of the registry";
}

TEST(JoinedKernel, KeepsTheReasonOfARefusal) {
  OpRegistry registry;
  registry.add(card());
  const auto onlySmall = [](OpRegistry& copies) {
    copies.addCreator("cpu", "Any", named("small", kAnyDType, takesSmall));
  };
  const Creator joined = joinedKernel(registry, "cpu", "Any", onlySmall, "fused", takesAll);
  const auto runtime = createRuntime("cpu", {});
  ASSERT_TRUE(runtime);
  const auto backend = (*runtime)->createBackend(registry, {});
  ASSERT_TRUE(backend);
  EXPECT_EQ(outcome(joined, {DType::Float32, {9}}, **backend), "too large");
}

}  // namespace
}  // namespace opkit
