#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/where.h"
#include "reports/detect/evaluate/trials.h"

namespace opkit::reports::detect {
namespace {

class EvaluateTest : public testing::Test {
 protected:
  static std::string own(const std::string& name) {
    return testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + name;
  }
  static std::string file(const std::string& name, const std::string& text) {
    std::ofstream(own(name)) << text;
    return own(name);
  }
  static std::string contents(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Exit code of evaluate_detector; its output is left in said_.
  int run(const std::string& arguments) {
    const std::string log = own("log");
    const int status =
        std::system((partOfBuild(OPKIT_EVALUATE_DETECTOR) + " " + arguments + " >" + log + " 2>&1").c_str());
    said_ = contents(log);
    return WEXITSTATUS(status);
  }
  bool says(const std::string& text) const { return said_.find(text) != std::string::npos; }

  std::string said_;
};

TEST_F(EvaluateTest, QuickSizeMeetsEveryTarget) {
  EXPECT_EQ(run(std::string(OPKIT_RECORDED_NOISE) + " --quick"), 0) << said_;
  for (const char* part : {"unchanged series", "10 % slower", "5 % slower", "3 % slower", "next morning"})
    EXPECT_TRUE(says(part)) << part << "\n" << said_;
}

TEST_F(EvaluateTest, AMissedTargetEndsWithOne) {
  // Eight nights are a short past.
  EXPECT_EQ(run(std::string(OPKIT_RECORDED_NOISE) + " --quick --runs 1 --before 8"), 1) << said_;
  EXPECT_TRUE(says("MISSED")) << said_;
}

TEST_F(EvaluateTest, JsonLinesBecomeCsv) {
  const std::string one =
      R"({"record":"run","schema":1}
{"record":"case","kind":"bench","id":"A{\"x\":1}","op":"A","backend":"cpu","status":"pass","times":{"executeWall":{"min":12345.6,"samples":[12345.6,13000]},"resizeShape":{"min":3}}}
)";
  const std::string csv = own("series.csv");
  ASSERT_EQ(run(file("results.jsonl", one + one) + " --csv " + csv), 0) << said_;
  EXPECT_EQ(contents(csv), "\"A{\"\"x\"\":1} cpu executeWall\",1.235e+04,1.235e+04\n");
  std::vector<Recorded> read;
  ASSERT_TRUE(readRecorded(csv, read).isOk());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].name, "A{\"x\":1} cpu executeWall");
  EXPECT_EQ(read[0].runs, (std::vector<double>{12350, 12350}));
}

TEST_F(EvaluateTest, BadInputIsOneLineAndTwo) {
  const auto refused = [&](const std::string& arguments, const std::string& reason) {
    EXPECT_EQ(run(arguments), 2) << said_;
    EXPECT_TRUE(says(reason)) << said_;
    EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
  };
  refused("", "results");
  refused(own("none.csv"), "cannot be read");
  refused(file("name.csv", "A,1,2\n"), "expected a quoted name");
  refused(file("number.csv", "\"A\",1,x\n"), ":1: expected ',' and a positive number");
  refused(file("zero.csv", "\"A\",1,0\n"), "positive number");
  refused(file("short.csv", "\"A\",1,2\n"), "no series has");
  refused(file("lines.jsonl", "no JSON\n{}\n"), "expected a line of JSON");
  refused(file("deep.jsonl", std::string(300'000, '[') + std::string(300'000, ']') + "\n"),
          ":1: JSON may be nested 64 deep");
  const std::string csv = own("kept.csv");
  refused(own("none.jsonl") + " --csv " + csv, "cannot be read");
  EXPECT_FALSE(std::filesystem::exists(csv));
}

TEST_F(EvaluateTest, NoiseHasTheSpreadAskedFor) {
  NoiseSettings settings;
  settings.outlierNights = 0;
  std::vector<Recorded> recorded(1);
  for (int i = 0; i < 100; ++i) recorded[0].runs.push_back(1000 + i % 2);
  const std::vector<Residuals> residuals = residualsOf(recorded, settings);
  ASSERT_EQ(residuals.size(), 1u);
  NoiseSeries noise(residuals[0], 0.02, settings, 3);
  double sum = 0, count = 0;
  for (int night = 0; night < 2000; ++night)
    for (const double run : noise.next()) sum += run * run, ++count;
  EXPECT_NEAR(std::sqrt(sum / count), 0.02, 0.001);
}

TEST_F(EvaluateTest, RecordedSeriesTooShortForABlockAreLeftOut) {
  EXPECT_TRUE(residualsOf({{"short", {1, 2, 3}}}, {}).empty());
}

}  // namespace
}  // namespace opkit::reports::detect
