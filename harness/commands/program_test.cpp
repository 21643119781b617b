// op-harness as a user runs it: exit codes, one-line errors, results that can be read back.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/base/where.h"
#include "engine/testing/nowhere.h"
#include "harness/testing/program.h"
#include "reports/results/reader.h"
#include "reports/results/record_json.h"

namespace opkit::harness {
namespace {

TEST(Program, BadUsageIsOneLineAndTwo) {
  expectOneLine(run("check --backend cpu --op Nope"), "--op Nope");
  expectOneLine(run("check --backend nope"), "nope");
  expectOneLine(run("check --backend cpu --cases " + nowhere()), nowhere());
  expectOneLine(run("check --backend cpu --case 'Relu/f32[2]'"), "Relu/f32[2]");
  expectOneLine(run("check --backend cpu --cases " + fileWith("bad.json", "{")), "line 1: the JSON ends too early");
  expectOneLine(run("conformance " + nowhere()), nowhere());
  expectOneLine(run("model " + nowhere("a.onnx") + " --backend cpu"), nowhere("a.onnx"));
  expectOneLine(run("model zoo:transformer --backend cpu --resize nope=1x2"), "nope");
  expectOneLine(run("check --backend cpu --op Relu --json " + nowhere("a.jsonl")), nowhere("a.jsonl"));
  expectOneLine(run("frobnicate"), "--help");
}

TEST(Program, PluginsAreCheckedLikeEverythingElse) {
  const std::string folder = partOfBuild(OPKIT_SAMPLES);
  const std::string plugin = " --plugin " + folder + "/libscaled_tanh.so";
  const Ran c = run("check --backend " OPKIT_CHECKED_BACKENDS " --op com.example::ScaledTanh" + plugin);
  EXPECT_EQ(c.code, 0) << c.text;
  EXPECT_NE(c.text.find("example_c"), std::string::npos) << c.text;  // its kernels ran, not the oracle alone
  const Ran cpp =
      run("check --backend cpu --op com.example::CenteredRows --plugin " + folder + "/libdevice_and_pass.so");
  EXPECT_EQ(cpp.code, 0) << cpp.text;
  EXPECT_NE(cpp.text.find("example_cpp"), std::string::npos) << cpp.text;
  const Ran twin =
      run("check --backend twin --case 'Relu/f32[6,7]/normal/seed=7' --plugin " + folder + "/libdevice_and_pass.so");
  EXPECT_EQ(twin.code, 0) << twin.text;
  EXPECT_NE(run("list --op com.example::ScaledTanh" + plugin).text.find("scale * tanh"), std::string::npos);
  expectOneLine(run("check --plugin " + nowhere("a.so")), "Not a directory");
  expectOneLine(run("check --backend cpu --op com.example::ScaledTanh"), "com.example::ScaledTanh");
}

TEST(Program, NothingExecutedIsThree) {
  EXPECT_EQ(run("check --backend cpu --filter no-case-has-this-name").code, 3);
  EXPECT_EQ(run("check --backend cpu --cases " + fileWith("none.json", R"({"cases": []})")).code, 3);
  const std::string empty = testing::TempDir() + "no_models";
  std::filesystem::create_directories(empty);
  EXPECT_EQ(run("conformance " + empty).code, 3);
}

/// The program in the build folder of a tree with other sources.
TEST(Program, AnOldBuildIsSaid) {
  const std::filesystem::path tree = testing::TempDir() + "another_tree";
  std::filesystem::remove_all(tree);
  std::filesystem::create_directories(tree / "ops/relu");
  std::filesystem::create_directories(tree / "build/bin");
  for (const char* file : {"CMakeLists.txt", "ops/CMakeLists.txt", "ops/relu/another.cpp"}) std::ofstream(tree / file);
  const std::string program = tree / "build/bin/op-harness";
  std::filesystem::copy_file(opHarness(), program);
  for (const char* arguments :
       {"check --case 'Relu/f32[17]/normal/seed=5'", "mutate --op Relu --limit 1", "conformance --filter test_relu"})
    expectPart(runShell(program + " " + arguments + " --backend cpu"),
               "op-harness: this program was built of other sources");
  std::filesystem::remove_all(tree);
}

/// Stored shapes are one result per operator and backend, also in a sample.
TEST(Program, CheckComparesStoredShapes) {
  const auto fileOf = [](const std::string& shape) {
    return fileWith("stored_shapes.json",
                    R"({"cases": [], "shapes": [{"op": "Relu", "inputs": [["f32[2]"]], "shapes": [[")" + shape +
                        R"("]], "source": "a page"}]})");
  };
  for (const std::string form : {"", " --sample"}) {
    const std::string check = "check --backend " OPKIT_CHECKED_BACKENDS + form + " --cases ";
    const Ran right = run(check + fileOf("f32[2]"));
    EXPECT_EQ(right.code, 0) << right.text;
    const Ran wrong = run(check + fileOf("f16[2]"));
    EXPECT_EQ(wrong.code, 1) << wrong.text;
    expectPart(wrong, "fail shapes:Relu on cpu");
    expectPart(wrong, "output 0 is f32[2] by the shape rule, f16[2] by a page");
    expectPart(wrong, "op-harness check --backend cpu --op Relu\n");
  }
}

TEST(Program, CheckPassesAndFails) {
  const std::string good = fileWith("good.json", R"({"cases": [{"op": "Relu", "inputs": [["f32[9]"], ["f32[33]"]]}]})");
  EXPECT_EQ(run("check --backend cpu --cases " + good).code, 0);
  // An error case that does not come true is the simplest failure.
  const std::string bad = fileWith(
      "bad_error.json", R"({"cases": [], "errors": [{"op": "Relu", "inputs": ["f32[9]"], "error": "impossible"}]})");
  const Ran failed = run("check --backend cpu --cases " + bad);
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.text.find("impossible"), std::string::npos);
  EXPECT_NE(failed.text.find("repeat"), std::string::npos);
}

TEST(Program, TheSlowestCasesComeFirst) {
  const std::string cases =
      fileWith("sizes.json", R"({"cases": [{"op": "Relu", "inputs": [["f32[9]"], ["f32[3000000]"], ["f32[33]"]]}]})");
  const std::string text = run("check --backend cpu --slowest 2 --cases " + cases).text;
  const size_t from = text.find("slowest:\n"), large = text.find("Relu/f32[3000000]/normal/seed=7 on cpu\n", from);
  ASSERT_NE(large, std::string::npos) << text;
  EXPECT_EQ(std::ranges::count(text.substr(from, large - from), '\n'), 1) << "first";
  EXPECT_EQ(text.find(" on cpu", text.find(" on cpu", large + 40) + 1), std::string::npos) << "two of three:" << text;
  EXPECT_EQ(run("check --backend cpu --slowest 0 --cases " + cases).code, 2);
}

TEST(Program, TheBudgetTakesAPartThatFollowsFromTheDay) {
  const std::string check = "check --backend cpu --op Relu,ReduceSum --budget 1 --verbose";
  const auto idsOf = [](const std::string& text) {
    std::multiset<std::string> ids;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("pass ")) ids.insert(line.substr(0, line.find(" on cpu")));
    return ids;
  };
  const Ran first = run(check + " --day 7 --jobs 1"), again = run(check + " --day 7"), other = run(check + " --day 8");
  EXPECT_EQ(first.code, 0) << first.text;
  EXPECT_NE(first.text.find("\nday 7: "), std::string::npos) << first.text;
  EXPECT_NE(first.text.find(" s on 1 core"), std::string::npos) << "took N s, estimated M s: " << first.text;
  EXPECT_GT(idsOf(first.text).size(), 5u);
  EXPECT_EQ(idsOf(first.text), idsOf(again.text));
  EXPECT_NE(idsOf(first.text), idsOf(other.text));
  const Ran all = run("check --backend cpu --op Relu,ReduceSum --written --verbose");
  EXPECT_GT(idsOf(all.text).size(), 2 * idsOf(first.text).size()) << "no budget by default for some operators";
}

TEST(Program, TheClockCutsARunBeyondThreeBudgets) {
  // Many groups: a few end before the clock, which counts ticks of the system, has seen any time.
  const Ran cut = run("check --backend cpu --op Softmax,Conv,MatMul,LSTM,Attention --budget 0.001 --jobs 1");
  EXPECT_EQ(cut.code, 3) << cut.text;
  EXPECT_NE(cut.text.find("cut by the clock: "), std::string::npos) << cut.text;
  EXPECT_EQ(run("check --op Relu --budget soon").code, 2);
  EXPECT_EQ(run("check --op Relu --budget 0").code, 2);
}

TEST(Program, ResultsFollowTheSchema) {
  const std::string cases = fileWith("two.json", R"({"cases": [{"op": "Relu", "inputs": [["f32[9]"], ["f32[33]"]]}]})");
  const std::string path = testing::TempDir() + "results.jsonl";
  std::remove(path.c_str());
  ASSERT_EQ(run("check --backend cpu --cases " + cases + " --json " + path).code, 0);
  std::map<std::string, int> records;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    ++records[json.value("record", "")];
    if (json.value("record", "") == "case") {
      EXPECT_EQ(json["status"], "pass");
      EXPECT_EQ(json["kind"], "check");
      EXPECT_TRUE(json["accuracy"].contains("margin"));
    }
    EXPECT_EQ(json.value("run", "").size(), 16u) << line;
    if (json.value("record", "") == "run") {
      EXPECT_EQ(json["planned"], (nlohmann::json{{"cpu", 2}}));
    }
    if (json.value("record", "") == "summary") {
      EXPECT_EQ(json["pass"], 2);
      EXPECT_EQ(json["lines"], 2);
      EXPECT_EQ(json["outcome"], "complete");
    }
  }
  EXPECT_EQ(records,
            (std::map<std::string, int>{{"run", 1}, {"device", 1}, {"common", 1}, {"case", 2}, {"summary", 1}}));
}

/// The cases of a results file as whole lines, without timings and the run's id.
std::vector<std::string> caseLines(const std::string& path) {
  reports::Results results;
  const Status read = reports::readResults(path, results);
  EXPECT_TRUE(read.isOk()) << read.message();
  std::vector<std::string> lines;
  for (reports::CaseRecord& record : results.cases) {
    record.durationNs = 0;
    record.run.clear();
    lines.push_back(toLine(record));
  }
  return lines;
}

std::vector<std::string> checkLines(const std::string& arguments) {
  const std::string path = testing::TempDir() + "lines.jsonl";
  std::remove(path.c_str());
  const Ran ran = run("check --backend cpu --op Relu,LeakyRelu,Trilu " + arguments + " --json " + path);
  EXPECT_EQ(ran.code, 0) << ran.text;
  return caseLines(path);
}

TEST(Program, TheSameSeedGivesTheSameBytes) {
  const auto first = checkLines("--seed 11 --fuzz 3 --jobs 2"), second = checkLines("--seed 11 --fuzz 3 --jobs 3");
  EXPECT_GT(first.size(), 50u);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, checkLines("--seed 13 --fuzz 3"));
}

TEST(Program, ShardsAreAPartition) {
  auto all = checkLines(""), parts = checkLines("--shard 1/3");
  for (const char* shard : {"2/3", "3/3"})
    for (const std::string& line : checkLines(fmt::format("--shard {}", shard))) parts.push_back(line);
  std::sort(all.begin(), all.end());
  std::sort(parts.begin(), parts.end());
  EXPECT_EQ(all, parts);
  expectOneLine(run("check --backend cpu --op Relu --shard 4/3"), "--shard");
}

TEST(Program, AWorkerWithoutMemoryFailsWithItsRepeat) {
  const Ran ran = run("check --backend cpu --case 'Relu/f32[9]/normal/seed=7' --memory 8");
  EXPECT_EQ(ran.code, 1) << ran.text;
  EXPECT_NE(ran.text.find("fail Relu/f32[9]"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("the system refused one of "), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("repeat   op-harness check"), std::string::npos) << ran.text;
}

TEST(Program, AKernelBelowTheRoofFailsUnlessItsEntrySaysWhy) {
  // One element cannot take as little time as its 8 bytes would in a long copy.
  const auto file = [](const std::string& name, const std::string& reason) {
    return fileWith(name, R"({"cases": [{"op": "Relu", "size": "typical")" + reason + R"(, "inputs": [["f32[1]"]]}]})");
  };
  const std::string plain = file("roof.json", ""), reasoned = file("slow.json", R"(, "slow": "one element")");
  const std::string path = testing::TempDir() + "roof.jsonl";
  std::remove(path.c_str());
  const Ran low = run("bench --roof --threads 1 --floor 1 --cases " + plain + " --json " + path);
  EXPECT_EQ(low.code, 1) << low.text;
  expectPart(low, "1 below 100 % of the roof");
  expectPart(low, "opkit/vector");
  const Ran declared = run("bench --roof --threads 1 --floor 1 --cases " + reasoned);
  EXPECT_EQ(declared.code, 0) << declared.text;
  expectPart(declared, "one element");
  const Ran stale = run("bench --roof --threads 1 --floor 0.000001 --cases " + reasoned);
  EXPECT_EQ(stale.code, 1) << stale.text;
  expectPart(stale, "delete \"slow\" (one element)");
  EXPECT_EQ(run("bench --roof --threads 1 --size large --cases " + plain).code, 3) << "it has no large entry";
  EXPECT_EQ(run("check --backend cpu --cases " + plain).code, 3) << "an ordinary check leaves it out";
  std::ifstream lines(path);
  const std::string json{std::istreambuf_iterator<char>(lines), {}};
  EXPECT_NE(json.find(R"("roof":"bytes")"), std::string::npos) << json;
  expectOneLine(run("bench --floor 0.05"), "--floor");
}

TEST(Program, JUnitIsWritten) {
  const std::string path = testing::TempDir() + "junit.xml";
  ASSERT_EQ(run("check --backend cpu --case 'Relu/f32[9]/normal/seed=7' --junit " + path).code, 0);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("<testcase classname=\"cpu.Relu\" name=\"Relu/f32[9]/normal/seed=7\""), std::string::npos)
      << text;
}

TEST(Program, MasksAreChecked) {
  const Ran ran = run("check --backend vulkan --op Relu --mask no-such-thing");
  EXPECT_EQ(ran.code, 2) << ran.text;
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << ran.text;
}

#ifdef __x86_64__
TEST(Program, InstructionSetsAreChosen) {
  const Ran ran = run("check --written --backend cpu --op Conv,MaxPool,Softmax,Exp --shard 1/4 --simd SSE4");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("(SSE4)"), std::string::npos) << ran.text;
  expectOneLine(run("check --backend cpu --op Relu --simd SSE99"), "there are");
}
#endif

TEST(Program, AnIdRepeatsExactlyThatCase) {
  const Ran ran = run("check --backend cpu --verbose --case 'Relu/f32[17]/normal/seed=5'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("pass Relu/f32[17]/normal/seed=5 on cpu"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("\n  checks   placement independence counters"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("1 pass"), std::string::npos) << ran.text;
}

TEST(Program, ModelAgreesWithTheReference) {
  const Ran ran = run("model zoo:transformer --backend cpu --reference reference");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("pass zoo:transformer on cpu"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("pass zoo:transformer/outputs on cpu"), std::string::npos) << ran.text;
}

TEST(Program, RunningNothingIsNeverOk) {
  const std::string none = " --filter no-case-is-called-so";
  for (const std::string& command :
       {"check --backend cpu" + none, "bench --backend cpu" + none, "mutate --backend cpu" + none, "list" + none,
        std::string("conformance --filter no-folder-is-called-so"),
        std::string("backend cpu --filter no-test-is-called-so")}) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.code, 3) << command << ": " << ran.text;
    EXPECT_NE(ran.text.find("op-harness: nothing was executed: "), std::string::npos) << command << ": " << ran.text;
    EXPECT_EQ(ran.text.find("ok:"), std::string::npos) << command << ": " << ran.text;
    EXPECT_EQ(ran.text.find("0 of 0"), std::string::npos) << command << ": " << ran.text;
  }
}

TEST(Program, AModelThatHangsIsAResult) {
  const std::string lines = testing::TempDir() + "hang.jsonl";
  std::remove(lines.c_str());
  const Ran ran = run("model zoo:resnet50 --backend cpu --reference reference --timeout 0.2 --json " + lines);
  EXPECT_EQ(ran.code, 1) << ran.text;
  EXPECT_NE(ran.text.find("hang zoo:resnet50/outputs on cpu"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("hang zoo:resnet50 on cpu"), std::string::npos) << ran.text;
  EXPECT_NE(textOf(lines).find("\"hang\":2"), std::string::npos) << textOf(lines);
}

TEST(Program, AModelWhoseProcessDiesIsAResult) {
  // The worker may allocate no further memory: it ends, the program does not.
  const Ran ran = run("model zoo:resnet50 --backend cpu --memory 1");
  EXPECT_EQ(ran.code, 1) << ran.text;
  EXPECT_NE(ran.text.find("crash zoo:resnet50/outputs on cpu"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("crash zoo:resnet50 on cpu"), std::string::npos) << ran.text;
}

TEST(Program, BenchTimesEveryPart) {
  const Ran ran = run("bench --backend cpu --samples 3 --case 'Relu/f32[64]/normal/seed=7'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("GFLOP/s"), std::string::npos) << ran.text;
}

TEST(Program, BenchTimesAKernelThatAnotherPrecedes) {
  const std::string pool =
      R"(bench --backend cpu --samples 3 --case 'MaxPool{"kernel_shape":[2]}/f32[1,3,9]/normal/seed=7' --kernel )";
  const Ran ran = run(pool + "opkit/scalar");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find(" opkit/scalar "), std::string::npos) << ran.text;
  EXPECT_EQ(ran.text.find("opkit/rows"), std::string::npos) << ran.text;
  expectOneLine(run(pool + "opkit/row"),
                "MaxPool has no such kernel on cpu; it has opkit/rows, opkit/byte rows, opkit/scalar");
  expectOneLine(run("bench --backend cpu --op LpNormalization --kernel parts"),
                "LpNormalization has no kernels: it is made of other operators");
  expectOneLine(run("bench --backend cpu --kernel opkit/scalar"), "name operators with --op");
  expectOneLine(run("bench --backend cpu --op MaxPool --roof --kernel opkit/scalar"), "--kernel excludes --roof");
  // It takes f64 alone.
  const Ran refused = run("bench --backend cpu --samples 3 --case 'Cos/f32[64]/normal/seed=7' --kernel opkit/typed");
  EXPECT_EQ(refused.code, 1) << refused.text;
  EXPECT_NE(refused.text.find("declared to run the kernel opkit/typed"), std::string::npos) << refused.text;
}

TEST(ProgramCheck, OperatorsInTurns) {
  const std::string file = fileWith("in_turns.jsonl", "");
  EXPECT_EQ(run("check --written --brief --filter 'f32[65]/normal' --in-turns --backend cpu --json " + file).code, 0);
  std::set<std::string> seen;
  std::istringstream lines(textOf(file));
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("\"op\":\"");
    if (at == std::string::npos || line.find("\"id\":\"shapes:") != std::string::npos) continue;
    if (!seen.insert(line.substr(at + 6, line.find('"', at + 6) - at - 6)).second) break;
  }
  EXPECT_GE(seen.size(), 6u) << "the second case of an operator came before the first of the others";
}

}  // namespace
}  // namespace opkit::harness
