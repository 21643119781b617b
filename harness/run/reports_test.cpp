#include "harness/run/reports.h"

#include <gtest/gtest.h>

namespace opkit::harness {
namespace {

using reports::CaseRecord;
using reports::CaseStatus;

CaseRecord caseOf(const char* op, const char* backend, const char* id, CaseStatus status, const char* reason = "") {
  CaseRecord record;
  record.op = op;
  record.backend = backend;
  record.id = id;
  record.status = status;
  record.reason = reason;
  record.durationNs = 1e6;
  return record;
}

const std::vector<CaseRecord> kCases = {
    caseOf("Relu", "cpu", "Relu/f32[3]", CaseStatus::Pass),
    caseOf("Less", "cpu", "Less{\"a\":1}", CaseStatus::Fail, "a < b & \"c\""),
    caseOf("Relu", "vulkan", "Relu/f64[3]", CaseStatus::Unsupported, "no f64"),
};

TEST(Reports, JUnitCountsAndEscapes) {
  const std::string xml = junitXml(kCases, {"", "block\n", ""});
  EXPECT_NE(xml.find(R"(<testsuite name="op-harness.cpu" tests="2" failures="1" skipped="0">)"), std::string::npos)
      << xml;
  EXPECT_NE(xml.find(R"(<testsuite name="op-harness.vulkan" tests="1" failures="0" skipped="1">)"), std::string::npos);
  EXPECT_NE(xml.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_NE(xml.find("block"), std::string::npos);
  EXPECT_NE(xml.find(R"(time="0.001000")"), std::string::npos);
}

TEST(Reports, JUnitOfACutRunHasAnError) {
  EXPECT_EQ(junitXml(kCases, {}).find("<error"), std::string::npos);
  const std::string xml = junitXml(kCases, {}, "interrupted: 3 of 9 groups");
  EXPECT_NE(xml.find(R"(errors="1")"), std::string::npos) << xml;
  EXPECT_NE(xml.find(R"(<error type="incomplete" message="interrupted: 3 of 9 groups"/>)"), std::string::npos) << xml;
}

TEST(Reports, AnnotationsAreOneLine) {
  CaseRecord one = kCases[1];
  one.reason = "100 %\nsecond";
  const std::string text = githubAnnotation(one, "binary");
  EXPECT_EQ(text, "::error file=ops/binary/binary.cases.json,title=Less on cpu::Less{\"a\":1}: 100 %25%0Asecond\n");
}

}  // namespace
}  // namespace opkit::harness
