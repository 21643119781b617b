#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/backend/device_test_support.h"
#include "engine/testing/nowhere.h"
#include "harness/mutate/cpu_faults.h"
#include "harness/mutate/glsl_mutants.h"
#include "harness/mutate/mutation_run.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

const char* const kShader = R"(// a < b in a comment
#version 450
layout(push_constant) uniform Push {
  uint count;
} push;
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
  barrier();
  float y = max(x[i], 0.0) * -1.0;  // i + 1
  for (uint k = 0; k < 4; ++k) y += 1e-3;
}
)";

TEST(GlslMutants, EveryKindOfMistake) {
  std::set<std::string> changes, kinds;
  for (const Mutant& mutant : mutantsOf(kShader)) {
    changes.insert(mutant.change());
    kinds.insert(mutant.kind);
    EXPECT_NE(mutant.text, kShader);
    EXPECT_GT(mutant.line, 5u) << "nothing above main changes: " << mutant.change();
  }
  EXPECT_TRUE(changes.contains("barrier(); => (dropped)"));
  EXPECT_TRUE(changes.contains("if (i >= push.count) return; => (dropped)"));
  EXPECT_TRUE(changes.contains("if (i >= push.count) return; => if (i > push.count) return;"));
  EXPECT_TRUE(changes.contains("for (uint k = 0; k < 4; ++k) y += 1e-3; => for (uint k = 0; k <= 4; ++k) y += 1e-3;"));
  for (const char* kind : {"bound", "guard", "barrier", "function", "operator", "constant", "component"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  for (const std::string& change : changes) EXPECT_EQ(change.find("1e+3"), std::string::npos) << "an exponent's sign";
}

TEST(GlslMutants, LeaveConditionsOfThePreprocessorAlone) {
  const std::vector<Mutant> mutants = mutantsOf(
      "#if defined(A) && \\\n    (defined(B) || defined(C))\n"
      "#define SUM(a, b) \\\n  ((a) + (b))\n#endif\n");
  ASSERT_FALSE(mutants.empty());
  for (const Mutant& mutant : mutants) EXPECT_EQ(mutant.line, 4u) << mutant.change();
}

TEST(GlslMutants, ASampleKeepsEveryKind) {
  const std::vector<Mutant> all = mutantsOf(kShader);
  const std::vector<Mutant> few = sample(all, 7);
  EXPECT_LT(few.size(), all.size());
  EXPECT_EQ(sample(all, 0).size(), all.size());
  std::set<std::string> before, after;
  for (const Mutant& mutant : all) before.insert(mutant.kind);
  for (const Mutant& mutant : few) after.insert(mutant.kind);
  EXPECT_EQ(before, after);
}

/// Marks of a source tree with this one file.
Result<EquivalentMarks> marksOf(const std::string& text) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  fs::remove_all(root);
  fs::create_directories(root / "ops" / "softmax");
  fs::create_directories(root / "shaders");
  std::ofstream(root / "ops" / "softmax" / "softmax.mutants.json") << text;
  return EquivalentMarks::read(root.string());
}

TEST(EquivalentMarks, NeedAReason) {
  const auto marks =
      marksOf(R"({"equivalent": [{"shader": "softmax/softmax", "change": "a => b", "reason": "same thing"}]})");
  ASSERT_TRUE(marks) << marks.error().message();
  ASSERT_NE(marks->reasonOf("softmax/softmax", "a => b"), nullptr);
  EXPECT_EQ(*marks->reasonOf("softmax/softmax", "a => b"), "same thing");
  EXPECT_EQ(marks->reasonOf("softmax/softmax", "a => c"), nullptr);
  EXPECT_EQ(marks->reasonOf("gemm/gemm", "a => b"), nullptr);
  for (const char* bad : {"{", "[]", R"({"equivalent": [{"shader": "s", "change": "a => b"}]})",
                          R"({"equivalent": [{"change": "a => b", "reason": "r"}]})", R"({"equivalent": [3]})"})
    EXPECT_NE(marksOf(bad).error().message().find("softmax.mutants.json"), std::string::npos) << bad;
  EXPECT_NE(EquivalentMarks::read(nowhere()).error().message().find(nowhere()), std::string::npos);
}

TEST(EquivalentMarks, ExcuseSurvivorsAndAreRefutedByKills) {
  const EquivalentMarks marks = *marksOf(R"({"equivalent": [{"op": "Relu", "change": "half", "reason": "why"}]})");
  MutantResult survivor{.subject = "Relu", .fate = MutantResult::Fate::Survived};
  applyMark(marks, "half", survivor);
  EXPECT_EQ(survivor.fate, MutantResult::Fate::Equivalent);
  EXPECT_EQ(survivor.by, "why");
  MutantResult killed{.subject = "Relu", .fate = MutantResult::Fate::Killed, .by = "accuracy"};
  applyMark(marks, "half", killed);
  EXPECT_TRUE(killed.wrongMark);
  EXPECT_EQ(killed.fate, MutantResult::Fate::Killed);
  MutantResult other{.subject = "Relu", .fate = MutantResult::Fate::Survived};
  applyMark(marks, "shifted", other);
  EXPECT_EQ(other.fate, MutantResult::Fate::Survived);
}

std::vector<MutantResult> mutateOnCpu(const std::string& cases) {
  const auto catalogue = parseCaseFile("test", cases, ops::builtinOps());
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  std::vector<MutantResult> results;
  MutationOptions options;
  options.jobs = 2;
  const Status status =
      mutateCpu(*catalogue, ops::builtinOps(), options,
                {.planned = [](size_t) {}, .done = [&](const MutantResult& result) { results.push_back(result); }});
  EXPECT_TRUE(status.isOk()) << status.message();
  return results;
}

TEST(MutateCpu, GoodCasesKillEveryFault) {
  const auto results = mutateOnCpu(R"({"cases": [
      {"op": "Softmax", "params": [{"axis": 0}], "inputs": [["f32[5,6]"], ["f32[3,9]"]]},
      {"op": "Softmax", "inputs": [["f32[12]"]], "lanes": ["specials"]}],
      "departures": [{"provider": "onednn", "cases": ["Softmax/f32[12]/specials"], "reason": "drops NaN"}]})");
  EXPECT_EQ(results.size(), cpuFaults().size());
  size_t killed = 0;
  for (const MutantResult& result : results) {
    EXPECT_NE(result.fate, MutantResult::Fate::Survived) << result.where;
    EXPECT_EQ(result.by.find("heap"), std::string::npos) << "killed by the harness's own doing: " << result.by;
    killed += result.fate == MutantResult::Fate::Killed;
  }
  EXPECT_GE(killed, 10u);
}

TEST(MutateCpu, PoorCasesLetFaultsLive) {
  size_t survived = 0;
  for (const MutantResult& result :
       mutateOnCpu(R"({"cases": [{"op": "Softmax", "params": [{"axis": 1}], "inputs": [["f32[1,2]"]]}]})"))
    survived += result.fate == MutantResult::Fate::Survived;
  EXPECT_GT(survived, 0u) << "the default axis: ignoring parameters cannot be seen";
}

#ifdef OPKIT_HAS_VULKAN
TEST(MutateShaders, KillsAndSurvivorsAreTold) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const auto catalogue =
      parseCaseFile("test", R"({"cases": [{"op": "Softmax", "inputs": [["f32[3,5]"]]}]})", ops::builtinOps());
  ASSERT_TRUE(catalogue);
  MutationOptions options;
  options.jobs = 2;
  options.limit = 8;
  std::vector<MutantResult> results;
  const Status status =
      mutateShaders(*catalogue, ops::builtinOps(), options,
                    {.planned = [](size_t) {}, .done = [&](const MutantResult& result) { results.push_back(result); }});
  ASSERT_TRUE(status.isOk()) << status.message();
  size_t killed = 0;
  for (const MutantResult& result : results) {
    EXPECT_EQ(result.subject.substr(0, 7), "softmax") << result.subject;
    killed += result.fate == MutantResult::Fate::Killed;
  }
  EXPECT_GE(killed, 2u);
}

TEST(MutateShaders, CasesOfTheShadersOwnFolderKillToo) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  // As of an operator one of whose parts is a Where of few elements.
  const auto catalogue = parseCaseFile(
      "test", R"({"cases": [{"op": "Where", "inputs": [["bool[1]", "f32[1]", "f32[1]"]]}]})", ops::builtinOps());
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  const auto survivorsOf = [&](bool ownersCases) {
    MutationOptions options;
    options.jobs = 2;
    options.ownersCases = ownersCases;
    std::set<std::string> survivors, subjects;
    const Status status = mutateShaders(*catalogue, ops::builtinOps(), options,
                                        {.planned = [](size_t) {},
                                         .done =
                                             [&](const MutantResult& result) {
                                               subjects.insert(result.subject);
                                               if (result.fate == MutantResult::Fate::Survived)
                                                 survivors.insert(result.where + result.after);
                                             }});
    EXPECT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(subjects, std::set<std::string>{"where/where"});
    return survivors;
  };
  EXPECT_FALSE(survivorsOf(false).empty());
  EXPECT_TRUE(survivorsOf(true).empty());
}

TEST(MutateShaders, BreaksFilesThatShadersInclude) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const auto catalogue =
      parseCaseFile("test", R"({"cases": [{"op": "Cast", "params": [{"to": "f32"}], "inputs": [["f8e4m3fn[300]"]]}]})",
                    ops::builtinOps());
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  MutationOptions options;
  options.jobs = 2;
  options.limit = 6;
  std::map<std::string, size_t> killed;
  const Status status = mutateShaders(
      *catalogue, ops::builtinOps(), options,
      {.planned = [](size_t) {},
       .done =
           [&](const MutantResult& result) { killed[result.subject] += result.fate == MutantResult::Fate::Killed; }});
  ASSERT_TRUE(status.isOk()) << status.message();
  ASSERT_TRUE(killed.contains("cast/codes.glsl")) << "of the shader's own folder";
  EXPECT_GE(killed["cast/codes.glsl"], 1u);
  for (const auto& [subject, count] : killed) EXPECT_EQ(subject.find("include/"), std::string::npos) << subject;
}
#endif

}  // namespace
}  // namespace opkit::harness
