#include "scaffold/plan.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "scaffold/doctor.h"
#include "scaffold/generate.h"
#include "scaffold/record.h"
#include "scaffold/remove.h"
#include "scaffold/testing/forms.h"
#include "scaffold/testing/scratch_tree.h"

namespace opkit::scaffold {
namespace {

Status removeOperator(const ScratchTree& scratch, const std::string& name, bool force = false) {
  OPKIT_ASSIGN(const Plan plan, planRemove(scratch.tree(), name, force));
  return scratch.tree().apply(plan);
}

Spec specOf(const std::string& kind) { return {.name = "Thing", .kind = kind}; }

class EveryKind : public testing::TestWithParam<Form> {};

TEST_P(EveryKind, IsWrittenOnceAndRemovedToTheByte) {
  const ScratchTree scratch;
  const auto before = scratch.snapshot();
  ASSERT_EQ(scaffold(scratch, GetParam().spec).message(), "");
  const auto written = scratch.snapshot();
  EXPECT_NE(written, before);
  ASSERT_EQ(scaffold(scratch, GetParam().spec).message(), "");
  EXPECT_EQ(scratch.snapshot(), written) << "the same command twice";
  ASSERT_EQ(removeOperator(scratch, "Thing").message(), "");
  EXPECT_EQ(scratch.snapshot(), before);
  EXPECT_FALSE(std::filesystem::exists(scratch.root() + "/ops/thing"));
}

TEST_P(EveryKind, MarksEveryPlaceAndRendersEveryTag) {
  const ScratchTree scratch;
  const auto plan = planNew(scratch.tree(), Templates(), GetParam().spec, false);
  ASSERT_TRUE(plan) << plan.error().message();
  size_t marked = 0;
  for (const FileChange& change : *plan) {
    const std::string text = change.inserted.empty() ? *change.after : change.inserted;
    EXPECT_EQ(text.find("<%"), std::string::npos) << change.path;
    marked += text.find("SCAFFOLD:") != std::string::npos;
  }
  EXPECT_GE(marked, 3u);
}

TEST_P(EveryKind, LeavesNoStrayEmptyLines) {
  const ScratchTree scratch;
  const auto plan = planNew(scratch.tree(), Templates(), GetParam().spec, false);
  ASSERT_TRUE(plan) << plan.error().message();
  for (const FileChange& change : *plan) {
    const std::string text = change.inserted.empty() ? *change.after : change.inserted;
    for (const char* stray : {"\n\n} push;", "},\n\n    {", "\n\n}\n", "\n\n**Error.**"})
      EXPECT_EQ(text.find(stray), std::string::npos) << change.path << " has '" << stray << "'";
  }
}

TEST_P(EveryKind, DiffIsWhatGitApplies) {
  const ScratchTree scratch, other;
  const auto plan = planNew(scratch.tree(), Templates(), GetParam().spec, false);
  ASSERT_TRUE(plan);
  other.write("change.diff", unifiedDiff(*plan));
  ASSERT_EQ(std::system(("cd " + other.root() + " && git apply change.diff && rm change.diff").c_str()), 0);
  ASSERT_TRUE(scratch.tree().apply(*plan).isOk());
  EXPECT_EQ(other.snapshot(), scratch.snapshot());
}

TEST_P(EveryKind, TddDiffersInTheKernelsAlone) {
  const ScratchTree scratch;
  Spec tdd = GetParam().spec;
  tdd.tdd = true;
  const auto plain = planNew(scratch.tree(), Templates(), GetParam().spec, false);
  const auto failing = planNew(scratch.tree(), Templates(), tdd, false);
  ASSERT_TRUE(plain && failing);
  size_t different = 0;
  for (size_t i = 0; i < plain->size(); ++i) {
    const bool differs = (*plain)[i].after != (*failing)[i].after;
    different += differs;
    if (differs) {
      EXPECT_EQ((*plain)[i].path.find("_reference"), std::string::npos) << "the oracle stays right";
    }
  }
  EXPECT_GE(different, 1u);
}

/// The entries of the operator that store shapes, of both lists.
std::vector<nlohmann::json> entriesWithShapes(const std::string& text) {
  const auto file = nlohmann::json::parse(text);
  std::vector<nlohmann::json> entries;
  for (const char* list : {"cases", "shapes"})
    for (const auto& entry : file.value(list, nlohmann::json::array()))
      if (entry["op"] == "Thing" && entry.contains("shapes")) entries.push_back(entry);
  return entries;
}

TEST_P(EveryKind, StoresTheShapesOfEveryOutput) {
  const ScratchTree scratch;
  ASSERT_EQ(scaffold(scratch, GetParam().spec).message(), "");
  const Spec spec = *completed(GetParam().spec);
  const std::string op = findKind(spec.kind)->row ? spec.kind : "thing";
  const auto entries = entriesWithShapes(*scratch.tree().read("ops/" + op + "/" + op + ".cases.json"));
  ASSERT_FALSE(entries.empty());
  std::set<size_t> ranks;  // of the first output
  for (const auto& entry : entries) {
    EXPECT_FALSE(entry.value("source", "").empty());
    EXPECT_EQ(entry["shapes"].size(), entry["inputs"].size());
    for (const auto& outputs : entry["shapes"]) {
      EXPECT_EQ(outputs.size(), spec.outputs.size());
      const std::string first = outputs[0];
      ranks.insert(static_cast<size_t>(std::count(first.begin(), first.end(), ',')));
    }
  }
  EXPECT_GT(*ranks.rbegin(), 0u) << "no stored shape has two axes";
  EXPECT_TRUE(findKind(spec.kind)->row || ranks.size() > 1) << "all have one rank";
  const auto findings = examine(scratch.tree(), "Thing", false);
  ASSERT_TRUE(findings) << findings.error().message();
  for (const Finding& finding : *findings)
    EXPECT_TRUE(finding.message.starts_with("mark left")) << finding.where << ": " << finding.message;
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, testing::ValuesIn(everyForm()),
                         [](const auto& form) { return form.param.name; });

TEST(EmbeddedTemplates, NameFilesOfTheTree) {
  const std::regex path("\\b(engine|harness|shaders|docs|ops)/[A-Za-z0-9_/.-]+\\.[a-z]+\\b");
  const Tree source(sourceTreeAround(OPKIT_SOURCE_DIR));
  size_t checked = 0;
  for (const EmbeddedTemplate& each : embeddedTemplates()) {
    const std::string text(each.text);
    for (std::sregex_iterator match(text.begin(), text.end(), path), end; match != end; ++match, ++checked)
      EXPECT_TRUE(source.exists(match->str())) << each.path << " names " << match->str();
  }
  EXPECT_GE(checked, 40u);
}

TEST(PlanNew, RowsOfOneFamilyComeAndGoInAnyOrder) {
  const ScratchTree scratch;
  const auto before = scratch.snapshot();
  for (const char* name : {"One", "Two", "Three"})
    ASSERT_EQ(scaffold(scratch, {.name = name, .kind = "unary"}).message(), "");
  for (const char* name : {"Two", "One", "Three"}) ASSERT_EQ(removeOperator(scratch, name).message(), "");
  EXPECT_EQ(scratch.snapshot(), before);
}

TEST(PlanNew, RefusesNamesThatAreTaken) {
  const ScratchTree scratch;
  scratch.write("shaders/other/th_ing.comp", "");
  scratch.write("ops/BIG_THING/BIG_THING.cpp", "");
  const auto message = [&](const Spec& spec) { return scaffold(scratch, spec).message(); };
  EXPECT_NE(message({.name = "Softmax", .kind = "custom"}).find("exists and differs"), std::string::npos);
  EXPECT_EQ(message({.name = "Relu", .kind = "custom"}), "operator Relu exists in ops/unary; choose another name");
  EXPECT_EQ(message({.name = "RELU", .kind = "unary"}), "operator Relu exists in ops/unary; choose another name");
  EXPECT_NE(message({.name = "Add", .kind = "unary"}).find("ops/binary"), std::string::npos);
  EXPECT_NE(message({.name = "Thing", .kind = "custom"}).find("shaders/other/th_ing.comp"), std::string::npos);
  EXPECT_NE(message({.name = "BigThing", .kind = "layout"}).find("BIG_THING"), std::string::npos);
  EXPECT_NE(message({.name = "Mine", .kind = "custom", .onnx = "LogSoftmax"}).find("imported by ops/softmax"),
            std::string::npos);
  EXPECT_NE(message({.name = "Mine", .kind = "custom", .onnx = "Tanh"}).find("imported by ops/unary"),
            std::string::npos);
}

TEST(PlanNew, NeverOverwritesWithoutForce) {
  const ScratchTree scratch;
  ASSERT_TRUE(scaffold(scratch, specOf("rowwise")).isOk());
  scratch.write("ops/thing/thing_cpu.cpp", "mine");
  EXPECT_EQ(scaffold(scratch, specOf("rowwise")).message(),
            "ops/thing/thing_cpu.cpp exists and differs from the new text; --force overwrites it");
  EXPECT_EQ(*scratch.tree().read("ops/thing/thing_cpu.cpp"), "mine");
  ASSERT_TRUE(scaffold(scratch, specOf("rowwise"), true).isOk());
  EXPECT_NE(*scratch.tree().read("ops/thing/thing_cpu.cpp"), "mine");
}

TEST(PlanRemove, KeepsWhatWasEdited) {
  const ScratchTree scratch;
  ASSERT_TRUE(scaffold(scratch, specOf("gather")).isOk());
  scratch.write("ops/thing/thing.md", "edited");
  EXPECT_EQ(removeOperator(scratch, "Thing").message(),
            "ops/thing/thing.md was edited since it was scaffolded; --force removes it all the same");
  ASSERT_TRUE(removeOperator(scratch, "Thing", true).isOk());
  EXPECT_FALSE(scratch.tree().exists("ops/thing"));
}

TEST(PlanRemove, KeepsWhatWasAdded) {
  const ScratchTree scratch;
  ASSERT_TRUE(scaffold(scratch, specOf("gather")).isOk());
  scratch.write("ops/thing/thing_test.cpp", "");
  EXPECT_NE(removeOperator(scratch, "Thing").message().find("thing_test.cpp was added"), std::string::npos);
  ASSERT_TRUE(removeOperator(scratch, "Thing", true).isOk());
  EXPECT_FALSE(scratch.tree().exists("ops/thing"));
}

TEST(PlanRemove, TakesAnEditedRowOutByForceAlone) {
  const ScratchTree scratch;
  const auto before = scratch.snapshot();
  ASSERT_TRUE(scaffold(scratch, specOf("unary")).isOk());
  std::string table = *scratch.tree().read("ops/unary/unary_table.h");
  table.replace(table.find("FewRoundings, 0, 0, -4, 4, (x < 0 ? 0 : x * x)"), 12, "Transcendental");
  scratch.write("ops/unary/unary_table.h", table);
  EXPECT_NE(removeOperator(scratch, "Thing").message().find("unary_table.h was edited"), std::string::npos);
  std::string oracle = *scratch.tree().read("ops/unary/unary_reference.cpp");
  oracle.replace(oracle.find("std::pow(x, 2)"), 14, "(x * (x + 0))");
  scratch.write("ops/unary/unary_reference.cpp", oracle);
  ASSERT_TRUE(removeOperator(scratch, "Thing", true).isOk());
  EXPECT_EQ(scratch.snapshot(), before);
}

TEST(PlanRemove, NeedsForceForWhatItDidNotMake) {
  const ScratchTree scratch;
  EXPECT_NE(removeOperator(scratch, "Softmax").message().find("was not scaffolded"), std::string::npos);
  EXPECT_EQ(removeOperator(scratch, "Nothing").message(), "there is no operator Nothing in this tree");
  ASSERT_TRUE(removeOperator(scratch, "Softmax", true).isOk());
  EXPECT_FALSE(scratch.tree().exists("ops/softmax"));
  EXPECT_FALSE(scratch.tree().exists("shaders/softmax"));
}

/// Else the command would work in a tree further out.
TEST(Tree, IsNotSoughtBehindAFileThatCannotBeLookedAt) {
  const ScratchTree scratch;
  scratch.write("inner/ops/note", "");
  std::filesystem::create_directories(scratch.root() + "/inner/engine/op");
  std::filesystem::create_symlink("op_def.h", scratch.root() + "/inner/engine/op/op_def.h");
  const auto found = Tree::find(scratch.root() + "/inner/ops");
  ASSERT_FALSE(found) << found->root();
  EXPECT_NE(found.error().message().find("Too many levels of symbolic links"), std::string::npos)
      << found.error().message();
  EXPECT_THROW(static_cast<void>(Tree(scratch.root()).exists("inner/engine/op/op_def.h")), TreeError);
  EXPECT_FALSE(scratch.tree().exists("inner/ops/note/none"));
}

TEST(Templates, AFolderReplacesThemFileByFile) {
  const ScratchTree scratch;
  scratch.write("mine/custom/op.md.mustache", "about <% type %>\n");
  const auto plan = planNew(scratch.tree(), Templates(scratch.root() + "/mine"), specOf("custom"), false);
  ASSERT_TRUE(plan);
  bool found = false;
  for (const FileChange& change : *plan)
    found = found || (change.path == "ops/thing/thing.md" && change.after == "about Thing\n");
  EXPECT_TRUE(found);
  scratch.write("mine/custom/op.md.mustache", "<%#open%>");
  const auto broken = planNew(scratch.tree(), Templates(scratch.root() + "/mine"), specOf("custom"), false);
  EXPECT_NE(broken.error().message().find("op.md.mustache"), std::string::npos);
}

TEST(Templates, EjectedOnesRenderTheSame) {
  const ScratchTree scratch;
  const Tree folder(scratch.root() + "/mine");
  ASSERT_TRUE(folder.apply(ejectPlan(folder)).isOk());
  const auto own = planNew(scratch.tree(), Templates(), specOf("matmul"), false);
  const auto ejected = planNew(scratch.tree(), Templates(folder.root()), specOf("matmul"), false);
  ASSERT_TRUE(own && ejected);
  EXPECT_EQ(unifiedDiff(*own), unifiedDiff(*ejected));
}

TEST(UnifiedDiff, SaysWhenTheLastLineHasNoNewline) {
  EXPECT_EQ(unifiedDiff(FileChange{"a", "x\ny", "x\nz\n"}),
            "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n");
  EXPECT_EQ(unifiedDiff(FileChange{"a", "x\n", std::nullopt}),
            "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n");
}

TEST(UnifiedDiff, FarChangesAreHunksOfTheirOwn) {
  std::string before, after;
  for (int i = 0; i < 40; ++i) {
    before += fmt::format("{}\n", i);
    after += fmt::format("{}\n", i == 5 || i == 30 ? i + 100 : i);
  }
  const std::string diff = unifiedDiff(FileChange{"a", before, after});
  EXPECT_NE(diff.find("@@ -3,7 +3,7 @@"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -28,7 +28,7 @@"), std::string::npos) << diff;
}

}  // namespace
}  // namespace opkit::scaffold
