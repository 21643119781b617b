#include "reports/results/kernel_names.h"

#include <gtest/gtest.h>

namespace opkit {
namespace {

using Names = std::vector<std::string>;

OpDef bareCard() {
  return {
      .type = "Any",
      .inputs = {{"x"}},
      .outputs = {{"y"}},
      .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> { return Status::unsupported("any"); }};
}

Names namesOf(const OpDef& def, const std::string& backend, const std::vector<Creator>& creators = {}) {
  OpRegistry registry;
  registry.add(def);
  for (const Creator& creator : creators) registry.addCreator("cpu", def.type, creator);
  return kernelNames(registry, backend, *registry.find(def.type));
}

TEST(KernelNames, FollowTheOrderOfTheTable) {
  const std::vector<Creator> two = {{.provider = "opkit", .kernel = "vector"}, {.provider = "onednn"}};
  EXPECT_EQ(namesOf(bareCard(), "cpu", two), (Names{"opkit/vector", "onednn"}));
  EXPECT_EQ(namesOf(bareCard(), "vulkan", two), Names());
  OpDef loop = bareCard();
  loop.loop = [](const ShapeArgs&, std::span<const TensorDesc>) -> Result<LoopRegion> { return LoopRegion(); };
  EXPECT_EQ(namesOf(loop, "cpu", two), (Names{"opkit/vector", "onednn", "loop"}));
  EXPECT_EQ(namesOf(loop, "vulkan", two), Names{"loop"});
}

TEST(KernelNames, OneWordStandsForOperatorsWithoutKernels) {
  OpDef lowered = bareCard(), shapeOnly = bareCard(), known = bareCard(), control = bareCard(), oracle = bareCard();
  OpDef parts = bareCard();
  parts.decompose = [](const ShapeArgs&, std::span<const TensorDesc>, Decomposition&) { return Status::ok(); };
  lowered.lower = [](const ShapeArgs&, std::span<const TensorDesc>) -> Result<std::vector<RegionList>> {
    return std::vector<RegionList>();
  };
  shapeOnly.shapeOnly = true;
  known.inputs = {{.name = "x", .contents = true}};
  control.control = [](const ControlArgs&) -> Result<std::vector<Tensor>> { return std::vector<Tensor>(); };
  oracle.oracle = [](const OracleArgs&) { return Status::ok(); };
  parts.oracle = oracle.oracle;
  EXPECT_EQ(namesOf(parts, "cpu"), Names{"parts"});
  EXPECT_EQ(namesOf(lowered, "cpu"), Names{"raster"});
  EXPECT_EQ(namesOf(shapeOnly, "vulkan"), Names{"folded"});
  EXPECT_EQ(namesOf(known, "vulkan"), Names{"folded"});
  EXPECT_EQ(namesOf(control, "vulkan"), Names{"control"});
  EXPECT_EQ(namesOf(oracle, "cpu"), Names{"reference"});
  EXPECT_EQ(namesOf(oracle, "vulkan"), Names());
}

}  // namespace
}  // namespace opkit
