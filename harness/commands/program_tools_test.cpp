// The commands beside `check`, as a user runs them: bench --baseline, model --bisect, shaders, replay, watch, mutate.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "engine/backend/device_test_support.h"
#include "engine/base/where.h"
#include "engine/model/tensor_file.h"
#include "engine/testing/nowhere.h"
#include "harness/run/build_facts.h"
#include "harness/testing/program.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A case whose bound no kernel can meet: the simplest failure of a correct kernel.
std::string hopelessCase(const std::string& op, const std::string& inputs) {
  return fileWith("hopeless_" + op + ".json", R"({"cases": [{"op": ")" + op + R"(", "inputs": [[")" + inputs +
                                                  R"("]], "boundScale": 1e-9, "reason": "a bound that must fail"}]})");
}

/// Operators that move data: by regions, or by loops that compute nothing.
std::string movers() {
  std::string names;
  const OpRegistry registry = ops::builtinOps();
  for (const OpDef* def : registry.all())
    if (def->lower || (def->loop && def->numeric == NumericClass::Exact))
      names += (names.empty() ? "" : ",") + def->type;
  return names;
}

TEST(ProgramDescribe, AnOperatorOfTheBuildAndOneOfAPlugin) {
  const Ran gemm = run("describe Gemm --json");
  ASSERT_EQ(gemm.code, 0) << gemm.text;
  const auto card = nlohmann::json::parse(gemm.text);
  EXPECT_EQ(card["inputs"].size(), 3u);
  EXPECT_EQ(card["inputs"][2]["kind"], "optional");
  EXPECT_EQ(card["error bound"]["class"], "Products");
  EXPECT_GT(card["cases"]["count"], 0);
  EXPECT_FALSE(card["cases"]["timed"].empty());
  EXPECT_FALSE(card["kernels"]["cpu"].empty());
  EXPECT_NE(card["parameters"].get<std::string>().find("table GemmParams"), std::string::npos);
  const Ran plugin =
      run("describe com.example::ScaledTanh --plugin " + partOfBuild(OPKIT_SAMPLES) + "/libscaled_tanh.so");
  EXPECT_EQ(plugin.code, 0) << plugin.text;
  EXPECT_NE(plugin.text.find("example_c"), std::string::npos) << plugin.text;
  expectOneLine(run("describe NoSuchOperator"), "NoSuchOperator");
}

TEST(ProgramWatch, APluginIsBuiltAndChecked) {
  const std::string library = partOfBuild(OPKIT_SAMPLES) + "/libscaled_tanh.so";
  const std::string watch = "watch --once --backend cpu --op com.example::ScaledTanh --plugin " + library;
  const Ran passes = run(watch + " --build 'echo made'");
  EXPECT_EQ(passes.code, 0) << passes.text;
  EXPECT_NE(passes.text.find("made\n"), std::string::npos) << passes.text;
  EXPECT_NE(passes.text.find("example_c"), std::string::npos) << passes.text;
  const Ran broken = run(watch + " --build false");
  EXPECT_EQ(broken.code, 1) << broken.text;
  EXPECT_NE(broken.text.find("the build ended with 1: false"), std::string::npos) << broken.text;
  EXPECT_EQ(run(watch + " --filter no-case-has-this-name").code, 3);
  expectOneLine(run("watch --op Relu --build true"), "--build is for a plugin");
  expectOneLine(run(watch + " --budget 3"), "--budget is for operators of the tree");
}

TEST(ProgramCheck, WhatADeviceLacksIsRefusedWhenPlanning) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  std::istringstream masks(run("list --masks").text);
  size_t noticed = 0, count = 0, tried = 0;
  const auto day = static_cast<size_t>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::hours(24));
  for (std::string mask; std::getline(masks, mask); ++count) {
    if (count % 4 != day % 4) continue;  // the others on other days; ./nightly tries pairs
    ++tried;
    const Ran ran = run("check --written --backend vulkan --jobs 2 --mask " + mask + " --op " + movers());
    EXPECT_EQ(ran.code, 0) << mask << "\n" << ran.text;
    noticed += ran.text.find("unsupported") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(count, 15u);
  EXPECT_GE(noticed, tried / 3) << "masks that take nothing away prove nothing";
}

const std::string kRelu = "'Relu/f32[64]/normal/seed=7'";

/// The case alone in the program's process: its tensors as files, and the map of a wrong plane.
TEST(ProgramCheck, DebugWritesTheTensorsOfOneCase) {
  const std::string folder = fileWith("debug.txt", "") + ".files";
  const std::string id = "'Softmax{\"axis\":1}/f32[2,3,70]/normal/seed=7'";
  const Ran good = run("check --backend cpu --case " + id + " --debug " + folder);
  EXPECT_EQ(good.code, 0) << good.text;
  for (const char* file : {"input0.npy: f32[2,3,70]", "expected0.npy: f64[2,3,70]", "cpu.output0.npy: f32[2,3,70]"})
    expectPart(good, file);
  const auto input = loadTensor(folder + "/input0.npy"), output = loadTensor(folder + "/cpu.output0.npy"),
             expected = loadTensor(folder + "/expected0.npy");
  ASSERT_TRUE(input && output && expected);
  EXPECT_EQ(expected->desc.dtype, DType::Float64);
  for (size_t i = 0; i < 420; ++i) EXPECT_NEAR(output->data<float>()[i], expected->data<double>()[i], 1e-6) << i;

  const std::string file = hopelessCase("Softmax", "f32[2,3,70]");
  const Ran bad = run("check --brief --backend cpu --cases " + file + " --debug " + folder);
  EXPECT_EQ(bad.code, 1) << bad.text;
  expectPart(bad, "elements wrong\n  worst  [");
  expectPart(bad, "  plane  3 x 70 of the last axes, from element ");
  expectPart(bad, "fail Softmax/f32[2,3,70]");
}

TEST(ProgramCheck, DebugTakesOneCase) {
  const std::string folder = fileWith("debug_bad.txt", "") + ".files";
  expectOneLine(run("check --backend cpu --written --op Softmax --debug " + folder), "--debug: expected one case, ");
  expectOneLine(run("check --backend cpu --case " + kRelu + " --json x.jsonl --debug " + folder),
                "--debug writes no results: leave out --json, --junit, --save and --evidence");
  expectOneLine(run("check --backend cpu --case " + kRelu + " --debug /proc/none"), "--debug: ");
}

TEST(ProgramShaders, SavesTheSpirv) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const std::string folder = fileWith("spirv.txt", "") + ".files";
  const Ran ran = run("shaders --case " + kRelu + " --save " + folder);
  EXPECT_EQ(ran.code, 0) << ran.text;
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    ++files;
    EXPECT_EQ(runShell("spirv-val --target-env vulkan1.2 " + entry.path().string()).code, 0) << entry.path();
  }
  EXPECT_GT(files, 0u);
  expectOneLine(run("shaders --access --case " + kRelu + " --save " + folder), "--save is not for --access");
}

TEST(ProgramBench, TheBaselineIsAnotherProgramInTurns) {
  const std::string bench = "bench --backend cpu --samples 3 --rounds 1 --case " + kRelu;
  const Ran ran = run(bench + " --baseline " + opHarness());
  EXPECT_EQ(ran.code, 0) << ran.text << "one process run a side proves no change";
  for (const char* part : {"95 % interval", "executeWall", "create", "resizeWarm", "not shown: about 6 runs a side"})
    expectPart(ran, part);
  EXPECT_EQ(ran.text.find("nothing was interleaved"), std::string::npos) << ran.text;
  expectOneLine(run(bench + " --baseline " + nowhere()), nowhere());
  expectOneLine(run(bench + " --roof --baseline " + opHarness()), "--baseline excludes --roof");
}

TEST(ProgramBench, TheBaselineGetsEveryOptionThatThisProgramGot) {
  const std::string log = testing::TempDir() + "baseline_arguments";
  fs::remove(log);
  const std::string program =
      fileWith("baseline_program", fmt::format("#!/bin/sh\necho \"$*\" >>'{}'\nexec {} \"$@\"\n", log, opHarness()));
  fs::permissions(program, fs::perms::owner_all);
  const Ran ran = run("--host-memory 3GB bench --backend cpu,reference --simd SSE4 --cold-cache --seed 9 --samples 3 " +
                      ("--threshold 5 --rounds 1 --case " + kRelu) + " --baseline " + program);
  EXPECT_EQ(ran.code, 0) << ran.text;
  const std::string arguments = textOf(log);
  for (const char* part : {" --backend=cpu --backend=reference", " --simd=SSE4", " --cold-cache", " --samples=3",
                           " --seed=9", " --host-memory=3221225472"})
    EXPECT_NE(arguments.find(part), std::string::npos) << part << " in " << arguments;
  EXPECT_EQ(arguments.find("--threshold"), std::string::npos) << arguments;
  expectPart(ran, "reference");
}

/// Process runs of a measured file, each `factor` times as fast as measured.
std::string processRuns(const std::string& measured, size_t count, double factor) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    std::istringstream lines(textOf(measured));
    for (std::string text; std::getline(lines, text);) {
      Json line = Json::parse(text);
      if (line.contains("run")) line["run"] = line["run"].get<std::string>() + std::to_string(i);
      if (line.contains("times"))
        for (auto& [name, timing] : line["times"].items())
          timing["min"] = timing["min"].get<double>() / factor / (1 + 0.001 * static_cast<double>(i));
      all += line.dump() + "\n";
    }
  }
  return fileWith(fmt::format("process_runs_{}.jsonl", count), all);
}

TEST(ProgramBench, TheBaselineIsAResultsFile) {
  const std::string bench = "bench --backend cpu --samples 3 --case " + kRelu;
  const std::string path = testing::TempDir() + "baseline.jsonl";
  fs::remove(path);
  ASSERT_EQ(run(bench + " --json " + path).code, 0);
  const Ran ran = run(bench + " --rounds 6 --baseline " + processRuns(path, 6, 1000));
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "nothing was interleaved");
  expectPart(ran, "SLOWER");
  const Ran few = run(bench + " --rounds 6 --baseline " + processRuns(path, 5, 1000));
  EXPECT_EQ(few.code, 0) << "samples of five process runs are five values: " << few.text;
  expectOneLine(run(bench + " --cold-cache --baseline " + path), "measured with '', expected '--cold-cache'");
}

/// The ids of the cases in a file of results.
std::multiset<std::string> idsIn(const std::string& path) {
  std::multiset<std::string> ids;
  std::istringstream lines(textOf(path));
  for (std::string text; std::getline(lines, text);)
    if (const Json line = Json::parse(text); line.value("record", "") == "case") ids.insert(line["id"]);
  return ids;
}

std::multiset<std::string> idsOf(const std::string& command) {
  const std::string path = testing::TempDir() + "ids.jsonl";
  fs::remove(path);
  const Ran ran = run(command + " --json " + path);
  EXPECT_EQ(ran.code, 0) << ran.text;
  return idsIn(path);
}

TEST(ProgramBench, ShardsHoldEveryShapeOnce) {
  const std::string entries =
      fileWith("shapes.json",
               R"({"cases": [{"op": "Relu", "inputs": [["f32[64]"], ["f32[65]"], ["f32[7]"]], "bench": true},
                    {"op": "Tanh", "inputs": [["f32[9]"], ["f32[11]"]]}, {"op": "Tanh", "inputs": [["f32[10]"]]}]})");
  const std::string bench = "bench --backend cpu --samples 3 --cases " + entries;
  const std::multiset<std::string> whole = idsOf(bench);
  EXPECT_EQ(whole.size(), 4u) << "three shapes of one entry, and the largest case";
  std::multiset<std::string> parts = idsOf(bench + " --shard 1/2");
  parts.merge(idsOf(bench + " --shard 2/2"));
  EXPECT_EQ(parts, whole);
}

TEST(ProgramModel, BisectSavesTheSmallestPartAsOnnx) {
  const std::string path = testing::TempDir() + "part.onnx";
  fs::remove(path);
  // No two methods of computing agree within this gate.
  const std::string gate = " --backend cpu --reference reference --gate 1e-30";
  const Ran ran = run("model zoo:transformer" + gate + " --bisect " + path);
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "bisect: 1 of ");
  expectPart(ran, "bisect: saved " + path);
  const Ran part = run("model " + path + gate);
  EXPECT_EQ(part.code, 1) << "the part departs by itself: " << part.text;
  EXPECT_EQ(run("model " + path + " --backend cpu --reference reference").code, 0);
  EXPECT_EQ(runShell(opRun() + " " + path + " --backend cpu").code, 0);
}

TEST(ProgramCheck, FailuresAreAnnotatedReportedAndSaved) {
  const std::string folder = testing::TempDir() + "capsules", junit = testing::TempDir() + "failed.xml";
  fs::remove_all(folder);
  const Ran ran = run("check --backend cpu --annotations --junit " + junit + " --save " + folder + " --cases " +
                      hopelessCase("Exp", "f32[70]"));
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "::error file=ops/");
  expectPart(ran, "capsule  ");
  EXPECT_NE(textOf(junit).find("<failure type=\"fail\""), std::string::npos);
  const std::string capsule = folder + "/Exp-cpu-accuracy.opcase";
  const Ran again = run("replay " + capsule);
  EXPECT_EQ(again.code, 1) << again.text;
  expectPart(again, "it still fails");
  expectOneLine(run("replay " + nowhere("a.opcase")), nowhere("a.opcase"));
  expectOneLine(run("replay " + fileWith("broken.opcase", "{")), "broken.opcase");
}

TEST(ProgramMutate, PrintsScoresAndKeepsToTheThreshold) {
  const std::string cases = fileWith("poor.json", R"({"cases": [{"op": "Softmax", "params": [{"axis": 1}],
                                                       "inputs": [["f32[1,2]"]]}]})");
  const std::string path = testing::TempDir() + "mutants.jsonl";
  fs::remove(path);
  const Ran ran = run("mutate --backend cpu --jobs 2 --threshold 99 --cases " + cases + " --json " + path);
  EXPECT_EQ(ran.code, 1) << "poor cases let faults live: " << ran.text;
  expectPart(ran, "survived Softmax on cpu: ");
  expectPart(ran, "mutation score: ");
  expectPart(ran, "fail: the score is below 99.0 %");
  size_t mutants = 0, planned = 0;
  std::istringstream lines(textOf(path));
  for (std::string text; std::getline(lines, text);) {
    const Json line = Json::parse(text);
    if (line["record"] == "plan") planned = line["planned"]["cpu"];
    if (line["record"] != "mutant") continue;
    ++mutants;
    EXPECT_EQ(line["subject"], "Softmax");
  }
  EXPECT_GT(mutants, 10u);
  EXPECT_EQ(mutants, planned);
  EXPECT_EQ(run("mutate --backend cpu --jobs 2 --threshold 10 --cases " + cases).code, 0);
  const std::string wrong = fileWith("wrong.json", R"({"cases": [{"op": "Exp", "inputs": [["f32[9]"]],
                                                       "boundScale": 1e-9, "reason": "must fail"}]})");
  expectOneLine(run("mutate --backend cpu --cases " + wrong), "although nothing is broken");
}

class ProgramVulkan : public testing::Test {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime("vulkan")); }
};

TEST_F(ProgramVulkan, ShadersTellTheirStatistics) {
  const std::string path = testing::TempDir() + "shaders.json";
  const Ran ran = run("shaders --op Softmax --json " + path);
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "softmax/softmax");
  for (const Json& shader : Json::parse(textOf(path))) {
    EXPECT_GT(shader["instructions"], 10) << shader;
    EXPECT_GT(shader["loads"], 0) << shader;
  }
  // Registers come from the driver, or the reader is told that there are none.
  EXPECT_TRUE(ran.text.find("does not tell registers") != std::string::npos ||
              Json::parse(textOf(path))[0].contains("driver"))
      << ran.text;
}

TEST_F(ProgramVulkan, ACapsuleBecomesAProgramThatReproduces) {
  const std::string folder = testing::TempDir() + "vulkan_capsules", source = testing::TempDir() + "driver_bug";
  fs::remove_all(folder);
  ASSERT_EQ(run("check --backend vulkan --save " + folder + " --cases " + hopelessCase("Softmax", "f32[5,70]")).code,
            1);
  const std::string capsule = folder + "/Softmax-vulkan-accuracy.opcase";
  const Ran exported = run("replay " + capsule + " --export-cpp " + source + ".cpp");
  EXPECT_EQ(exported.code, 0) << exported.text;
  const Ran compiled = runShell("c++ -std=c++17 -o " + source + " " + source + ".cpp -lvulkan");
  ASSERT_EQ(compiled.code, 0) << compiled.text;
  const Ran reproduced = runShell(source);
  EXPECT_EQ(reproduced.code, 1) << reproduced.text;
}

TEST_F(ProgramVulkan, TheSameSeedGivesTheSameBytes) {
  const auto lines = [](const std::string& name) {
    const std::string path = testing::TempDir() + name;
    fs::remove(path);
    const Ran ran = run("check --written --op Relu,LeakyRelu,Trilu --seed 11 --fuzz 3 --jobs 2 --json " + path);
    EXPECT_EQ(ran.code, 0) << ran.text;
    // Times may differ; everything else must be equal, byte for byte.
    std::istringstream file(textOf(path));
    std::string all;
    for (std::string text; std::getline(file, text);) {
      Json line = Json::parse(text);
      for (const char* time : {"durationNs", "started", "ended", "command", "run"}) line.erase(time);
      all += line.dump() + "\n";
    }
    return all;
  };
  const std::string first = lines("seed_a.jsonl");
  EXPECT_GT(std::count(first.begin(), first.end(), '\n'), 100);
  EXPECT_EQ(first, lines("seed_b.jsonl"));
}

/// A watched source tree of one operator.
fs::path softmaxTree() {
  const fs::path root = fs::path(testing::TempDir()) / "program_watch", source = sourceFolder();
  fs::remove_all(root);
  fs::create_directories(root / "ops");
  fs::create_directories(root / "shaders");
  fs::copy(source / "ops" / "softmax", root / "ops" / "softmax", fs::copy_options::recursive);
  for (const char* folder : {"softmax", "include"})
    fs::copy(source / "shaders" / folder, root / "shaders" / folder, fs::copy_options::recursive);
  return root;
}

/// Waits until the file holds `text` behind the first `from` bytes.
bool waitFor(const std::string& path, const std::string& text, size_t from = 0) {
  for (int i = 0; i < 1200; ++i) {
    const std::string all = textOf(path);
    if (all.size() > from && all.find(text, from) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST_F(ProgramVulkan, WatchRunsTheCasesWhenAShaderIsSaved) {
  const fs::path root = softmaxTree(), shader = root / "shaders" / "softmax" / "softmax.comp";
  const std::string log = fileWith("watch.txt", "");
  const std::string program = opHarness();
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen(log.c_str(), "w", stdout)) _exit(127);
    execl(program.c_str(), program.c_str(), "watch", "--op", "Softmax", "--source", root.c_str(), nullptr);
    _exit(127);
  }
  EXPECT_TRUE(waitFor(log, "Ctrl-C ends")) << textOf(log);
  const bool complete = textOf(log).find("ok after ") != std::string::npos;
  EXPECT_TRUE(complete || textOf(log).find("ok so far after ") != std::string::npos) << textOf(log);
  EXPECT_NE(textOf(log).find(complete ? ": all " : " groups, the rest for lack of time"), std::string::npos)
      << textOf(log);
  const size_t before = textOf(log).size();
  std::string text = textOf(shader);
  const size_t at = text.find("1.0 / sum");
  EXPECT_NE(at, std::string::npos);
  if (at != std::string::npos) text.replace(at, 9, "2.0 / sum");
  std::ofstream(shader) << text;
  EXPECT_TRUE(waitFor(log, "FAIL after ", before)) << textOf(log);
  kill(child, SIGINT);
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(WIFEXITED(state) ? WEXITSTATUS(state) : -1, 130) << "Ctrl-C ends it in an orderly way";
}

TEST_F(ProgramVulkan, WatchAnswersForNoSourceThatItWasNotBuiltOf) {
  const fs::path root = softmaxTree();
  std::ofstream(root / "CMakeLists.txt") << "# a source tree";
  std::ofstream(root / "ops" / "softmax" / "softmax.fbs", std::ios::app) << "// edited\n";
  const Ran ran = run("watch --op Softmax --once --source " + root.string());
  EXPECT_EQ(ran.code, 2) << ran.text;
  expectPart(ran, "nothing was checked: this program was built of another ops/softmax/softmax.fbs");
  EXPECT_EQ(ran.text.find("ok"), std::string::npos) << ran.text;
}

TEST(Program, ALongDrawIsCheckedBrieflyWhereItIsLong) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const Ran ran =
      run("check --backend cpu,vulkan --op LSTMSteps --filter 'drawn for more than 65,536' --verbose --jobs 1");
  ASSERT_EQ(ran.code, 0) << ran.text;
  const size_t cpu = ran.text.find(" on cpu "), vulkan = ran.text.find(" on vulkan ");
  ASSERT_LT(cpu, vulkan) << ran.text;
  EXPECT_LT(ran.text.find(" threads ", cpu), vulkan) << "all sub-checks: " << ran.text;
  EXPECT_NE(ran.text.find("not run  variants: a brief check", vulkan), std::string::npos) << ran.text;
}

}  // namespace
}  // namespace opkit::harness
