// `cases`, and the commands that take its file, as a user runs them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/backend/device_test_support.h"
#include "engine/testing/nowhere.h"
#include "harness/testing/mixed_network.h"
#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

std::string smallFile() {
  const std::string path = testing::TempDir() + "small.opk";
  EXPECT_TRUE(writeModel(mixedNetwork(), path));
  return path;
}

/// The case file of the small network.
Ran writeCases(const std::string& file) {
  std::filesystem::remove(file);
  return run("cases --from " + smallFile() + " --input x=3x8 --backend " OPKIT_CHECKED_BACKENDS " --output " + file);
}

TEST(ProgramCases, EveryNodeIsACaseOrNamed) {
  const std::string file = testing::TempDir() + "small.cases.json";
  const Ran ran = writeCases(file);
  EXPECT_EQ(ran.code, 0) << ran.text;
  for (const char* part :
       {"no case: 1 of 6 nodes", "'choose' (If with 2 nodes inside), ", ": control flow", "4 cases for 5 of 6 nodes"})
    expectPart(ran, part);
  const nlohmann::json entries = nlohmann::json::parse(textOf(file))["cases"];
  ASSERT_EQ(entries.size(), 4u);
  for (const nlohmann::json& entry : entries)
    EXPECT_NE(entry["name"].get<std::string>().find(" of 6 nodes of "), std::string::npos) << entry;
}

TEST(ProgramCases, CheckBenchAndAccessTakeTheFile) {
  const std::string file = testing::TempDir() + "taken.cases.json";
  ASSERT_EQ(writeCases(file).code, 0);
  const Ran checked = run("check --backend " OPKIT_CHECKED_BACKENDS " --cases " + file);
  EXPECT_EQ(checked.code, 0) << checked.text;
  for (const char* part : {"MatMul", "Reshape", " pass"}) expectPart(checked, part);
  const Ran timed = run("bench --backend cpu --samples 3 --filter Reshape --cases " + file);
  EXPECT_EQ(timed.code, 0) << timed.text;
  for (const char* part : {"\"values\":[-1,4]", "\"values\":[-1,2]"}) expectPart(timed, part);
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const Ran traced = run("shaders --access --cases " + file);
  EXPECT_EQ(traced.code, 0) << traced.text;
  expectPart(traced, "MatMul/f32[3,8],f32[8,8]/");
}

TEST(ProgramCases, TheFileIsNamedAfterTheNetwork) {
  const std::string folder = testing::TempDir() + "cases_here";
  std::filesystem::create_directories(folder);
  const Ran ran =
      runShell("cd " + folder + " && " + opHarness() + " cases --from zoo:transformer --input input=1x4x128");
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "op-harness check --cases transformer.cases.json");
  EXPECT_TRUE(std::filesystem::exists(folder + "/transformer.cases.json"));
}

TEST(ProgramCases, BadInputIsOneLine) {
  const std::string to = " --output " + testing::TempDir() + "bad.cases.json", small = "cases --from " + smallFile();
  expectOneLine(run("cases"), "--from");
  expectOneLine(run("cases --from " + nowhere("a.onnx") + to), nowhere("a.onnx"));
  expectOneLine(run("cases --from zoo:nope" + to), "nope");
  expectOneLine(run(small + to), "input 'x' is f32[?,8]: give its shape, as in --input x=1x8");
  expectOneLine(run(small + to + " --input x=3x8 --input y=3x8"), "'y'");
  expectOneLine(run(small + to + " --input x"), "--input");
  expectOneLine(run(small + to + " --input x=3xz"), "--input");
  expectOneLine(run(small + to + " --input x=3x9"), "--input: ");
  expectOneLine(run(small + to + " --input x=3x8 --input x=4x8"), "--input gives the shape of 'x' twice");
  expectOneLine(run(small + to + " --input x=3x8 --backend nope"), "nope");
  expectOneLine(run(small + " --input x=3x8 --output " + nowhere("a.json")), nowhere("a.json"));
  Model model;  // nothing but control flow
  const TensorId when = model.addInput("when", {DType::Bool, {}}), x = model.addInput("x", {DType::Float32, {2}});
  Model branch;
  branch.outputs = branch.addNode("Neg", "negated", {branch.addInput("x", {})});
  model.outputs = model.addNode("If", "choose", {when, x});
  model.nodes.back().subgraphs = {{"then_branch", branch, {1}}, {"else_branch", branch, {1}}};
  const std::string path = testing::TempDir() + "control.opk";
  ASSERT_TRUE(writeModel(model, path));
  expectOneLine(run("cases --from " + path + to),
                "none of its 1 nodes can be a case; the first, 'choose' (If): control");
  EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "bad.cases.json"));
}

}  // namespace
}  // namespace opkit::harness
