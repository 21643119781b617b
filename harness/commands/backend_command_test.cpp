// `op-harness backend` on a plugin that ends the process, hangs, throws, takes memory or copies wrong bytes, at each of
// its entry points. And every command on a plugin that does so while it is loaded.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/where.h"
#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

std::string plugin() { return " --plugin " + partOfBuild(OPKIT_CRASHING); }

/// Runs op-harness with a fault of the plugin: "upload segv".
Ran runWith(const std::string& fault, const std::string& arguments) {
  return runShell("OPKIT_CRASH='" + fault + "' timeout 60 " + opHarness() + " " + arguments + plugin());
}

struct Verdict {
  std::string outcome, reason;
};
using Verdicts = std::map<std::string, Verdict>;

Verdicts verdictsIn(const std::string& path) {
  Verdicts verdicts;
  const Json document = Json::parse(textOf(path), nullptr, false);
  for (const Json& one : document.is_array() ? document : Json::array())
    verdicts[one.value("test", "")] = {one.value("outcome", ""), one.value("reason", "")};
  return verdicts;
}

struct SuiteRun {
  Ran ran;
  Verdicts verdicts;
};

SuiteRun runSuite(const std::string& fault, const std::string& options = "") {
  const std::string path = fileWith("verdicts.json", "");
  SuiteRun run{runWith(fault, "backend crashing --json " + path + options), {}};
  run.verdicts = verdictsIn(path);
  return run;
}

/// The fault happens once. Returns the one test that fails, whose reason holds `cause`.
std::string failsAlone(const std::string& fault, const std::string& cause, const std::string& options = "") {
  static const Verdicts healthy = runSuite("nowhere").verdicts;
  const std::string once = testing::TempDir() + "crashed.once";
  std::filesystem::remove(once);
  const SuiteRun run = runSuite(fault + " " + once, options);
  EXPECT_EQ(run.ran.code, 1) << fault << "\n" << run.ran.text;
  EXPECT_EQ(run.verdicts.size(), healthy.size()) << fault;
  std::string failed;
  for (const auto& [test, verdict] : healthy) {
    EXPECT_NE(verdict.outcome, "fail") << test << ": " << verdict.reason;
    if (run.verdicts.contains(test) && run.verdicts.at(test).outcome == verdict.outcome) continue;
    failed += failed.empty() ? test : " " + test;
  }
  EXPECT_EQ(failed.find(' '), std::string::npos) << fault << ": " << failed;
  if (!run.verdicts.contains(failed)) return failed;
  EXPECT_EQ(run.verdicts.at(failed).outcome, "fail") << fault;
  EXPECT_NE(run.verdicts.at(failed).reason.find(cause), std::string::npos) << run.verdicts.at(failed).reason;
  expectPart(run.ran, cause);
  return failed;
}

TEST(BackendCommand, ACrashAtAnyEntryPointFailsOneTest) {
  const std::map<std::string, std::string> failing = {
      {"close", "device.runtimes"},    {"allocate", "buffers.sizes"},     {"release", "buffers.sizes"},
      {"upload", "buffers.alignment"}, {"download", "buffers.alignment"}, {"supports", "device.runtimes"},
      {"create", "device.runtimes"},   {"resize", "device.runtimes"},     {"execute", "device.runtimes"},
      {"destroy", "device.runtimes"}};
  for (const auto& [entry, test] : failing)
    EXPECT_EQ(failsAlone(entry + " segv", "the worker process ended with signal 11 (Segmentation fault)"), test)
        << entry;
}

TEST(BackendCommand, TheCauseOfAFailureIsNamed) {
  const std::string in = "buffers.alignment";
  EXPECT_EQ(failsAlone("upload abort", "the worker process ended with signal 6 (Aborted)"), in);
  EXPECT_EQ(failsAlone("upload exit", "the worker process ended with exit code 0"), in);
  EXPECT_EQ(failsAlone("upload throw", "upload threw planted"), in);
  EXPECT_EQ(failsAlone("upload memory", "out of memory", " --memory 512"), in);
  EXPECT_EQ(failsAlone("upload hang", "no answer within 1 s: all its threads sleep", " --timeout 1"), in);
  EXPECT_EQ(failsAlone("upload wrong", "came back with element"), in);
  EXPECT_NE(failsAlone("upload thread", "signal 11 (Segmentation fault)"), "") << "a thread ends a later test";
}

TEST(BackendCommand, ABackendThatAlwaysCrashesFailsEachTestThatCallsIt) {
  const SuiteRun run = runSuite("upload segv");
  EXPECT_EQ(run.ran.code, 1);
  size_t failed = 0, passed = 0;
  for (const auto& [test, verdict] : run.verdicts) {
    failed += verdict.outcome == "fail";
    passed += verdict.outcome == "pass";
  }
  EXPECT_GT(failed, 25u) << run.ran.text;
  EXPECT_EQ(run.verdicts.at("buffers.sizes").outcome, "pass");
  EXPECT_EQ(run.verdicts.at("device.described").outcome, "pass") << "after 30 crashes";
  expectPart(run.ran, "crashing: " + std::to_string(passed) + " pass, " + std::to_string(failed) + " fail");
}

TEST(BackendCommand, ACrashMayBeAKnownFailure) {
  const std::string known = fileWith("known.json", R"({"device.runtimes": "close is not written"})");
  const Ran ran = runWith("close segv", "backend crashing --filter device --known-failures " + known);
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "(Segmentation fault) (known: close is not written)");
}

TEST(BackendCommand, ADeviceThatCannotBeOpenedIsOneLine) {
  expectOneLine(
      runWith("open segv", "backend crashing"),
      "op-harness: backend crashing: the worker process ended with signal 11 (Segmentation fault), in making its "
      "Runtime\n");
  expectOneLine(runWith("open exit", "backend crashing"), "ended with exit code 0, in making its Runtime\n");
  expectOneLine(runWith("open hang", "backend crashing --timeout 1"), "no answer within 1 s, in making its Runtime");
  expectOneLine(runWith("open throw", "backend crashing"), "plugin 'crashing': open threw planted");
}

TEST(BackendCommand, AnInterruptKeepsWhatIsDone) {
  const std::string path = fileWith("cut.json", "");
  setenv("OPKIT_CRASH", "download hang", 1);
  const Ran ran = runUntil("backend crashing --json " + path + plugin(), testing::TempDir() + "interrupted.log",
                           "buffers.sizes", SIGTERM);
  unsetenv("OPKIT_CRASH");
  EXPECT_EQ(ran.code, 128 + SIGTERM) << ran.text;
  expectPart(ran, "interrupted: 1 of ");
  EXPECT_EQ(ran.text.find("left behind"), std::string::npos) << ran.text;
  const Verdicts verdicts = verdictsIn(path);
  EXPECT_EQ(verdicts.at("buffers.sizes").outcome, "pass");
  EXPECT_EQ(verdicts.at("copies.f32").outcome, "not run");
}

TEST(Plugins, ThatEndTheProcessWhileTheyAreLoadedAreNamed) {
  for (const auto& [fault, what] : {std::pair{"constructor segv", "to load it ended the process with signal 11"},
                                    {"constructor exit", "to load it ended the process with exit code 0"},
                                    {"get segv", "to load it ended the process with signal 11"},
                                    {"load abort", "to load it ended the process with signal 6 (Aborted)"},
                                    {"load exit", "to load it ended the process with exit code 0"},
                                    {"unload segv", "to unload it ended the process with signal 11"},
                                    {"destructor segv", "to unload it ended the process with signal 11"},
                                    {"get throw", "libcrashing.so': unexpected: planted"},
                                    {"load throw", "load threw planted"}}) {
    const Ran ran = runWith(fault, "list");
    expectOneLine(ran, what);
    expectPart(ran, "op-harness: plugin '");
  }
}

TEST(ProgramBench, ACaseThatEndsTheProcessIsOneFailure) {
  const std::string path = fileWith("benched.jsonl", "");
  const std::string cases = fileWith("benched.cases.json", R"({"cases": [
    {"op": "com.test::Crashing", "inputs": [["f32[5]"]], "bench": true},
    {"op": "Relu", "inputs": [["f32[7]"]], "bench": true}]})");
  const Ran ran = runWith("execute segv", "bench --backend cpu --samples 3 --cases " + cases + " --json " + path);
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "the worker process ended with signal 11 (Segmentation fault)");
  expectPart(ran, "Relu/f32[7]");
  const std::string lines = textOf(path);
  EXPECT_NE(lines.find(R"("status":"crash")"), std::string::npos) << lines;
  EXPECT_NE(lines.find(R"("status":"pass")"), std::string::npos) << lines;
  EXPECT_NE(lines.find(R"("outcome":"complete")"), std::string::npos) << lines;
}

TEST(Plugins, ThatEndTheProgramItselfAreOneLine) {
  const Ran ran = runWith("infer segv", "check --backend cpu --op com.test::Crashing");
  EXPECT_TRUE(ran.text.starts_with("op-harness: ended with signal 11 (Segmentation fault), in drawing cases\n"))
      << ran.text;
}

/// A driver is a library that the Vulkan loader opens.
TEST(Drivers, ThatEndTheProcessAreOneRow) {
  const std::string driver =
      fileWith("crashing_icd.json", R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" +
                                        partOfBuild(OPKIT_CRASHING) + R"(", "api_version": "1.2.0"}})");
  const std::string with =
      "OPKIT_CRASH='constructor segv' VK_DRIVER_FILES=" + driver + " VK_ICD_FILENAMES=" + driver + " ";
  const Ran listed = runShell(with + opHarness() + " devices");
  EXPECT_EQ(listed.code, 0) << listed.text;
  expectPart(listed, "the worker process ended with signal 11 (Segmentation fault)");
  expectPart(listed, "reference");
  expectOneLine(runShell(with + opHarness() + " backend vulkan"),
                "the worker process ended with signal 11 (Segmentation fault), in making its Runtime");
  expectOneLine(runShell(with + opHarness() + " bench --backend vulkan --op Relu"),
                "the worker process ended with signal 11 (Segmentation fault), in making the Runtime of vulkan");
  expectOneLine(runShell(with + opHarness() + " check --backend vulkan --op Relu"),
                "--backend vulkan: the worker process ended with signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace opkit::harness
