#include <gtest/gtest.h>

#include "scaffold/add_backend.h"
#include "scaffold/backend.h"
#include "scaffold/generate.h"
#include "scaffold/plugin.h"
#include "scaffold/record.h"
#include "scaffold/remove.h"
#include "scaffold/rename.h"
#include "scaffold/testing/scratch_tree.h"

namespace opkit::scaffold {
namespace {

Status applied(const ScratchTree& scratch, const Result<Plan>& plan) {
  return plan ? scratch.tree().apply(*plan) : plan.error();
}

TEST(PlanRename, GivesWhatNewWouldHaveGiven) {
  const ScratchTree scratch, direct;
  ASSERT_TRUE(scaffold(scratch, {.name = "OldThing", .kind = "pool", .onnx = "Pooled"}).isOk());
  ASSERT_EQ(applied(scratch, planRename(scratch.tree(), "OldThing", "NewThing", false)).message(), "");
  ASSERT_TRUE(scaffold(direct, {.name = "NewThing", .kind = "pool", .onnx = "Pooled"}).isOk());
  for (const std::string& path : direct.tree().filesBelow("ops/new_thing"))
    EXPECT_EQ(scratch.tree().read(path), direct.tree().read(path)) << path;
  EXPECT_EQ(scratch.tree().read("shaders/new_thing/new_thing.comp"),
            direct.tree().read("shaders/new_thing/new_thing.comp"));
  EXPECT_FALSE(scratch.tree().exists("ops/old_thing"));
  EXPECT_FALSE(scratch.tree().exists("shaders/old_thing"));
  EXPECT_EQ(applied(scratch, planRemove(scratch.tree(), "NewThing", false)).message(), "") << "the record moved along";
}

TEST(PlanRename, KeepsOnnxNamesAndOtherWords) {
  const ScratchTree scratch;
  ASSERT_EQ(applied(scratch, planRename(scratch.tree(), "Softmax", "Normalised", true)).message(), "");
  const std::string rules = *scratch.tree().read("ops/normalised/normalised_onnx.cpp");
  EXPECT_NE(rules.find("rules.add(\"Softmax\""), std::string::npos);
  EXPECT_NE(rules.find("rules.add(\"LogSoftmax\""), std::string::npos);
  EXPECT_NE(rules.find("nodeOf<Params>(\"Normalised\""), std::string::npos);
  EXPECT_NE(scratch.tree().read("ops/normalised/normalised.fbs")->find("root_type NormalisedParams"),
            std::string::npos);
}

TEST(PlanRename, RowsKeepTheirPlaceAndCanBeRemoved) {
  const ScratchTree scratch;
  const auto before = scratch.snapshot();
  for (const char* kind : {"unary", "binary"}) {
    ASSERT_TRUE(scaffold(scratch, {.name = "Thing", .kind = kind}).isOk());
    EXPECT_NE(planRename(scratch.tree(), "Thing", "Tanh", false).error().message().find("operator Tanh exists"),
              std::string::npos);
    ASSERT_EQ(applied(scratch, planRename(scratch.tree(), "Thing", "Other", false)).message(), "");
    const std::string rules = *scratch.tree().read(std::string("ops/") + kind + "/" + kind + "_onnx.cpp");
    EXPECT_NE(rules.find("rules.add(\"Thing\", {}, passThrough(\"Other\"))"), std::string::npos) << "ONNX names stay";
    ASSERT_EQ(applied(scratch, planRemove(scratch.tree(), "Other", false)).message(), "");
    EXPECT_EQ(scratch.snapshot(), before);
  }
}

TEST(PlanRename, Refuses) {
  const ScratchTree scratch;
  const auto message = [&](const char* from, const char* to) {
    return planRename(scratch.tree(), from, to, false).error().message();
  };
  EXPECT_NE(message("Softmax", "Other").find("--force"), std::string::npos);
  EXPECT_NE(message("Softmax", "Tanh").find("operator Tanh exists"), std::string::npos);
  EXPECT_NE(message("Softmax", "bad").find("UpperCamel"), std::string::npos);
  EXPECT_NE(message("Relu", "Other").find("shares ops/unary"), std::string::npos);
  EXPECT_NE(message("None", "Other").find("no operator None"), std::string::npos);
  ASSERT_TRUE(scaffold(scratch, {.name = "Thing", .kind = "custom"}).isOk());
  scratch.write("ops/thing/thing.md", "edited");
  EXPECT_NE(message("Thing", "Other").find("thing.md was edited"), std::string::npos);
}

/// A record is a file that anybody may have edited, or that comes with an archive of a tree.
TEST(Records, ThatAreDamagedOrLeadOutOfTheTreeAreRefused) {
  const ScratchTree scratch;
  ASSERT_TRUE(scaffold(scratch, {.name = "Thing", .kind = "pool"}).isOk());
  const std::string path = recordPath("Thing"), outside = scratch.root() + "-outside";
  std::ofstream(outside) << "kept";
  const std::string hash = hashOf("kept"), up = "../" + std::filesystem::path(outside).filename().string();
  for (const std::string& text :
       {fmt::format(R"({{"files": {{"{}": "{}"}}, "blocks": []}})", up, hash),
        fmt::format(R"({{"files": {{"{}": "{}"}}, "blocks": []}})", outside, hash),
        fmt::format(R"({{"files": {{"ops/../{}": "{}"}}, "blocks": []}})", up, hash),
        fmt::format(R"({{"files": {{}}, "blocks": [{{"path": "{}", "text": "kept"}}]}})", up),
        std::string(R"({"files": {"": ""}, "blocks": []})"), std::string(R"({"files": {"a": 1}, "blocks": []})"),
        std::string(R"({"files": [], "blocks": []})"), std::string(R"({"files": {}, "blocks": [1]})"),
        std::string(R"({"files": {}, "blocks": {"x": 1}})"), std::string(R"({"files": {}, "blocks": "x"})"),
        std::string(R"({"files": {}, "blocks": [{"path": 1, "text": "x"}]})")}) {
    scratch.write(path, text);
    EXPECT_THROW(readRecord(scratch.tree(), "Thing"), TreeError) << text;
    EXPECT_THROW(static_cast<void>(planRemove(scratch.tree(), "Thing", true)), TreeError) << text;
  }
  EXPECT_TRUE(std::filesystem::remove(outside));
}

TEST(PlanAddBackend, GivesWhatNewWouldHaveGiven) {
  const ScratchTree scratch, direct;
  ASSERT_TRUE(scaffold(scratch, {.name = "Thing", .kind = "rowwise", .backends = {"cpu"}}).isOk());
  EXPECT_FALSE(scratch.tree().exists("shaders/thing"));
  ASSERT_EQ(applied(scratch, planAddBackend(scratch.tree(), Templates(), "Thing", "vulkan", "")).message(), "");
  ASSERT_TRUE(scaffold(direct, {.name = "Thing", .kind = "rowwise"}).isOk());
  for (const char* path : {"ops/thing/thing_vulkan.cpp", "shaders/thing/thing.comp"})
    EXPECT_EQ(scratch.tree().read(path), direct.tree().read(path)) << path;
  EXPECT_EQ(applied(scratch, planRemove(scratch.tree(), "Thing", false)).message(), "")
      << "the record knows the kernel";
}

TEST(PlanAddBackend, Refuses) {
  const ScratchTree scratch;
  ASSERT_TRUE(scaffold(scratch, {.name = "Mirrored", .kind = "layout"}).isOk());
  const auto message = [&](const char* op, const char* backend, const char* kind = "") {
    return planAddBackend(scratch.tree(), Templates(), op, backend, kind).error().message();
  };
  EXPECT_NE(message("Mirrored", "vulkan").find("runs on every backend already"), std::string::npos);
  EXPECT_NE(message("Softmax", "vulkan").find("has a kernel on vulkan"), std::string::npos);
  EXPECT_NE(message("None", "cpu").find("no operator None"), std::string::npos);
  EXPECT_NE(message("Softmax", "cuda").find("got 'cuda'"), std::string::npos);
  scratch.write("ops/bare/bare.cpp", "registry.add({.type = \"Bare\",\n .oracle = reference});\n");
  EXPECT_NE(message("Bare", "cpu", "matmul").find("bare.h is missing"), std::string::npos);
  EXPECT_EQ(message("Bare", "cpu"), "") << "this kind's kernels need no header";
  EXPECT_NE(message("Bare", "cpu", "rowwise").find("reads a parameter 'axis', but Bare has none"), std::string::npos);
  scratch.write("ops/bare/bare.fbs", "table BareParams { axis: long; epsilon: float; }");
  EXPECT_EQ(message("Bare", "cpu", "rowwise"), "");
  scratch.write("ops/two/two.cpp", "registry.add({.type = type, .oracle = reference});\n");
  scratch.write("ops/two/two.cases.json", R"({"cases": [{"op": "First"}, {"op": "Second"}]})");
  EXPECT_NE(message("Second", "cpu").find("shares ops/two"), std::string::npos);
}

TEST(PlanBackend, CopiesTheNullBackendUnderAnotherName) {
  const ScratchTree scratch;
  const auto before = scratch.snapshot();
  auto plan = planBackend(scratch.tree(), "my_npu", false);
  ASSERT_TRUE(plan) << plan.error().message();
  plan->push_back(recordChange(scratch.tree(), "backend-my_npu", recordOf(*plan, nullptr)));
  ASSERT_TRUE(scratch.tree().apply(*plan).isOk());
  const std::string source = *scratch.tree().read("engine/backend/my_npu/my_npu_backend.cpp");
  EXPECT_NE(source.find("class MyNpuBackend final"), std::string::npos);
  EXPECT_NE(source.find("namespace opkit::my_npu {"), std::string::npos);
  EXPECT_EQ(source.find("null_backend"), std::string::npos);
  EXPECT_NE(scratch.tree().read("engine/backend/my_npu/my_npu_backend.h")->find("SCAFFOLD: 1. devices()"),
            std::string::npos);
  EXPECT_EQ(applied(scratch, planRemove(scratch.tree(), "my_npu", false)).message(), "");
  EXPECT_EQ(scratch.snapshot(), before);
}

TEST(PlanBackend, RefusesNames) {
  const ScratchTree scratch;
  for (const char* name : {"MyNpu", "cpu", "class", "a", "my-npu", "../x", "host"})
    EXPECT_FALSE(planBackend(scratch.tree(), name, false)) << name;
}

TEST(PlanPlugin, RefusesNamesAndKeepsWhatIsThere) {
  const ScratchTree scratch;
  const auto message = [&](const char* name, const char* domain, const char* language) {
    return planPlugin(scratch.tree(), Templates(), name, domain, language, false).error().message();
  };
  EXPECT_EQ(message("mine", "com.acme", "c"), "");
  EXPECT_EQ(message("mine", "com.acme", "cpp"), "");
  EXPECT_NE(message("Mine", "com.acme", "c").find("lower-case word"), std::string::npos);
  EXPECT_NE(message("mine", "acme", "c").find("--domain"), std::string::npos);
  EXPECT_NE(message("mine", "com.acme", "rust").find("got 'rust'"), std::string::npos);
  const std::string endless = "com." + std::string(100'000, 'x');  // a stack frame for each character
  EXPECT_NE(message("mine", endless.c_str(), "c").find("--domain"), std::string::npos);
  scratch.write("mine.c", "edited");
  EXPECT_NE(message("mine", "com.acme", "c").find("exists and differs"), std::string::npos);
}

}  // namespace
}  // namespace opkit::scaffold
