// Kernels that a plugin adds to OpKit's operators, as a user checks, lists, selects and times them.
#include <gtest/gtest.h>

#include "engine/base/where.h"
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

}  // namespace
}  // namespace opkit::harness
