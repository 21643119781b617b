#include "harness/run/reports.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

const std::vector<Json> kLines = {
    {{"op", "Relu"}, {"backend", "cpu"}, {"id", "Relu/f32[3]"}, {"status", "pass"}, {"durationNs", 1e6}},
    {{"op", "Less"}, {"backend", "cpu"}, {"id", "Less{\"a\":1}"}, {"status", "fail"}, {"reason", "a < b & \"c\""}},
    {{"op", "Relu"}, {"backend", "vulkan"}, {"id", "Relu/f64[3]"}, {"status", "unsupported"}, {"reason", "no f64"}},
};

TEST(Reports, JUnitCountsAndEscapes) {
  const std::string xml = junitXml(kLines, {"", "block\n", ""});
  EXPECT_NE(xml.find(R"(<testsuite name="op-harness.cpu" tests="2" failures="1" skipped="0">)"), std::string::npos)
      << xml;
  EXPECT_NE(xml.find(R"(<testsuite name="op-harness.vulkan" tests="1" failures="0" skipped="1">)"), std::string::npos);
  EXPECT_NE(xml.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_NE(xml.find("block"), std::string::npos);
  EXPECT_NE(xml.find(R"(time="0.001000")"), std::string::npos);
}

TEST(Reports, JUnitOfACutRunHasAnError) {
  EXPECT_EQ(junitXml(kLines, {}).find("<error"), std::string::npos);
  const std::string xml = junitXml(kLines, {}, "interrupted: 3 of 9 groups");
  EXPECT_NE(xml.find(R"(errors="1")"), std::string::npos) << xml;
  EXPECT_NE(xml.find(R"(<error type="incomplete" message="interrupted: 3 of 9 groups"/>)"), std::string::npos) << xml;
}

TEST(Reports, AnnotationsAreOneLine) {
  Json line = kLines[1];
  line["reason"] = "100 %\nsecond";
  const std::string text = githubAnnotation(line, "binary");
  EXPECT_EQ(text, "::error file=ops/binary/binary.cases.json,title=Less on cpu::Less{\"a\":1}: 100 %25%0Asecond\n");
}

}  // namespace
}  // namespace opkit::harness
