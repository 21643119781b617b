#include "scaffold/further_kernel.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scaffold/kernel_case.h"
#include "scaffold/kernel_source.h"
#include "scaffold/remove.h"
#include "scaffold/rename.h"
#include "scaffold/testing/scratch_tree.h"

namespace opkit::scaffold {
namespace {

const std::string kSource = "ops/softmax/softmax_fused_vulkan.cpp", kShader = "shaders/softmax/softmax_fused.comp";
const std::string kCaseFile = "ops/softmax/softmax.cases.json";
const FurtherKernel kFused{"Softmax", "vulkan", "fused"};

Result<Plan> planned(const ScratchTree& scratch, const FurtherKernel& kernel) {
  return planFurtherKernel(scratch.tree(), Templates(), kernel);
}

Status added(const ScratchTree& scratch, const FurtherKernel& kernel = kFused) {
  OPKIT_ASSIGN(const Plan plan, planned(scratch, kernel));
  return scratch.tree().apply(plan);
}

Status removed(const ScratchTree& scratch, const FurtherKernel& kernel = kFused, bool force = false) {
  OPKIT_ASSIGN(const Plan plan, planRemoveFurtherKernel(scratch.tree(), kernel, force));
  return scratch.tree().apply(plan);
}

Status renamed(const ScratchTree& scratch, const char* from, const char* to, bool force = false) {
  OPKIT_ASSIGN(const Plan plan, planRename(scratch.tree(), from, to, force));
  return scratch.tree().apply(plan);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(FurtherKernel, BeginsAsACopyOfSourceAndShader) {
  const ScratchTree scratch;
  ASSERT_EQ(added(scratch).message(), "");
  const std::string source = scratch.tree().read(kSource).value_or(""),
                    shader = scratch.tree().read(kShader).value_or("");
  for (const char* part :
       {"namespace opkit::ops::softmax::fused_vulkan {", "#include \"shaders/softmax/softmax_fused.h\"",
        "using Shader = shaders::SoftmaxFused;", "static void addCopied(OpRegistry& registry) {",
        "Status supportsFused(const CreateArgs& args) {", "void addFurtherKernel(OpRegistry& registry) {",
        "// Softmax on vulkan, kernel \"fused\".", "SCAFFOLD:"})
    EXPECT_TRUE(holds(source, part)) << part << " in\n" << source;
  EXPECT_FALSE(holds(source, "shaders::Softmax;") || holds(source, "void addVulkan("));
  EXPECT_TRUE(holds(shader, "Driven by ops/softmax/softmax_fused_vulkan.cpp."));
  EXPECT_EQ(*scratch.tree().read("shaders/softmax/softmax.comp"),
            *ScratchTree().tree().read("shaders/softmax/softmax.comp"));
}

TEST(FurtherKernel, OnTheCpuThereIsNoShader) {
  const ScratchTree scratch;
  const auto plan = planned(scratch, {"Softmax", "cpu", "fused"});
  ASSERT_TRUE(plan) << plan.error().message();
  std::vector<std::string> paths;
  for (const FileChange& change : visible(*plan)) paths.push_back(change.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"ops/softmax/softmax_fused_cpu.cpp", kCaseFile}));
}

TEST(FurtherKernel, ItsCaseNamesItAndHasTheShapeThatItTakes) {
  const ScratchTree scratch;
  ASSERT_EQ(added(scratch).message(), "");
  const auto file = nlohmann::json::parse(*scratch.tree().read(kCaseFile), nullptr, false);
  ASSERT_TRUE(file.is_object());
  const auto& entry = file["cases"].front();
  EXPECT_EQ(entry["kernel"], nlohmann::json({{"vulkan", "opkit/fused"}}));
  EXPECT_EQ(entry["op"], "Softmax");
  EXPECT_EQ(entry["inputs"], nlohmann::json({{"f32[3,5,7]"}})) << "the first entry is of f64, which vulkan refuses";
  EXPECT_TRUE(holds(*scratch.tree().read(kSource), "const TensorDesc made{DType::Float32, {3, 5, 7}};"));
  ASSERT_EQ(added(scratch, {"Softmax", "cpu", "fused"}).message(), "");
  const auto both = nlohmann::json::parse(*scratch.tree().read(kCaseFile), nullptr, false);
  EXPECT_NE(both["cases"][0]["seed"], both["cases"][1]["seed"]) << "else their ids are equal";
}

TEST(FurtherKernel, RemoveGivesBackEveryByte) {
  const ScratchTree scratch;
  const auto before = scratch.snapshot();
  const FurtherKernel others[] = {{"Softmax", "cpu", "fused"}, {"Softmax", "vulkan", "rows"}};
  ASSERT_EQ(added(scratch).message(), "");
  for (const FurtherKernel& kernel : others) ASSERT_EQ(added(scratch, kernel).message(), "");
  EXPECT_EQ(removed(scratch).message(), "");
  EXPECT_FALSE(scratch.tree().exists(kSource));
  for (const FurtherKernel& kernel : others) EXPECT_EQ(removed(scratch, kernel).message(), "");
  EXPECT_EQ(scratch.snapshot(), before);
}

TEST(FurtherKernel, RemoveKeepsWhatWasEdited) {
  const ScratchTree scratch;
  EXPECT_TRUE(holds(removed(scratch).message(), "was not scaffolded in this working copy"));
  ASSERT_EQ(added(scratch).message(), "");
  scratch.write(kShader, "edited");
  const auto edited = scratch.snapshot();
  EXPECT_TRUE(holds(removed(scratch).message(), kShader + " was edited since"));
  EXPECT_EQ(scratch.snapshot(), edited);
  std::string cases = *scratch.tree().read(kCaseFile);
  cases.replace(cases.find("f32[3,5,7]"), 10, "f32[3,5,8]");
  scratch.write(kCaseFile, cases);
  ASSERT_EQ(removed(scratch, kFused, true).message(), "");
  EXPECT_FALSE(scratch.tree().exists(kShader));
  EXPECT_EQ(*scratch.tree().read(kCaseFile), cases);
}

TEST(FurtherKernel, RefusesInOneLineAndWritesNothing) {
  const ScratchTree scratch;
  ASSERT_TRUE(scaffold(scratch, {.name = "Mirrored", .kind = "layout"}).isOk());
  scratch.write("docs/ops.md",
                "| [Relu](../ops/unary/unary.md) | Exact | f32 | opkit/vector | 0 | 1 | raster | 0 |  |\n"
                "| [Sin](../ops/unary/unary.md) | Elementwise | f32 | parts | 0 |  | parts | 0 |  |\n");
  scratch.write("shaders/other/softmaxwide.comp", "");
  scratch.write("ops/softmax/softmax_taken_vulkan.cpp", "");
  const auto before = scratch.snapshot();
  const auto message = [&](const char* type, const char* backend, const char* name) {
    const std::string text = planned(scratch, {type, backend, name}).error().message();
    EXPECT_FALSE(holds(text, "\n")) << text;
    return text;
  };
  EXPECT_TRUE(holds(message("None", "cpu", "fused"), "there is no operator None"));
  EXPECT_TRUE(holds(message("Softmax", "cuda", "fused"), "got 'cuda'"));
  EXPECT_TRUE(holds(message("Relu", "vulkan", "fused"), "Relu has no kernel of its own on vulkan to copy"));
  EXPECT_TRUE(holds(message("Sin", "cpu", "fused"), "docs/ops.md has 'parts'"));
  EXPECT_EQ(message("Relu", "cpu", "fused"), "") << "its row has a kernel on this backend";
  EXPECT_TRUE(
      holds(message("Tanh", "cpu", "fused"), "docs/ops.md does not list Tanh, and ops/unary/unary_cpu.cpp does"))
      << "the kernel does not serve Sin, so it may not serve Tanh";
  EXPECT_TRUE(holds(message("Mirrored", "cpu", "fused"), "Mirrored has no kernel of its own on cpu"));
  EXPECT_TRUE(holds(message("Softmax", "cpu", "Fused"), "expected a snake_case name"));
  EXPECT_TRUE(holds(message("Softmax", "cpu", "while"), "is a keyword"));
  EXPECT_TRUE(holds(message("Softmax", "cpu", "vector"), "softmax_cpu.cpp says \"vector\" already"));
  EXPECT_TRUE(holds(message("Softmax", "vulkan", "taken"), "softmax_taken_vulkan.cpp exists"));
  EXPECT_TRUE(
      holds(message("Softmax", "vulkan", "wide"), "shaders/other/softmaxwide.comp would give the same C++ name"));
  EXPECT_EQ(scratch.snapshot(), before);
  ASSERT_EQ(added(scratch).message(), "");
  EXPECT_TRUE(holds(message("Softmax", "vulkan", "fused"), kSource + " exists"));
}

TEST(FurtherKernel, MovesWithItsRenamedOperator) {
  const ScratchTree scratch, direct;
  for (const auto& [tree, type] : {std::pair(&scratch, "OldThing"), std::pair(&direct, "NewThing")}) {
    ASSERT_TRUE(scaffold(*tree, {.name = type, .kind = "pool", .onnx = "Pooled"}).isOk());
    for (const char* backend : {"cpu", "vulkan"}) ASSERT_EQ(added(*tree, {type, backend, "fused"}).message(), "");
  }
  ASSERT_EQ(renamed(scratch, "OldThing", "NewThing").message(), "") << "its case is no edit of the operator";
  EXPECT_EQ(scratch.snapshot(), direct.snapshot()) << "files and records";
  scratch.write("ops/new_thing/new_thing_fused_cpu.cpp", "edited");
  EXPECT_TRUE(holds(renamed(scratch, "NewThing", "Other").message(), "new_thing_fused_cpu.cpp was edited since"));
  ASSERT_EQ(renamed(scratch, "NewThing", "Other", true).message(), "");
  EXPECT_TRUE(holds(removed(scratch, {"Other", "cpu", "fused"}).message(), "other_fused_cpu.cpp was edited since"));
  EXPECT_EQ(removed(scratch, {"Other", "vulkan", "fused"}).message(), "");
}

TEST(FurtherKernel, OfARowMovesWithIt) {
  const ScratchTree scratch;
  scratch.write("docs/ops.md",
                "| [Relu](../ops/unary/unary.md) | Exact | f32 | opkit/vector | 0 | 1 | opkit | 0 |  |\n");
  const auto before = scratch.snapshot();
  ASSERT_TRUE(scaffold(scratch, {.name = "Thing", .kind = "unary"}).isOk());
  ASSERT_EQ(added(scratch, {"Thing", "cpu", "fused"}).message(), "") << "the kernel of the family serves the new row";
  ASSERT_EQ(renamed(scratch, "Thing", "Other").message(), "");
  const std::string source = *scratch.tree().read("ops/unary/unary_fused_cpu.cpp");
  EXPECT_TRUE(holds(source, "// Other on cpu") && holds(source, "registry.addCreator(\"cpu\", \"Other\""));
  EXPECT_FALSE(holds(source, "\"Thing\"") || holds(*scratch.tree().read("ops/unary/unary.cases.json"), "\"Thing\""));
  ASSERT_EQ(removed(scratch, {"Other", "cpu", "fused"}).message(), "");
  const auto plan = planRemove(scratch.tree(), "Other", false);
  ASSERT_TRUE(plan && scratch.tree().apply(*plan).isOk()) << plan.error().message();
  EXPECT_EQ(scratch.snapshot(), before);
}

TEST(KernelCase, BeginsFromAnEntryThatTheBackendRuns) {
  const auto blockOf = [](const std::string& entries) {
    const auto made = kernelCaseOf("{\"cases\": [\n" + entries + "]}", "Op", "cpu", "fused");
    return made ? made->block : made.error().message();
  };
  for (const char* refused : {R"({"op": "Op", "inputs": [["f32[4]"]], "fallback": {"cpu": "no"}})",
                              R"({"op": "Op", "inputs": [["f32[4]"]], "unproved": {"cpu": "no"}})",
                              R"({"op": "Op", "inputs": [["f32[4]"]], "kernel": {"cpu": "other"}})",
                              R"({"op": "Op", "inputs": [["f32[4]"]], "size": "large"})",
                              R"({"op": "Op", "inputs": [["f32[4]"]], "lanes": ["specials"]})",
                              R"({"op": "Op", "inputs": [["f32[0]"]]})", R"({"op": "Other", "inputs": [["f32[4]"]]})"})
    EXPECT_TRUE(holds(blockOf(refused), "the case file of Op has no case")) << refused;
  for (const char* types : {"3", "null", "{\"x\": 1}", "[[\"f32\"]]"})
    EXPECT_TRUE(holds(blockOf(fmt::format(R"({{"op": "Op", "inputs": [["T[4]"]], "T": {}}})", types)), "has no case"));
  EXPECT_TRUE(holds(blockOf(R"({"op": "Op", "inputs": [["f32[4]"], ["f32[4]"]]})"), "all cases of Op begin with"));
  const std::string block = blockOf(
      R"({"op": ["Other", "Op"], "inputs": [["-", "f64[3]", "T[0,4]"], ["-", "T[2,4]", "i64[1]"], ["-", "T[5]", "i64[1]"]], "T": ["f16", "f32"],
          "params": [{"a": 1}, {}], "constant": [2], "lanes": ["specials", "exact"], "fallback": {"vulkan": "no"}})");
  EXPECT_TRUE(holds(block, R"("op": "Op", "params": {"a": 1}, "inputs": [["-", "f32[2,4]", "i64[1]"]])")) << block;
  EXPECT_TRUE(holds(block, R"("lanes": ["exact"])") && holds(block, R"("constant": [2])")) << block;
}

TEST(KernelSource, CopiesOneForm) {
  const KernelCopy copy{"softmax", "cpu", "fused"};
  const auto message = [&](const std::string& source) {
    return copiedSource(copy, source, {}, "", "").error().message();
  };
  const std::string whole =
      "#include \"a.h\"\nnamespace opkit::ops::softmax {\n\nvoid addCpu(OpRegistry& registry) {\n}\n\n}  // namespace "
      "opkit::ops::softmax\n";
  EXPECT_EQ(message(whole), "");
  const std::string foreign =
      "Status Scales::of(int a,\n          int b) {\n  if (a) {\n  }\n}\nint Scales::one() { return 1; }\n";
  const auto copied = copiedSource(copy, foreign + whole, {}, "", ""),
             own = copiedSource(copy, "class Scales;\n" + foreign + whole, {}, "", "");
  ASSERT_TRUE(copied && own);
  EXPECT_EQ(*copied, *copiedSource(copy, whole, {}, "", "")) << "members of a class of a header exist once";
  EXPECT_TRUE(holds(*own, foreign));
  EXPECT_TRUE(holds(message(whole + whole), "is not in the form that can be copied"));
  EXPECT_TRUE(holds(message("namespace opkit::ops {\n"), "expected one 'namespace opkit::ops::softmax {'"));
}

}  // namespace
}  // namespace opkit::scaffold
