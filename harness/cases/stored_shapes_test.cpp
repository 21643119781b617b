// Stored shapes in case files: their form, and what `check` does with them.
#include "harness/cases/stored_shapes.h"

#include <gtest/gtest.h>

#include "harness/cases/case_file.h"
#include "harness/check/check.h"
#include "harness/compare/expected.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

std::string messageOf(const std::string& text) {
  const auto catalogue = parseCaseFile("x.cases.json", text, ops::builtinOps());
  return catalogue ? "no error" : catalogue.error().message();
}

std::string entryMessage(const std::string& fields) {
  return messageOf(R"({"cases": [], "shapes": [{"op": "Relu", "inputs": [["f32[2]"], ["f32[3]"]], )" + fields + "}]}");
}

TEST(StoredShapes, BadFormsAreNamed) {
  const std::string good = R"("shapes": [["f32[2]"], ["f32[3]"]])";
  EXPECT_EQ(entryMessage(good + R"(, "source": "a page")"), "no error");
  EXPECT_EQ(
      entryMessage(R"("shapes": [["f32[2]"]], "source": "a page")"),
      R"(x.cases.json: shapes[0]: "shapes" must hold 2 lists of outputs such as ["f32[2,3]"], one per shape set)");
  EXPECT_NE(entryMessage(R"("shapes": "f32[2]", "source": "a page")").find("must hold 2 lists"), std::string::npos);
  EXPECT_NE(entryMessage(R"("shapes": [["f32[2]"], []], "source": "a page")").find("must hold 2 lists"),
            std::string::npos);
  EXPECT_EQ(entryMessage(R"("shapes": [["f32[2]"], ["f32[3]", "f32[3]"]], "source": "a page")"),
            R"(x.cases.json: shapes[0]: "shapes" describes 2 outputs, the case has 1)");
  EXPECT_EQ(entryMessage(R"("shapes": [["f32[2]"], ["-"]], "source": "a page")"),
            R"(x.cases.json: shapes[0]: "shapes" must describe every output, got "-")");
  EXPECT_NE(entryMessage(R"("shapes": [["f32[2]"], ["T[3]"]], "source": "a page")").find("a letter without dtypes"),
            std::string::npos);
  EXPECT_EQ(
      entryMessage(good),
      R"(x.cases.json: shapes[0]: "expected" or "shapes" and "source", which says where they are from, belong together)");
  EXPECT_EQ(entryMessage(R"("outputs": 1)"),
            R"(x.cases.json: shapes[0]: "shapes" must hold the outputs of each shape set, such as [["f32[2,3]"]])");
  EXPECT_NE(entryMessage(good + R"(, "source": "a page", "lanes": ["exact"])").find("unknown key \"lanes\""),
            std::string::npos);
  EXPECT_NE(entryMessage(good + R"(, "source": "a page", "params": [])").find("stands for no case"), std::string::npos);
}

/// The status of each result of `check` on the CPU.
std::vector<std::string> checked(const std::string& text) {
  const auto catalogue = parseCaseFile("x.cases.json", text, ops::builtinOps());
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  const auto runtime = createRuntime("cpu");
  EXPECT_TRUE(runtime);
  Checker checker(ops::builtinOps(), "cpu", *runtime);
  std::vector<CaseResult> results;
  for (const CaseGroup& group : catalogue->groups)
    for (CaseResult& result : checker.checkGroup(prepareGroup(group, ops::builtinOps(), true)))
      results.push_back(std::move(result));
  for (const CaseGroup& group : catalogue->shapes) results.push_back(checker.checkShapes(group));
  std::vector<std::string> texts;
  for (const CaseResult& result : results)
    texts.push_back(fmt::format("{}: {}", result.id, isFailure(result.status) ? result.reason : "pass"));
  return texts;
}

TEST(StoredShapes, CheckComparesThem) {
  const std::string right = R"("T": ["f32", "f16"], "shapes": [["T[2]"]], "source": "a page"})";
  const std::string wrong = R"("T": ["f32"], "shapes": [["T[2,1]"]], "source": "a page"})";
  const std::string relu = R"({"op": "Relu", "inputs": [["T[2]"]], )";
  EXPECT_EQ(checked(R"({"cases": [)" + relu + right + R"(], "shapes": [)" + relu + right + "]}"),
            (std::vector<std::string>{"Relu/f32[2]/normal/seed=7: pass", "Relu/f16[2]/normal/seed=7: pass",
                                      "shapes:Relu: pass"}));
  const std::string reason = "output 0 is f32[2] by the shape rule, f32[2,1] by a page";
  EXPECT_EQ(checked(R"({"cases": [)" + relu + wrong + R"(], "shapes": [)" + relu + wrong + "]}"),
            (std::vector<std::string>{"Relu/f32[2]/normal/seed=7: stored: " + reason,
                                      "shapes:Relu: stored: Relu/f32[2]/normal/seed=7: " + reason}));
}

}  // namespace
}  // namespace opkit::harness
