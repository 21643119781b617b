#include "scaffold/doctor.h"

#include <gtest/gtest.h>

#include "scaffold/generate.h"
#include "scaffold/testing/scratch_tree.h"

namespace opkit::scaffold {
namespace {

/// A scaffolded operator without marks.
class Doctor : public testing::Test {
 protected:
  Doctor() {
    Plan plan = *planNew(scratch_.tree(), Templates(), {.name = "Thing", .kind = "rowwise"}, false);
    for (FileChange& change : plan)
      for (size_t at; (at = change.after->find("SCAFFOLD:")) != std::string::npos;)
        change.after->replace(at, 9, "Note:");
    EXPECT_TRUE(scratch_.tree().apply(plan).isOk());
  }
  std::string findings(const std::string& op = "Thing") const {
    std::string text;
    const auto found = examine(scratch_.tree(), op, false);
    if (!found) return found.error().message();
    for (const Finding& finding : *found) text += finding.where + ": " + finding.message + "\n";
    return text;
  }
  void edit(const std::string& path, const std::string& from, const std::string& to) const {
    std::string text = *scratch_.tree().read(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    scratch_.write(path, text.replace(at, from.size(), to));
  }
  void drop(const std::string& path) const { std::filesystem::remove(scratch_.root() + "/" + path); }

  ScratchTree scratch_;
};

TEST_F(Doctor, FindsNothingInAFinishedOperator) {
  EXPECT_EQ(findings(), "");
  EXPECT_EQ(findings("softmax"), "");
}

TEST_F(Doctor, KnowsWhatItWasAskedFor) { EXPECT_EQ(findings("Nothing"), "there is no operator Nothing in this tree"); }

TEST_F(Doctor, MissingParts) {
  drop("ops/thing/thing.md");
  EXPECT_NE(findings().find("ops/thing/thing.md: missing"), std::string::npos);
  drop("ops/thing/thing.cases.json");
  EXPECT_NE(findings().find("ops/thing/thing.cases.json: missing"), std::string::npos);
  drop("ops/thing/thing_onnx.cpp");
  EXPECT_NE(findings().find("ops/thing/thing_onnx.cpp: missing"), std::string::npos);
  drop("ops/thing/thing_reference.cpp");
  EXPECT_NE(findings().find("ops/thing/thing_reference.cpp: missing"), std::string::npos);
  drop("ops/thing/thing_vulkan.cpp");
  EXPECT_EQ(findings().find("ops/thing/thing_cpu.cpp: missing"), std::string::npos) << "the CPU's kernel is enough";
  drop("ops/thing/thing_cpu.cpp");
  EXPECT_NE(findings().find("ops/thing/thing_cpu.cpp: missing"), std::string::npos);
  edit("ops/thing/thing.cpp", ".oracle =", ".loop = loop, .oracle =");
  EXPECT_EQ(findings().find("ops/thing/thing_cpu.cpp: missing"), std::string::npos) << "a loop needs none";
}

TEST_F(Doctor, AFolderOfImportRulesNeedsNoCard) {
  scratch_.write("ops/rules/rules.cpp", "void define(OpRegistry&) {}\n");
  scratch_.write("ops/rules/rules.md", "# Rules\n");
  EXPECT_NE(findings("").find("ops/rules/rules_onnx.cpp: missing: the folder has neither card nor rule\n"),
            std::string::npos);
  scratch_.write("ops/rules/rules_onnx.cpp", "void addOnnx(OnnxRules& rules) {}\n");
  EXPECT_EQ(findings("").find("ops/rules/"), std::string::npos);
}

TEST_F(Doctor, OrphanShader) {
  drop("ops/thing/thing_vulkan.cpp");
  EXPECT_NE(findings().find("shaders/thing/thing.comp: orphan"), std::string::npos);
}

TEST_F(Doctor, UnusedVariant) {
  edit("shaders/thing/thing.comp", "//! variant STORAGE", "//! variant MODE: fast slow\n//! variant STORAGE");
  edit("ops/thing/thing_vulkan.cpp", "using Shader", "constexpr auto kMode = Mode::Fast;\nusing Shader");
  EXPECT_EQ(findings(), "shaders/thing/thing.comp: variant MODE = slow is selected by no C++ of ops/thing\n");
}

TEST_F(Doctor, CasesWithoutBreakers) {
  scratch_.write("ops/thing/thing.cases.json", R"({"cases": [{"op": "Thing", "inputs": [["f32[3]"]]}]})");
  EXPECT_NE(findings().find("no designed breakers"), std::string::npos);
}

constexpr const char* kShapes = R"(, "shapes": [{"op": "Thing", "inputs": [["f32[2]"]], "shapes": [["f32[2]"]],
  "source": "a page"}])";

TEST_F(Doctor, CasesThatTheTestsWouldRefuse) {
  const std::string one =
      R"({"cases": [{"op": "Thing", "lanes": ["exact"], "inputs": [["f32[0]"], ["f32[1]"], ["f32[3]"]]}])";
  scratch_.write("ops/thing/thing.cases.json", one + kShapes + "}");
  EXPECT_EQ(findings(), "ops/thing/thing.cases.json: Thing: all cases have one rank\n");
  scratch_.write(
      "ops/thing/thing.cases.json",
      one + kShapes + R"(, "exempt": [{"op": "Thing", "rules": ["ranks"], "reason": "it is made of rows"}]})");
  EXPECT_EQ(findings(), "");
}

TEST_F(Doctor, AShapeRuleWithoutStoredShapes) {
  const std::string entry = R"("lanes": ["exact"], "inputs": [["f32[0]"], ["f32[1,1]"], ["f32[3]"]])";
  const std::string missing =
      "ops/thing/thing.cases.json: Other: no entry with \"shapes\" (harness/cases.md) for its shape rule\n";
  const std::string both = R"({"cases": [{"op": ["Thing", "Other"], )" + entry + "}]";
  scratch_.write("ops/thing/thing.cases.json", both + kShapes + "}");
  EXPECT_EQ(findings(), missing);
  scratch_.write(
      "ops/thing/thing.cases.json",
      R"({"cases": [{"op": ["Thing", "Other"], "shapes": [["f32[0]"], ["f32[1,1]"], ["f32[3]"]], "source": "a page", )" +
          entry + "}]}");
  EXPECT_EQ(findings(), "") << "an entry of the cases may store them";
  scratch_.write("ops/thing/thing.cases.json", both + kShapes + "}");
  edit("ops/thing/thing.cpp", ".inferShapes = shapeRule,", "");
  EXPECT_EQ(findings(), "") << "without a rule there is nothing to store";
}

TEST_F(Doctor, BindingAndPushConstantDrift) {
  edit("shaders/thing/thing.comp", "uint rows;", "uint rows;\n  uint padding;");
  edit("shaders/thing/thing.comp", "layout(push_constant)",
       "layout(binding = 2) buffer Z { float extra[]; };\nlayout(push_constant)");
  const std::string found = findings();
  EXPECT_NE(found.find("push constant 'padding' is set by no C++"), std::string::npos) << found;
  EXPECT_NE(found.find("binding 'extra' is set by no C++"), std::string::npos) << found;
}

TEST_F(Doctor, ASecondBindingOfANumberIsAViewByFours) {
  edit("shaders/thing/thing.comp", "layout(push_constant)",
       "layout(binding = 0) readonly buffer X4 { vec4 x4[]; };\nlayout(push_constant)");
  EXPECT_EQ(findings(), "");
  edit("shaders/thing/thing.comp", "vec4 x4[]", "vec4 other[]");
  EXPECT_NE(findings().find("binding 'other' is set by no C++"), std::string::npos) << findings();
}

TEST_F(Doctor, AttributesThatNoRuleReads) {
  edit("ops/thing/thing_onnx.cpp", "rules.add(\"Thing\"", "rules.add(\"LpNormalization\"");
  EXPECT_EQ(findings(),
            "ops/thing/thing_onnx.cpp: no rule of LpNormalization reads the ONNX attribute 'p'; read it, or "
            "name it in backticks on the operator's page as not supported\n");
}

TEST_F(Doctor, LeftoverMarks) {
  scratch_.write("ops/thing/thing.md",
                 "# Thing\n\nSCAFFOLD"
                 ": say what it does\n");
  EXPECT_EQ(findings(),
            "ops/thing/thing.md:3: mark left: SCAFFOLD"
            ": say what it does\n");
}

}  // namespace
}  // namespace opkit::scaffold
