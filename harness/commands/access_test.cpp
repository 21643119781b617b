// `shaders --access` and `check --sanitize`, as a user runs them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/backend/device_test_support.h"
#include "engine/base/where.h"
#include "engine/testing/nowhere.h"
#include "harness/testing/check_all.h"
#include "harness/testing/program.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A case file with one sized entry of Relu and these fields.
std::string reluCases(const std::string& name, const std::string& fields) {
  return fileWith(name, R"({"cases": [{"op": "Relu", "inputs": [["f32[4096]"]], "size": "typical")" + fields + "}]}");
}

TEST(ProgramAccess, CountsAndEstimatesPerCase) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const std::string file = testing::TempDir() + "access.jsonl";
  fs::remove(file);
  const Ran ran =
      run("shaders --access --gpu H100,Adreno750 --cases " + reluCases("relu.json", "") + " --json " + file);
  EXPECT_EQ(ran.code, 0) << ran.text;
  for (const char* part : {"as discrete", "Adreno750 estimate", "estimates for H100, not measurements", "1.000"})
    expectPart(ran, part);
  std::ifstream lines(file);
  size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line);
    if (record["record"] != "case") continue;
    ++found;
    EXPECT_EQ(record["kind"], "access");
    const Json& access = record["access"];
    EXPECT_EQ(access["efficiency"], 1.0);
    EXPECT_EQ(access["requestBytes"], 2 * 4096 * 4.0);
    EXPECT_EQ(access["requests"], 1.0);
    EXPECT_EQ(access["exact"], true);
    EXPECT_EQ(access["width"], 32);
    EXPECT_GT(access["estimateNs"]["Adreno750"], access["estimateNs"]["H100"]);
  }
  EXPECT_EQ(found, 1u);
}

TEST(ProgramAccess, ABoundOfAnEntryFails) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const Ran ran = run("shaders --access --cases " + reluCases("few.json", R"(, "requests": 0.5)"));
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "requests 1 times the bytes of inputs and outputs, expected at most 0.5");
  const Ran fine = run("shaders --access --cases " + reluCases("fine.json", R"(, "requests": 1, "efficiency": 1)"));
  EXPECT_EQ(fine.code, 0) << fine.text;
}

TEST(ProgramAccess, ACaseGetsARowPerInstruction) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const Ran ran = run("shaders --access --device H200 --case 'Relu/f32[4096]/normal/seed=7'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  for (const char* part : {"load buffer 0 x", "store buffer 1 y", "unary.comp:", "H200 estimate"})
    expectPart(ran, part);
}

TEST(ProgramAccess, EachAlternativeOfTheTunerGetsAnEstimate) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const Ran ran = run("shaders --access --alternatives --goals --cases " + reluCases("tuned.json", ""));
  EXPECT_EQ(ran.code, 0) << ran.text;
  for (const char* part : {"alternative 0 of 2", "alternative 1 of 2", "the tuner's first guess"})
    expectPart(ran, part);
  const Ran none = run("shaders --access --alternatives --device-class software --cases " + reluCases("own.json", ""));
  EXPECT_EQ(none.code, 0) << none.text;
  EXPECT_EQ(none.text.find("alternative 0"), std::string::npos) << none.text;
  expectOneLine(run("shaders --alternatives"), "--access");
}

TEST(ProgramAccess, GuessesServeRunsOfTheirClass) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const std::string file = testing::TempDir() + "relu.guesses", cases = " --cases " + reluCases("guessed.json", "");
  fs::remove(file);
  const Ran ran = run("shaders --access --alternatives --guesses " + file + cases);
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "guesses of 1 cases in " + file + ", for devices of the class discrete");
  const std::string bench =
      "bench --backend vulkan --samples 3 --case 'Relu/f32[64]/normal/seed=7' --tuning-guesses " + file;
  const Ran used = run(bench + " --device-class discrete");
  EXPECT_EQ(used.code, 0) << used.text;
  expectOneLine(run(bench + " --device-class integrated"), "holds none for devices of the class integrated");
  expectOneLine(run("bench --backend vulkan --tuning-guesses " + nowhere()), nowhere());
  expectOneLine(run("shaders --access --alternatives --gpu Adreno750 --guesses " + file + cases), "remove it");
  EXPECT_EQ(run("shaders --access --alternatives --guesses " + file + cases).code, 0) << "of the same class: added";
  expectOneLine(run("shaders --access --guesses " + file), "--alternatives");
  const std::string notes = testing::TempDir() + "notes.txt";
  std::ofstream(notes) << "mine\n";
  expectOneLine(run("shaders --access --alternatives --guesses " + notes + cases), "remove it");
  EXPECT_EQ(fs::file_size(notes), 5u) << "a file that is not ours is replaced";
}

TEST(ProgramAccess, AShaderOfAPluginIsTraced) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const Ran ran = run("--plugin " OPKIT_SAMPLES
                      "/libscaled_tanh.so shaders --access --case 'com.example::ScaledTanh/f32[1024]/normal/seed=7'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  for (const char* part : {"scaled_tanh.comp STORAGE=f32: 16 groups of 64", "load buffer 0, instruction", "8192 B"})
    expectPart(ran, part);
}

TEST(ProgramAccess, BadInputIsOneLine) {
  expectOneLine(run("shaders --access --gpu H1000"), "GPU: expected one of H100, H200");
  expectOneLine(run("shaders --gpu H100"), "--gpu requires --access");
  expectOneLine(run("shaders --access --glsl " + nowhere()), nowhere());
  expectOneLine(run("shaders --access --size huge"), "--size");
  const Ran none = run("shaders --access --op Identity --size large");
  EXPECT_EQ(none.code, 3) << none.text;
  expectPart(none, "no entry has this size; --case ID traces any case");
}

TEST(ProgramAccess, AFileOfItsOwnIsProfiledAndSanitized) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const std::string head = "#version 450\nlayout(local_size_x = 64) in;\n";
  const std::string buffers =
      "layout(binding = 0) readonly buffer X { float x[]; };\nlayout(binding = 1) writeonly buffer Y { float y[]; };\n";
  const std::string body = "void main() { const uint i = gl_GlobalInvocationID.x; y[i] = x[2u * i]; }\n";
  const std::string file = fileWith("stride.comp", head + buffers + body), run64 = " --groups 1 --glsl " + file;
  const Ran ran = run("shaders --access --buffers 512,256" + run64);
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "efficiency 0.667, requests 1 x the buffers");
  const Ran beyond = run("shaders --access --buffers 256,256" + run64);
  EXPECT_EQ(beyond.code, 1) << beyond.text;
  expectPart(beyond, "bounds: ");
  expectOneLine(run("shaders --access --buffers 512" + run64), "expected the bytes of 2 buffers, got 1");
  expectOneLine(run("shaders --access --buffers 512,x" + run64), "--buffers");
  const std::string broken = fileWith("broken.comp", head + "void main() { nothing(); }\n");
  const Ran refused = run("shaders --access --glsl " + broken);
  EXPECT_EQ(refused.code, 2) << refused.text;
  expectPart(refused, "broken.comp:3: error:");
  expectOneLine(run("shaders --access --glsl " + fileWith("old.comp", "void main() {}\n")), "#version 450");
  const std::string pushed = fileWith("pushed.comp", head + buffers + "layout(push_constant) uniform P { uint n; };\n" +
                                                         "void main() { y[gl_GlobalInvocationID.x] = x[n]; }\n");
  expectOneLine(run("shaders --access --buffers 64,64 --glsl " + pushed), "has push constants");
}

TEST(ProgramAccess, SanitizeIsPartOfACheck) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const std::string check = "check --written --op Softmax --filter 2,1000 --subchecks --sanitize ";
  const Ran ran = run(check + "race,bounds,init --backend vulkan");
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "sanitize");
  expectOneLine(run(check + "races --backend vulkan"), "--sanitize: expected race, bounds, init and loops");
  expectOneLine(run(check + "race --backend cpu"), "--sanitize is for the backend vulkan");
}

/// The program in the build folder of a tree with another shader than its own.
TEST(ProgramAccess, SanitizeRefusesShadersThatWereNotBuilt) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  namespace fs = std::filesystem;
  const fs::path tree = testing::TempDir() + "another_shader", source = sourceTreeAround(OPKIT_SOURCE_DIR);
  fs::remove_all(tree);
  fs::create_directories(tree / "ops");
  fs::create_directories(tree / "build/bin");
  for (const char* file : {"CMakeLists.txt", "ops/CMakeLists.txt"}) std::ofstream(tree / file);
  fs::copy(source / "shaders", tree / "shaders", fs::copy_options::recursive);
  const fs::path program = tree / "build/bin/op-harness";
  fs::copy_file(opHarness(), program);
  const std::string check =
      program.string() + " check --case 'Relu/f32[17]/normal/seed=5' --backend vulkan --sanitize ";
  const Ran same = runShell(check + "race");
  EXPECT_EQ(same.code, 0) << same.text;
  std::ofstream(tree / "shaders/gemm/gemm_thin.comp", std::ios::app) << "// another\n";
  expectOneLine(runShell(check + "race"), "was built of another shaders/gemm/gemm_thin.comp");
  EXPECT_EQ(runShell(check + "loops").code, 0) << "it reads no source";
  fs::remove_all(tree);
}

/// In classes that prefer buffers too: `providers` runs kernels that no session chooses for one node.
TEST(ProgramAccess, ASampleInAnyClassRunsTheKernelsOnImages) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  for (const char* name : {"software", "discrete", "integrated"}) {
    const Ran ran = run(std::string("check --sample --written --op Abs --backend vulkan --device-class ") + name);
    EXPECT_EQ(ran.code, 0) << ran.text;
  }
}

TEST(ProgramAccess, AFaultOfTheSanitizerFailsTheCase) {
  const OpRegistry registry = ops::builtinOps();
  const auto runtime = createRuntime("vulkan", {});
  OPKIT_NEEDS_DEVICE(runtime);
  const auto catalogue = parseCaseFile("test", R"({"cases": [{"op": "Relu", "inputs": [["f32[7]"]]}]})", registry);
  ASSERT_TRUE(catalogue);
  Checker checker(registry, "vulkan", *runtime);
  checker.setSanitizer([](const PreparedCase&) { return Status::internal("race: here"); });
  const std::vector<CaseResult> results = checker.checkGroup(prepareGroup(catalogue->groups[0], registry));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].failed("sanitize"));
  EXPECT_NE(results[0].reason.find("race: here"), std::string::npos) << results[0].reason;
  checker.setSanitizer([](const PreparedCase&) { return Status::unsupported("too large"); });
  const std::vector<CaseResult> skipped = checker.checkGroup(prepareGroup(catalogue->groups[0], registry));
  EXPECT_TRUE(std::ranges::any_of(
      skipped[0].notRun, [](const NotRun& note) { return note.name == "sanitize" && note.reason == "too large"; }));
}

}  // namespace
}  // namespace opkit::harness
