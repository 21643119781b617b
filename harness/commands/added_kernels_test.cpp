// Kernels that a plugin adds to OpKit's operators, as a user checks, lists, selects and times them.
#include <gtest/gtest.h>

#include "engine/base/where.h"
#include "engine/testing/nowhere.h"
#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

std::string sample() { return " --plugin " + partOfBuild(OPKIT_SAMPLES) + "/libsoftmax_kernels.so"; }

TEST(ProgramAddedKernels, AreCheckedWithTheCasesOfTheirOperator) {
  const Ran ran = run("check --backend " OPKIT_CHECKED_BACKENDS " --op Softmax" + sample());
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "example_kernels");
  EXPECT_EQ(ran.text.find("has no cases"), std::string::npos) << ran.text;
}

TEST(ProgramAddedKernels, AreListed) {
  const Ran ran = run("list --op Softmax" + sample());
  expectPart(ran, "example_kernels,");
  EXPECT_EQ(run("list --op Softmax").text.find("example_kernels"), std::string::npos);
}

TEST(ProgramAddedKernels, AreTimed) {
  const Ran ran = run("bench --backend cpu --samples 3 --case 'Softmax/f32[64,64]/normal/seed=7'" + sample());
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "example_kernels");
}

TEST(ProgramAddedKernels, AreSelectedByProvider) {
  const std::string command = opRun() + " zoo:transformer --placement" + sample();
  expectPart(runShell(command), "example_kernels");
  const Ran forbidden = runShell(command + " --forbid example_kernels");
  EXPECT_EQ(forbidden.code, 0) << forbidden.text;
  expectPart(forbidden, "forbid");
  EXPECT_EQ(runShell(command + " --force Softmax=example_kernels").code, 0);
  EXPECT_EQ(runShell(command + " --force Softmax=nobody").code, 2);
}

TEST(ProgramAddedKernels, AWrongOneIsRed) {
  const std::string check = "OPKIT_KERNEL_FAULT=wrong " + opHarness() + " check --plugin " + partOfBuild(OPKIT_FAULTY) +
                            "/libfaulty_kernels.so --backend " OPKIT_CHECKED_BACKENDS;
  const Ran chosen = runShell(check + " --case 'Relu/f32[5,7]/normal/seed=7'");
  EXPECT_EQ(chosen.code, 1) << chosen.text;
  expectPart(chosen, "!accuracy");
  expectPart(chosen, "libfaulty_kernels.so --case 'Relu/f32[5,7]/normal/seed=7'");  // the command that repeats it
  const Ran right = run("check --backend " OPKIT_CHECKED_BACKENDS " --case 'Relu/f32[5,7]/normal/seed=7' --plugin " +
                        partOfBuild(OPKIT_FAULTY) + "/libfaulty_kernels.so");
  EXPECT_EQ(right.code, 0) << right.text;
  expectPart(right, "mykernels");
}

#ifdef OPKIT_HAS_VULKAN
TEST(ProgramVectorWidth, AnAssumptionOnTheSubgroupIsNamed) {
  const std::string check = " check --backend vulkan --case 'Relu/f32[5,7]/normal/seed=7' --plugin " +
                            partOfBuild(OPKIT_FAULTY) + "/libfaulty_kernels.so";
  const auto faulty = [&](const std::string& fault, const std::string& more) {
    return runShell("OPKIT_KERNEL_FAULT=" + fault + " " + opHarness() + check + more);
  };
  EXPECT_EQ(faulty("subgroup", "").code, 0);
  const Ran narrow = faulty("subgroup", " --vector-width 128");
  EXPECT_EQ(narrow.code, 1) << narrow.text;
  expectPart(narrow, "passes without --vector-width 128: a race, or an assumption on the size of a subgroup");
  expectPart(narrow, "op-harness check --backend vulkan --vector-width 128");  // the command that repeats it
  const Ran wrong = faulty("wrong", " --vector-width 128");
  EXPECT_EQ(wrong.code, 1) << wrong.text;
  expectPart(wrong, "fails without --vector-width 128 too");
}

TEST(ProgramDriver, BadManifestsAreOneLine) {
  expectOneLine(run("devices --driver " + nowhere("driver.json")), "driver.json");
  expectOneLine(run("devices --driver " + fileWith("text.json", "lavapipe")), "not a manifest of a Vulkan driver");
  expectOneLine(run("devices --driver " + fileWith("list.json", R"({"ICD": [1]})")), "ICD.library_path");
  expectOneLine(run("devices --driver " + fileWith("gone.json", R"({"ICD": {"library_path": "./gone.so"}})")),
                "gone.so");
  expectOneLine(run("devices --vector-width 64"), "--vector-width");
}

/// The system's own driver, named by hand.
TEST(ProgramDriver, IsTheOneThatTheManifestNames) {
  const std::string file = fileWith("system.json", R"({"file_format_version": "1.0.0", "ICD":
      {"library_path": "libvulkan_lvp.so", "api_version": "1.3.0"}})");
  const Ran found = run("check --backend vulkan --case 'Relu/f32[5,7]/normal/seed=7' --driver " + file);
  EXPECT_EQ(found.code, 0) << found.text;
  const Ran none = run("check --backend vulkan --case 'Relu/f32[5,7]/normal/seed=7' --driver " +
                       fileWith("none.json", R"({"ICD": {"library_path": "libnodriver.so", "api_version": "1.3.0"}})"));
  EXPECT_EQ(none.code, 2) << none.text;
}
#endif

}  // namespace
}  // namespace opkit::harness
