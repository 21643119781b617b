#include "harness/check/shrink.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/testing/nowhere.h"
#include "harness/cases/vary.h"
#include "harness/check/check.h"
#include "harness/testing/broken_kernels.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

CaseGroup groupOf(const std::string& id) { return {{*parseCaseId(id)}}; }

/// Fails in-process on the CPU with a broken kernel of Relu.
Fails withBroken(const OpRegistry& registry) {
  return [&registry](const CaseGroup& group) -> std::optional<std::string> {
    Checker checker(registry, "cpu", *createRuntime("cpu"));
    const CaseResult result = checker.checkGroup(prepareGroup(group, registry)).front();
    for (const SubCheck& sub : result.subChecks)
      if (!sub.ok) return sub.name;
    return std::nullopt;
  };
}

TEST(Vary, EqualExtentsChangeTogether) {
  const Case c = *parseCaseId("MatMul/f32[4,7],f32[7,9]/normal/seed=7");
  EXPECT_EQ(withExtent(c, 7, 2).inputText(), "f32[4,2],f32[2,9]");
  EXPECT_EQ(extentsOf(c), (std::vector<int64_t>{9, 7, 4}));
  for (const Case& stop : walkStops(c)) EXPECT_NE(stop.inputText(), c.inputText());
}

TEST(Shrink, FindsTheSmallestShapeThatStillFails) {
  const auto fails = [](const CaseGroup& group) -> std::optional<std::string> {
    for (const int64_t extent : extentsOf(group.cases[0]))
      if (extent >= 5) return "accuracy";
    return std::nullopt;
  };
  const Shrunk small =
      shrinkGroup(groupOf(R"(Softmax{"axis":1}/f32[8,120,33]/normal/seed=7)"), "accuracy", ops::builtinOps(), fails);
  const Case& c = small.group.cases[0];
  EXPECT_EQ(extentsOf(c).front(), 5);
  EXPECT_EQ(c.params, "{}") << "the parameter does not matter";
  EXPECT_LT(small.trials, 150u);
}

TEST(Shrink, KeepsTheKindOfFailure) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, Break::LeavesOneUnwritten);
  const Shrunk small = shrinkGroup(groupOf("Relu/f32[3,65]/normal/seed=7"), "poison", registry, withBroken(registry));
  EXPECT_EQ(small.group.cases[0].inputText(), "f32[1,1]");
}

TEST(Shrink, KeepsTheWalkThatAStaleKernelNeeds) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, Break::KeepsStaleState);
  CaseGroup group = groupOf("Relu/f32[70]/normal/seed=7");
  for (const char* id : {"Relu/f32[9]/normal/seed=7", "Relu/f32[30]/normal/seed=7"})
    group.cases.push_back(*parseCaseId(id));
  std::rotate(group.cases.begin(), group.cases.begin() + 1, group.cases.end());
  std::swap(group.cases[0], group.cases[2]);
  const auto fails = withBroken(registry);
  if (const auto failed = fails(group)) {
    const Shrunk small = shrinkGroup(group, *failed, registry, fails);
    EXPECT_LE(small.group.cases.size(), group.cases.size());
    EXPECT_EQ(fails(small.group), failed);
  }
}

TEST(Capsule, SurvivesTheRoundTrip) {
  const std::string path = testing::TempDir() + "one.opcase";
  Capsule capsule{"cpu", "exact", "why", "no-fp16", "abc", groupOf(R"(Softmax{"axis":0}/f32[3,5]/normal/seed=9)"), ""};
  capsule.dataHash = dataHashOf(capsule.group, ops::builtinOps());
  ASSERT_TRUE(writeCapsule(path, capsule).isOk());
  const auto read = readCapsule(path, ops::builtinOps());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->group.cases[0].id(), capsule.group.cases[0].id());
  EXPECT_EQ(read->check, "exact");
  EXPECT_EQ(read->mask, "no-fp16");
  EXPECT_EQ(dataHashOf(read->group, ops::builtinOps()), capsule.dataHash);
}

TEST(Capsule, BadFilesAreRefused) {
  const std::string path = testing::TempDir() + "bad.opcase";
  for (const char* text :
       {"", "{}", "[1]", R"({"opcase": 1, "cases": []})", R"({"opcase": 1, "cases": ["Nope/f32[1]/normal/seed=1"]})",
        R"({"opcase": 1, "cases": [3]})", R"({"opcase": null, "cases": ["Relu/f32[1]/normal/seed=1"]})",
        R"({"opcase": [1], "cases": ["Relu/f32[1]/normal/seed=1"]})", R"({"opcase": 1, "cases": ["Relu/f32["]})"}) {
    std::ofstream(path) << text;
    const auto read = readCapsule(path, ops::builtinOps());
    EXPECT_FALSE(read) << text;
    EXPECT_TRUE(read.error().message().starts_with(path + ": ")) << read.error().message();
  }
  EXPECT_FALSE(readCapsule(nowhere(), ops::builtinOps()));
}

}  // namespace
}  // namespace opkit::harness
