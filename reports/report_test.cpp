#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/where.h"
#include "engine/testing/nowhere.h"
#include "reports/report_data.h"

namespace opkit::reports {
namespace {

class ReportTest : public testing::Test {
 protected:
  /// A file of this test: tests run at the same time.
  static std::string own(const std::string& name) {
    return testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + name;
  }
  std::string file(const std::string& text) {
    const std::string path = own("results_" + std::to_string(++files_) + ".jsonl");
    std::ofstream(path) << text;
    return path;
  }
  /// Runs op-report; returns its exit code, leaves its output in `said`.
  int run(const std::string& arguments, std::string* said = nullptr) {
    const std::string log = own("op_report.log");
    const int status = std::system((partOfBuild(OPKIT_OP_REPORT) + " " + arguments + " >" + log + " 2>&1").c_str());
    std::ifstream stream(log);
    if (said) *said = {std::istreambuf_iterator<char>(stream), {}};
    return WEXITSTATUS(status);
  }
  static std::string contents(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  int files_ = 0;
  const std::string page_ = own("index.html");
};

constexpr const char* kGood =
    R"({"record":"run","schema":1,"command":"check","commit":"abc","dirty":true}
{"record":"device","backend":"vulkan","name":"llvmpipe","software":true}
{"record":"case","kind":"check","id":"Relu/f32[3]","op":"Relu","backend":"vulkan","dtype":"f32","status":"pass","accuracy":{"margin":0.25}}
{"record":"case","kind":"check","id":"Relu/f32[4]","op":"Relu","backend":"vulkan","dtype":"f32","status":"fail","failedCheck":"poison","reason":"<2 of 4 unwritten>","accuracy":{"margin":"nan"}}
{"record":"case","kind":"bench","id":"Relu/f32[4]","op":"Relu","backend":"cpu","status":"pass","flops":4e6,"times":{"executeWall":{"median":2000000}}}
{"record":"case","kind":"conformance","id":"node/test_x","backend":"cpu","status":"unsupported","reason":"ONNX operator 'X' has no rule"}
{"record":"case","kind":"model","id":"zoo:resnet50","backend":"vulkan","status":"pass","layers":[{"tensor":"conv1","op":"Conv","nmse":1e-12,"status":"pass"}]}
)";

TEST_F(ReportTest, PageShowsFailuresMarginsTimesReasonsAndLayers) {
  ASSERT_EQ(run("build " + file(kGood) + " --output " + page_), 0);
  const std::string html = contents(page_);
  for (const char* expected :
       {"1 failed", "&lt;2 of 4 unwritten&gt;", "poison", "nan", "2 ms", "ONNX operator &apos;X&apos; has no rule",
        "zoo:resnet50", "conv1", "software device", "with local changes", "4 cases executed of 5 recorded"})
    EXPECT_NE(html.find(expected), std::string::npos) << expected;
  EXPECT_EQ(html.find("<2 of 4"), std::string::npos) << "reasons must be escaped";
  EXPECT_EQ(html.find("http"), std::string::npos) << "the page must be self-contained";
}

TEST_F(ReportTest, OperatorsOfPluginsWithoutResultsAreNamed) {
  const std::string plugin = " --plugin " + (partOfBuild(OPKIT_SAMPLES) + "/libscaled_tanh.so");
  std::string said;
  EXPECT_EQ(run("build " + file(kGood) + " --output " + page_ + plugin, &said), 0);
  EXPECT_NE(said.find("operator com.example::ScaledTanh of plugin"), std::string::npos) << said;
  EXPECT_NE(said.find("has no case in these results"), std::string::npos) << said;
  const std::string checked = std::string(kGood) +
                              R"({"record":"case","kind":"check","id":"com.example::ScaledTanh/f32[3]",)" +
                              R"("op":"com.example::ScaledTanh","backend":"cpu","dtype":"f32","status":"pass"})";
  EXPECT_EQ(run("build " + file(checked) + " --output " + page_ + plugin, &said), 0);
  EXPECT_EQ(said.find("has no case"), std::string::npos) << said;
  EXPECT_EQ(run("build " + file(kGood) + " --output " + page_ + " --plugin " + nowhere("a.so"), &said), 2);
  EXPECT_NE(said.find(nowhere("a.so")), std::string::npos) << said;
}

TEST_F(ReportTest, AnEmptyRunIsNotPublished) {
  std::filesystem::remove(page_);
  std::string said;
  const std::string onlySkips =
      R"({"record":"case","kind":"check","id":"a","backend":"vulkan","status":"skip","reason":"no device"})";
  EXPECT_EQ(run("build " + file(onlySkips) + " --output " + page_, &said), 3);
  EXPECT_NE(said.find("none of them executed"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(page_));
}

TEST_F(ReportTest, BadInputIsOneLineAndExitCodeTwo) {
  std::string said;
  EXPECT_EQ(run("build " + nowhere() + " --output " + page_, &said), 2);
  EXPECT_EQ(said, "op-report: " + nowhere() + ": cannot be read; expected a file of JSON lines\n");
  EXPECT_EQ(run("build " + file("{\"record\":\"case\"") + " --output " + page_, &said), 2);
  EXPECT_NE(said.find(":1: expected a line of JSON"), std::string::npos) << said;
  EXPECT_EQ(run("build " + file(R"({"record":"run","schema":9})") + " --output " + page_, &said), 2);
  EXPECT_NE(said.find("expected schema 1, found 9"), std::string::npos) << said;
  EXPECT_EQ(run("build " + file(R"({"record":"case","kind":"check"})") + " --output " + page_, &said), 2);
  EXPECT_NE(said.find("lacks the field 'id'"), std::string::npos) << said;
  EXPECT_EQ(run("", &said), 2);
}

TEST(ReportData, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(formatNs(12), "12 ns");
  EXPECT_EQ(formatNs(1234), "1.23 µs");
  EXPECT_EQ(formatNs(1.5e6), "1.5 ms");
  EXPECT_EQ(formatNs(2e9), "2 s");
}

}  // namespace
}  // namespace opkit::reports
