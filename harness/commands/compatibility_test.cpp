// Files and case ids of an earlier build (commit 60c6d07) still mean the same. The fixtures are never made anew:
//   model.opk                     Conv, MaxPool, Gemm, Cast, Softmax and an If with two subgraphs; model_*.npy hold its
//                                 inputs and its output
//   Softmax-cpu-accuracy.opcase   a failure saved by `check --save`, of a bound that no kernel keeps
//   case_ids.txt                  the hash of the inputs, then the id
#include <gtest/gtest.h>

#include <sstream>

#include "engine/base/where.h"
#include "harness/check/check.h"
#include "harness/check/shrink.h"
#include "harness/testing/program.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

std::string fixture(const std::string& name) {
  return sourceTreeAround(OPKIT_SOURCE_DIR) + "/harness/testing/fixtures/" + name;
}

TEST(Compatibility, AModelFileGivesTheSameOutput) {
  const std::string arguments = " " + fixture("model.opk") + " --input x=" + fixture("model_x.npy") +
                                " --input c=" + fixture("model_c.npy") + " --expect y=" + fixture("model_y.npy");
  for (const std::string backend : {"cpu", "reference"}) {
    const Ran ran = runShell(opRun() + arguments + " --backend " + backend);
    EXPECT_EQ(ran.code, 0) << ran.text;
    EXPECT_NE(ran.text.find("equal  y: 0 of 5 elements outside"), std::string::npos) << ran.text;
  }
}

TEST(Compatibility, ACapsuleFailsAgainOnTheSameData) {
  const Ran ran = run("replay " + fixture("Softmax-cpu-accuracy.opcase"));
  EXPECT_EQ(ran.code, 1) << ran.text;
  EXPECT_NE(ran.text.find("it still fails"), std::string::npos) << ran.text;
  EXPECT_EQ(ran.text.find("the data are not those of the capsule"), std::string::npos) << ran.text;
}

TEST(Compatibility, CaseIdsDrawTheSameDataAndPass) {
  const OpRegistry registry = ops::builtinOps();
  Checker checker(registry, "cpu", *createRuntime("cpu"));
  std::istringstream lines(textOf(fixture("case_ids.txt")));
  size_t count = 0;
  for (std::string hash, id; lines >> hash && std::getline(lines >> std::ws, id); ++count) {
    const auto parsed = parseCaseId(id);
    ASSERT_TRUE(parsed) << id << ": " << parsed.error().toString();
    EXPECT_EQ(parsed->id(), id);
    ASSERT_TRUE(registry.find(parsed->op)) << id;
    const CaseGroup group{{*parsed}};
    EXPECT_EQ(dataHashOf(group, registry), hash) << id;
    const CaseResult result = checker.checkGroup(prepareGroup(group, registry)).front();
    EXPECT_EQ(result.status, CaseStatus::Pass) << id << ": " << result.reason;
  }
  EXPECT_GE(count, 40u);
}

}  // namespace
}  // namespace opkit::harness
