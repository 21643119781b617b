#include "harness/run/failure_causes.h"

#include <gtest/gtest.h>

#include "harness/run/case_contrast.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

CaseRecord failure(const std::string& op, const std::string& reason, const std::string& kind, const std::string& text) {
  CaseRecord one;
  one.op = op, one.backend = "vulkan", one.provider = "opkit", one.failedCheck = "accuracy";
  one.status = CaseStatus::Fail, one.reason = reason, one.repro = "op-harness check --case '" + reason + "'";
  if (!kind.empty()) one.diagnosis = {kind, text};
  return one;
}

TEST(FailureCauses, OneMistakeIsShownOnce) {
  FailureCauses causes;
  EXPECT_EQ(causes.summary(5, ops::builtinOps()), "");
  EXPECT_TRUE(causes.add(failure("Add", "3 of 20 wrong", "lane", "index % 4 == 3")));
  EXPECT_FALSE(causes.add(failure("Add", "9 of 21 wrong", "lane", "index % 8 == 3")));
  EXPECT_TRUE(causes.add(failure("Add", "1 of 20 wrong", "unknown", "")));
  EXPECT_FALSE(causes.add(failure("Add", "17 of 20 wrong", "unknown", "")));
  EXPECT_TRUE(causes.add(failure("Add", "17 of 20 never written", "unknown", "")));
  EXPECT_TRUE(causes.add(failure("Mul", "3 of 20 wrong", "lane", "index % 4 == 3")));
  CaseRecord other = failure("Add", "3 of 20 wrong", "lane", "");
  other.kernel = "image";
  EXPECT_TRUE(causes.add(other)) << "another kernel";
}

TEST(FailureCauses, WalksBeforeTheMessagePlayNoPart) {
  FailureCauses causes;
  EXPECT_TRUE(causes.add(failure("Add", "reuse: after f32[2] -> f32[3]: created 1 Execution", "", "")));
  EXPECT_FALSE(causes.add(failure("Add", "reuse: after f32[2] -> f32[9] -> f32[3]: created 2 Execution", "", "")));
  EXPECT_TRUE(causes.add(failure("Add", "reuse: after f32[2] -> f32[3]: allocated 1 buffer", "", "")));
}

TEST(FailureCauses, TheMostTellingComesIntoTheSummary) {
  FailureCauses causes;
  for (const char* reason : {"1 a", "2 a", "3 a"}) causes.add(failure("Add", reason, "unknown", ""));
  causes.add(failure("Add", "tail", "tail", "only the last 3 are wrong"));
  causes.add(failure("Add", "input", "input", "input 1 'b' is left out"));
  const std::string summary = causes.summary(5, ops::builtinOps());
  EXPECT_EQ(summary,
            "causes:\n  Add on vulkan, 5 failures of 3 kinds: input 1 'b' is left out\n    op-harness check --case "
            "'input'\n");
  causes.add(failure("Add", "race", "traced", "a race in lines 3 and 9"));
  EXPECT_NE(causes.summary(5, ops::builtinOps()).find("a race in lines 3 and 9"), std::string::npos);
}

TEST(FailureCauses, TheSummaryHasAnEnd) {
  FailureCauses causes;
  for (const char* op : {"A", "B", "C"}) causes.add(failure(op, "x", "", ""));
  const std::string summary = causes.summary(2, ops::builtinOps());
  EXPECT_NE(summary.find("and 1 more operators and backends"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("C on vulkan"), std::string::npos);
}

std::vector<std::string> reductions(int64_t from, int64_t to, int64_t step, const std::string& params) {
  std::vector<std::string> ids;
  for (int64_t n = from; n < to; n += step)
    ids.push_back(fmt::format("ReduceSum{}/f32[3,{}]/normal/seed=7", params, n));
  return ids;
}

TEST(CaseContrast, NamesTheParameterOrTheExtentOfFailingCasesAlone) {
  const OpDef& def = *ops::builtinOps().find("ReduceSum");
  const std::string last = R"({"axes":[1]})", flat = R"({"axes":[1],"keep_dims":false})";
  const std::vector<std::string> passing = reductions(8, 80, 8, last);
  EXPECT_EQ(contrastOf(def, reductions(9, 12, 1, last), passing),
            "axis -1 of 'x' is no multiple of 4: so in all 3 cases that fail in this way, and in none of 9 that pass");
  EXPECT_NE(contrastOf(def, reductions(8, 80, 8, flat), passing).find("keep_dims"), std::string::npos);
  EXPECT_NE(contrastOf(def, reductions(800, 1000, 8, last), passing).find("is at least 800"), std::string::npos);
}

TEST(CaseContrast, SaysNothingOfCasesThatDoNotDifferOrAreFew) {
  const OpDef& def = *ops::builtinOps().find("ReduceSum");
  const std::vector<std::string> all = reductions(8, 80, 1, R"({"axes":[1]})");
  EXPECT_EQ(contrastOf(def, all, all), "");
  EXPECT_EQ(contrastOf(def, {all[1]}, all), "") << "one failure has many properties";
  EXPECT_EQ(contrastOf(def, {all[1], all[3]}, {all[0], all[8]}), "");
  EXPECT_EQ(contrastOf(def, {"no case", "none"}, all), "");
}

TEST(FailureCauses, TheSummarySaysWhatFailingCasesHaveInCommon) {
  FailureCauses causes;
  const auto add = [&](const std::string& id, bool failed) {
    CaseRecord one = failure("ReduceSum", "wrong", "unknown", "");
    one.id = id;
    failed ? (void)causes.add(one) : causes.addPass(one);
  };
  for (const std::string& id : reductions(8, 80, 8, R"({"axes":[1]})")) add(id, false);
  for (const std::string& id : reductions(9, 12, 1, R"({"axes":[1]})")) add(id, true);
  EXPECT_NE(causes.summary(5, ops::builtinOps()).find("no multiple of 4: so in all 3 cases"), std::string::npos);
}

TEST(FailureCauses, APassWithoutTheFailedSubCheckProvesNothing) {
  FailureCauses causes;
  for (const std::string& id : reductions(9, 12, 1, R"({"axes":[1]})")) {
    CaseRecord one = failure("ReduceSum", "wrong", "unknown", "");
    one.id = id, one.failedCheck = "variants";
    causes.add(one);
  }
  const auto addPasses = [&](std::vector<std::string> checks) {
    for (const std::string& id : reductions(8, 80, 8, R"({"axes":[1]})")) {
      CaseRecord one = failure("ReduceSum", "", "", "");
      one.id = id, one.status = CaseStatus::Pass, one.checks = checks;
      causes.addPass(one);
    }
    return causes.summary(5, ops::builtinOps());
  };
  EXPECT_EQ(addPasses({"accuracy"}).find("so in all"), std::string::npos) << "brief cases";
  EXPECT_NE(addPasses({"accuracy", "variants"}).find("in none of 9 that pass"), std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
