// check --evidence and --verify.
#include <gtest/gtest.h>

#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

/// A file of evidence for a run, and what the run ended with.
std::string evidenceOf(const std::string& name, const std::string& arguments, int code = 0) {
  const std::string file = fileWith(name, "");
  const Ran ran = run("check " + arguments + " --evidence " + file);
  EXPECT_EQ(ran.code, code) << ran.text;
  return file;
}

/// The text of `file` with `before`, which it holds, replaced.
std::string altered(const std::string& file, const std::string& before, const std::string& after) {
  std::string text = textOf(file);
  const size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before << "\n" << text;
  if (at != std::string::npos) text.replace(at, before.size(), after);
  return fileWith("altered.md", text);
}

TEST(Evidence, IsShortAndRepeatsTheRun) {
  const std::string file = evidenceOf("relu.md", "--op Relu --written --backend cpu --jobs 2");
  const std::string text = textOf(file);
  for (const char* part : {"## OpKit evidence: Relu: all right", "| cpu | ", "- Kernels of Relu on cpu: opkit/",
                           "sub-checks ran; not run: ", "- Not checked: a GPU; the backend vulkan; times",
                           "- Repeat: `op-harness check --backend=cpu --op=Relu --written`", "digest "})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const size_t json = text.find("<details>");
  EXPECT_LE(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(json), '\n'), 20);
  const Ran again = run("check --verify " + file);
  EXPECT_EQ(again.code, 0) << again.text;
  expectPart(again, "repeats op-harness check --backend=cpu --op=Relu --written --verify=");
  expectPart(again, ": verified\n");
}

TEST(Evidence, DifferencesAreNamed) {
  const std::string file = evidenceOf("relu_altered.md", "--op Relu --written --backend cpu --filter 'f32[65]'");
  const auto expectDifference = [&](const char* before, const char* after, const std::string& said) {
    const Ran ran = run("check --verify " + altered(file, before, after));
    EXPECT_EQ(ran.code, 1) << ran.text;
    expectPart(ran, "differs: " + said);
    expectPart(ran, "NOT verified");
  };
  expectDifference("\"ids\":\"", "\"ids\":\"0", "the cases on cpu: the evidence has ");
  expectDifference("\"pass\":", "\"fail\":", "failures on cpu: the evidence has ");
  expectDifference("{\"Relu\":\"", "{\"Relu\":\"0", "the sources of Relu: ");
  expectDifference("\"outcome\":\"complete\"", "\"outcome\":\"interrupted\"", "the end: ");
  expectDifference("{\"cpu\":{\"cases\"", "{\"vulkan\":{\"cases\"", "nothing ran on vulkan here");
}

TEST(Evidence, AFailureStaysOne) {
  const std::string cases =
      fileWith("hopeless_evidence.cases.json", R"({"cases": [{"op": "Softmax", "inputs": [["f32[2,3,70]"]],
        "boundScale": 1e-9, "reason": "a bound that must fail"}]})");
  const std::string file = evidenceOf("hopeless.md", "--brief --backend cpu --cases " + cases, 1);
  EXPECT_NE(textOf(file).find("Softmax: 1 FAILED"), std::string::npos) << textOf(file);
  EXPECT_NE(textOf(file).find("- Worst error: "), std::string::npos) << textOf(file);
  EXPECT_NE(textOf(file).find("- **fail** `Softmax/f32[2,3,70]"), std::string::npos) << textOf(file);
  expectOneLine(run("check --verify " + file), "the evidence was made with --cases: give it here too");
  const Ran again = run("check --verify " + file + " --cases " + cases);
  EXPECT_EQ(again.code, 1) << again.text;
  expectPart(again, "verified: the same failures");
}

TEST(Evidence, OfNothingProvesNothing) {
  const std::string file = evidenceOf("nothing.md", "--op Relu --written --backend cpu --filter '[7777]'", 3);
  EXPECT_NE(textOf(file).find("NOTHING was executed"), std::string::npos) << textOf(file);
  const Ran ran = run("check --verify " + file);
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "differs: nothing was executed here");
}

TEST(Evidence, AStrangersFileNamesNoFiles) {
  const std::string file = evidenceOf("stranger.md", "--op Relu --written --backend cpu --filter 'f32[65]'");
  const std::string victim = fileWith("victim.jsonl", "kept");
  for (const char* option : {"--json=", "--plugin=", "--save=", "--oracle=", "--debug="})
    expectOneLine(
        run("check --verify " + altered(file, "{\"arguments\":[", "{\"arguments\":[\"" + (option + victim) + "\",")),
        std::string("asks for '") + option);
  EXPECT_EQ(textOf(victim), "kept");
}

TEST(Evidence, WrongFilesAndOptionsAreRefused) {
  expectOneLine(run("check --verify " + fileWith("none.md", "no evidence\n")), "holds no evidence");
  expectOneLine(run("check --verify /no/such/file"), "--verify: ");
  const std::string file = evidenceOf("refused.md", "--op Relu --written --backend cpu --filter 'f32[65]'");
  expectOneLine(run("check --verify " + altered(file, "\"opkitEvidence\":1", "\"opkitEvidence\":2")), "form 2");
  expectOneLine(run("check --verify " + altered(file, "\"outcome\":\"complete\"", "\"outcome\":[]")), "is damaged");
  expectOneLine(run("check --verify " + altered(file, "\"cases\":", "\"cases\":null,\"others\":")), "is damaged");
  expectOneLine(run("check --op Relu --verify " + file), "leave out --op");
  expectOneLine(run("check --op Relu --backend cpu --evidence /no/such/folder/x.md"), "--evidence: cannot write");
  expectOneLine(run("check --op Relu --backend cpu --verify " + file + " --evidence " + file), "excludes");
  const std::string expectations = std::string(OPKIT_SOURCE_DIR) + "/reports/expectations";
  expectOneLine(
      run("check --op Relu --backend cpu --expectations " + expectations + " --evidence " + fileWith("unused.md", "")),
      "--evidence: leave out --expectations");
}

}  // namespace
}  // namespace opkit::harness
