// op-harness as a user runs it: exit codes, one-line errors, results that can be read back.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace opkit::harness {
namespace {

struct Ran {
  int code = -1;
  std::string text;  // stdout and stderr
};

Ran run(const std::string& arguments) {
  Ran ran;
  std::FILE* pipe = popen((std::string(OPKIT_OP_HARNESS) + " " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> chunk = {};
  while (const size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) ran.text.append(chunk.data(), got);
  const int state = pclose(pipe);
  ran.code = WIFEXITED(state) ? WEXITSTATUS(state) : 128;
  return ran;
}

std::string fileWith(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

void expectOneLine(const Ran& ran, const std::string& part) {
  EXPECT_EQ(ran.code, 2) << ran.text;
  EXPECT_NE(ran.text.find(part), std::string::npos) << ran.text;
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << ran.text;
}

TEST(Program, BadUsageIsOneLineAndTwo) {
  expectOneLine(run("check --backend cpu --op Nope"), "--op Nope");
  expectOneLine(run("check --backend nope"), "nope");
  expectOneLine(run("check --backend cpu --cases /no/such/file"), "/no/such/file");
  expectOneLine(run("check --backend cpu --case 'Relu/f32[2]'"), "Relu/f32[2]");
  expectOneLine(run("check --backend cpu --cases " + fileWith("bad.json", "{")), "not JSON");
  expectOneLine(run("conformance /no/such/place"), "/no/such/place");
  expectOneLine(run("model /no/such/model.onnx --backend cpu"), "/no/such/model.onnx");
  expectOneLine(run("model zoo:transformer --backend cpu --resize nope=1x2"), "nope");
  expectOneLine(run("check --backend cpu --op Relu --json /no/such/place/x.jsonl"), "/no/such/place");
  expectOneLine(run("frobnicate"), "--help");
}

TEST(Program, NothingExecutedIsThree) {
  EXPECT_EQ(run("check --backend cpu --filter no-case-has-this-name").code, 3);
  EXPECT_EQ(run("check --backend cpu --cases " + fileWith("none.json", R"({"cases": []})")).code, 3);
  const std::string empty = testing::TempDir() + "no_models";
  std::filesystem::create_directories(empty);
  EXPECT_EQ(run("conformance " + empty).code, 3);
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
    if (json.value("record", "") == "summary") {
      EXPECT_EQ(json["pass"], 2);
    }
  }
  EXPECT_EQ(records, (std::map<std::string, int>{{"run", 1}, {"device", 1}, {"case", 2}, {"summary", 1}}));
}

TEST(Program, AnIdRepeatsExactlyThatCase) {
  const Ran ran = run("check --backend cpu --verbose --case 'Relu/f32[17]/normal/seed=5'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("pass Relu/f32[17]/normal/seed=5 on cpu"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("1 pass"), std::string::npos) << ran.text;
}

TEST(Program, ModelAgreesWithTheReference) {
  const Ran ran = run("model zoo:transformer --backend cpu --reference reference");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("pass zoo:transformer on cpu"), std::string::npos) << ran.text;
}

TEST(Program, BenchTimesEveryPart) {
  const Ran ran = run("bench --backend cpu --samples 3 --case 'Relu/f32[64]/normal/seed=7'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("GFLOP/s"), std::string::npos) << ran.text;
}

}  // namespace
}  // namespace opkit::harness
