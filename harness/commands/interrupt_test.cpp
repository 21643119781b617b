// op-harness interrupted by signals, a full disk, or a closed stdout pipe. Finished results are kept and marked as
// partial.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/testing/program.h"
#include "reports/results/reader.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string fresh(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  fs::remove(path);
  return path;
}

/// Summary of the lines of one run. Every line must be whole.
struct Counted {
  size_t planned = 0, written = 0;
  Json summary;
};

Counted count(const std::string& path) {
  Counted counted;
  std::istringstream lines(textOf(path));
  for (std::string text; std::getline(lines, text);) {
    const Json line = Json::parse(text, nullptr, false);
    EXPECT_TRUE(line.is_object()) << text;
    if (!line.is_object()) continue;
    const std::string record = line.value("record", "");
    if (line.contains("planned"))
      for (const auto& [backend, number] : line["planned"].items()) counted.planned += number.get<size_t>();
    counted.written += record == "case" || record == "mutant";
    if (record == "summary") counted.summary = line;
  }
  return counted;
}

void expectKept(const std::string& command, const std::string& record, int signal) {
  const std::string path = fresh("interrupted.jsonl");
  const Ran ran = runUntil(command + " --json " + path, path, "\"record\":\"" + record + "\"", signal);
  EXPECT_EQ(ran.code, 128 + signal) << command << "\n" << ran.text;
  expectPart(ran, "interrupted: ");
  expectPart(ran, "their results are above and in " + path);
  expectPart(ran, "op-harness: interrupted\n");
  EXPECT_EQ(ran.text.find("left behind"), std::string::npos) << command;
  const Counted counted = count(path);
  EXPECT_GT(counted.written, 0u) << command;
  EXPECT_LT(counted.written, counted.planned) << command;
  EXPECT_EQ(counted.summary.value("outcome", ""), "interrupted") << command;
  EXPECT_EQ(counted.summary.value("lines", size_t{0}), counted.written) << command;
}

TEST(Interrupted, CheckKeepsWhatIsDone) {
  expectKept("check --written --backend cpu --jobs 2", "case", SIGINT);
  expectKept("check --written --backend cpu --jobs 2", "case", SIGTERM);
}

TEST(Interrupted, ConformanceKeepsWhatIsDone) { expectKept("conformance --backend cpu --workers 2", "case", SIGTERM); }

TEST(Interrupted, BenchKeepsWhatIsDone) { expectKept("bench --backend cpu --samples 3", "case", SIGINT); }

TEST(Interrupted, MutateKeepsWhatIsDone) {
  expectKept("mutate --backend cpu --jobs 2 --op Softmax,Relu", "mutant", SIGTERM);
}

TEST(Interrupted, BeforeAnythingIsDone) {
  const std::string path = fresh("begun.jsonl");
  const Ran ran =
      runUntil("model zoo:resnet50 --backend cpu --reference reference --json " + path, path, "run", SIGINT);
  EXPECT_EQ(ran.code, 130) << ran.text;
  expectPart(ran, "op-harness: interrupted\n");
  EXPECT_EQ(count(path).written, 0u);
}

TEST(Interrupted, JUnitSaysThatItIsAPart) {
  const std::string path = fresh("cut.jsonl"), junit = fresh("cut.xml");
  const Ran ran =
      runUntil("check --written --backend cpu --jobs 1 --junit " + junit + " --json " + path, path, "\"case\"", SIGINT);
  EXPECT_EQ(ran.code, 130) << ran.text;
  EXPECT_NE(textOf(junit).find("<error type=\"incomplete\" message=\"interrupted: "), std::string::npos);
}

TEST(Interrupted, AKilledRunLeavesAFileThatCanBeRead) {
  const std::string path = fresh("killed.jsonl");
  const Ran ran =
      runUntil("check --written --backend cpu --jobs 2 --json " + path, path, "\"record\":\"case\"", SIGKILL);
  EXPECT_EQ(ran.code, 137) << ran.text;
  EXPECT_EQ(ran.text.find("left behind"), std::string::npos) << ran.text;
  EXPECT_TRUE(count(path).summary.is_null());
  reports::Results results;
  const Status read = reports::readResults(path, results);
  ASSERT_TRUE(read.isOk()) << read.message();
  EXPECT_NE(results.missing().find("INCOMPLETE: "), std::string::npos);
  EXPECT_NE(results.missing().find("1 of 1 runs did not reach its end"), std::string::npos);
}

TEST(FullDisk, EndsACommandWithTwoAndTheCause) {
  const std::string relu = " --backend cpu --case 'Relu/f32[9]/normal/seed=7' --json /dev/full";
  for (const std::string& command :
       {"check" + relu, "bench --samples 3" + relu, std::string("list --json /dev/full"),
        std::string("devices --json /dev/full"), std::string("backend cpu --filter copies --json /dev/full"),
        std::string("mutate --backend cpu --op Relu --json /dev/full"),
        std::string("model zoo:transformer --backend cpu --json /dev/full"),
        std::string("conformance --filter test_relu --json /dev/full")}) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.code, 2) << command << "\n" << ran.text;
    expectPart(ran, "cannot write '/dev/full': No space left on device");
  }
}

TEST(FullDisk, KeepsWholeLinesAndCountsThem) {
  // A limit on files simulates the full disk; stdout is a pipe and has no limit.
  const std::string path = fresh("limited.jsonl");
  const Ran ran = runShell("bash -c 'ulimit -f 16; " + std::string(OPKIT_OP_HARNESS) +
                           " check --backend cpu --op Softmax,Relu --json " + path + "'");
  EXPECT_EQ(ran.code, 2) << ran.text;
  const Counted counted = count(path);
  EXPECT_GT(counted.written, 0u);
  EXPECT_LT(counted.written, counted.planned);
  expectPart(ran, fmt::format("; {} cases are recorded in it\n", counted.written));
}

TEST(Stdout, ThatCannotBeWrittenEndsAProgramWithTwo) {
  const std::string program = OPKIT_OP_HARNESS;
  for (const char* arguments : {"list", "list --ids", "--help", "--version", "--completion bash", "devices",
                                "check --backend cpu --case 'Relu/f32[9]/normal/seed=7'"}) {
    const Ran full = runShell("(" + program + " " + arguments + " >/dev/full)");
    EXPECT_EQ(full.code, 2) << arguments << full.text;
    EXPECT_EQ(full.text, "op-harness: cannot write to standard output: No space left on device\n") << arguments;
    const Ran closed = runShell("(" + program + " " + arguments + " >&-)");
    EXPECT_EQ(closed.code, 2) << arguments << closed.text;
    EXPECT_EQ(closed.text, "op-harness: cannot write to standard output: Bad file descriptor\n") << arguments;
  }
}

TEST(Stdout, AClosedOneIsNotTheResultsFile) {
  const std::string path = fresh("closed.jsonl");
  const Ran ran = runShell("(" + std::string(OPKIT_OP_HARNESS) +
                           " check --backend cpu --case 'Relu/f32[9]/normal/seed=7' --json " + path + " >&-)");
  EXPECT_EQ(ran.code, 2) << ran.text;
  count(path);  // every line is JSON
}

TEST(Stdout, AReaderThatLeftEndsAProgramWith141) {
  const Ran ran = runShell("bash -c '" + std::string(OPKIT_OP_HARNESS) +
                           " list --ids | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}'");
  EXPECT_EQ(ran.text, "141\n");
}

}  // namespace
}  // namespace opkit::harness
