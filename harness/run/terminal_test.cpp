#include "harness/run/terminal.h"

#include <gtest/gtest.h>

namespace opkit::harness {
namespace {

TEST(FailureBlock, SaysEverythingThatOneNeeds) {
  CaseResult result;
  result.id = "Softmax/f32[2,3]/normal/seed=7";
  result.backend = "vulkan", result.provider = "opkit", result.kernel = "rows";
  result.check("canary", Status::ok());
  result.check("accuracy", Status::internal("2 of 6 elements are outside their bound"));
  result.check("repeat", Status::internal("output 0 differs"));
  result.worstShape = {2, 3};
  Comparison worst;
  worst.elements = 6, worst.failed = 2, worst.unwritten = 1, worst.worst = 4;
  worst.expected = 0.25, worst.got = 0.5, worst.bound = 1e-6, worst.maxUlp = 777, worst.nmse = 0.125;
  result.accuracy = worst;
  result.diagnosisKind = "scaled";
  result.diagnosis = "multiplied by 2";
  result.map = "..#\n.#.";
  const std::string block = failureBlock(result, "op-harness check --case 'x'");
  for (const char* part :
       {"fail Softmax/f32[2,3]/normal/seed=7 on vulkan (opkit/rows)", "reason   accuracy: 2 of 6",
        "elements 2 of 6 wrong, 1 never",
        "worst    [1,1] expected 0.25 got 0.5 |d| 0.25 budget 1e-06; worst ULP 777, NMSE 0.125",
        "because  multiplied by 2 [scaled]", "map      ..#\n           .#.", "also     repeat: output 0 differs",
        " canary !accuracy !repeat", "repeat   op-harness check --case 'x'"})
    EXPECT_NE(block.find(part), std::string::npos) << "expected '" << part << "' in:\n" << block;
}

TEST(Announcement, ComesAfterTwoSecondsAndThenSeldom) {
  Announcement drawing("drawing cases", 100);
  EXPECT_FALSE(drawing.lineAt(101, 5, 900));
  EXPECT_EQ(drawing.lineAt(102, 7, 900), "drawing cases: 7 of 900");
  EXPECT_FALSE(drawing.lineAt(131, 8, 900));
  EXPECT_EQ(drawing.lineAt(133, 9, 900), "drawing cases: 9 of 900");
  EXPECT_FALSE(drawing.lineAt(200, 900, 900)) << "what follows says that it is done";
}

TEST(FailureBlock, AFallbackIsSaid) {
  CaseResult result;
  result.status = CaseStatus::Fallback;
  result.reason = "the kernel takes f32, got f64";
  EXPECT_NE(
      failureBlock(result, "").find("reason   ran on another backend, and no \"fallback\" of the case says so: the "),
      std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
