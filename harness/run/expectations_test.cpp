// Lines of expectation files, ranges of driver versions, names of files, and what new lines do to a file.
#include "harness/run/expectations.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/run/expectation_writer.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kBackends = {"cpu", "vulkan"};
const DeviceInfo kLavapipe = {"vulkan", 0,   "llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)",
                              "",       true};

std::string messageOf(const std::string& line) {
  const auto parsed = parseExpectation(line);
  return parsed ? "none" : parsed.error().message();
}

TEST(DriverRange, VersionsAreNumbersWithDots) {
  const std::pair<const char*, const char*> kDrivers[] = {
      {"llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", "22.3.6"},
      {"NVIDIA 525.147.05", "525.147.5"},
      {"radv Mesa 25.0.0-devel (git-0123abc)", "25.0.0"},
      {"Mali-G72 v38.1", "38.1"},
      {"opkit with Highway", ""},
      {"V3D 4 driver", ""},
      {"", ""},
  };
  for (const auto& [driver, version] : kDrivers) EXPECT_EQ(toString(driverVersionOf(driver)), version) << driver;
}

TEST(DriverRange, ASeriesIsTheNameAndTheMajorVersion) {
  const std::pair<const char*, const char*> kDrivers[] = {
      {"llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", "llvmpipe-22"},
      {"llvmpipe Mesa 26.0.1 (LLVM 19.1.7)", "llvmpipe-26"},
      {"NVIDIA 525.147.05", "NVIDIA-525"},
      {"radv Mesa 25.0.0-devel (git-0123abc)", "radv-25"},
      {"Intel open-source Mesa driver Mesa 23.1.2", "Intel open-source Mesa driver-23"},
      {"AMD proprietary driver 23.5.1 (AMD proprietary shader compiler)", "AMD proprietary driver-23"},
      {"Mali-G72 v38.1", "Mali-G72-38"},
      {"Mesa 22.3.6", "Mesa-22"},
      // No version that can be read: the whole text, as one line.
      {"SwiftShader driver ", "SwiftShader driver"},
      {"Mali-G72 v1.r38p1-01eac0", "Mali-G72 v1.r38p1-01eac0"},
      {"V3D 4 driver", "V3D 4 driver"},
      {"huge 1234567890123456789012.0", "huge 1234567890123456789012.0"},
      {" Build:\t1ab,\n Date: today", "Build: 1ab, Date: today"},
      {" 22.3.6", "22.3.6"},
      {"v22.3", "v22.3"},
      {"", ""},
      {" ", ""},
  };
  for (const auto& [driver, series] : kDrivers) EXPECT_EQ(driverSeriesOf(driver), series) << driver;
}

TEST(DriverRange, NumbersAreComparedNotTexts) {
  struct {
    const char *range, *version;
    bool inside;
  } const kInside[] = {
      {"22.3..25.0", "22.3.6", true},  {"22.3..25.0", "25.0.9", true},   {"22.3..25.0", "25.1", false},
      {"22.3..25.0", "22.2.9", false}, {"9.0..10.0", "9.12", true},      {"22.10..", "22.9.1", false},
      {"22.3..", "100.0", true},       {"..22.3", "22.3.6", true},       {"..22.3.5", "22.3.6", false},
      {"22.3.6", "22.3.6", true},      {"22.3", "22.3.6", true},         {"22.3.6", "22.3", false},
      {"..25", "25.9.9", true},        {"22.3.5..22.3", "22.3.9", true},
  };
  for (const auto& one : kInside) {
    const auto range = parseDriverRange(one.range);
    ASSERT_TRUE(range) << one.range << ": " << range.error().message();
    EXPECT_EQ(range->includes(driverVersionOf(one.version)), one.inside) << one.version << " in " << one.range;
    EXPECT_EQ(parseDriverRange(range->toString())->toString(), range->toString());
  }
  for (const char* text : {"", "..", "22.3-25", "a..b", "22.3..25.0..26", "22.", "22.3...25", "1234567890123456789.0"})
    EXPECT_FALSE(parseDriverRange(text)) << text;
  EXPECT_EQ(parseDriverRange("25.0..22.3").error().message(), "no version lies in '25.0..22.3'");
}

TEST(Expectations, APatternHasStarsOnly) {
  const auto matches = [](const char* pattern, const char* id) {
    const auto line = parseExpectation(std::string(pattern) + " | why");
    return line && *line && (*line)->matches("check", id);
  };
  EXPECT_TRUE(matches("Softmax*/f32[3,5,7]/*", "Softmax{\"axis\":0}/f32[3,5,7]/normal/seed=7"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*ab*ab", "abab"));
  EXPECT_FALSE(matches("Relu/f32[9]*", "Relu/f32[91]/normal/seed=7"));
  EXPECT_FALSE(matches("a*b", "abc"));
  EXPECT_FALSE(matches("[ab]*", "a"));
}

TEST(Expectations, ALineHasPatternRangeAndReason) {
  const auto line = parseExpectation("  Softmax*/f16*  |  driver 22.3..25 | tail lost | mesa/mesa#123  ");
  ASSERT_TRUE(line && *line);
  EXPECT_EQ((*line)->pattern, "Softmax*/f16*");
  EXPECT_EQ((*line)->reason, "tail lost | mesa/mesa#123");
  EXPECT_EQ((*line)->drivers->toString(), "22.3..25");
  EXPECT_EQ((*line)->key(), "Softmax*/f16* | driver 22.3..25");
  EXPECT_TRUE((*line)->matches("check", "Softmax/f16[3]"));
  EXPECT_FALSE((*line)->matches("conformance", "Softmax/f16[3]"));
  const auto other = parseExpectation("Softmax{\"axis\": 0}/f32[9]/normal/seed=7 | a blank too many");
  ASSERT_TRUE(other && *other);
  EXPECT_EQ((*other)->pattern, "Softmax{\"axis\":0}/f32[9]/normal/seed=7") << "the canonical id";
  EXPECT_EQ((*parseExpectation("conformance node/test_relu | no reason | at all"))->caseKind, "conformance");
  for (const char* text : {"", "   ", "# a comment | with a bar", "\t# tab"}) EXPECT_FALSE(*parseExpectation(text));
}

TEST(Expectations, EveryWrongLineSaysWhatIsWrong) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"Softmax*", "found no reason"},
      {"Softmax* |", "found no reason"},
      {"Softmax* | driver 22.3", "found no reason"},
      {"Softmax* | driver 22.3 |", "found no reason"},
      {"| a reason", "expected a pattern"},
      {" | a reason", "expected a pattern"},
      {"Softmax* | driver 25..22 | why", "no version lies in '25..22'"},
      {"Softmax* | driver  | why", "expected versions of drivers"},
      {"Softmax* | driver \t|", "expected versions of drivers"},
      {"Softmax* | driver mesa | why", "expected versions of drivers"},
      {"Relu/f32[9 | why", "no id of a case"},
      {"Relu | why", "no id of a case"},
      {"chekc Softmax* | why", "expected check or conformance before the pattern, got 'chekc'"},
      {"Soft\tmax* | why", "control character"},
  };
  for (const auto& [line, message] : kWrong)
    EXPECT_NE(messageOf(line).find(message), std::string::npos) << line << ": " << messageOf(line);
  const auto twice = parseExpectations("a/cpu.fails", "# why\nRelu* | a\n\nRelu* | b\n");
  EXPECT_EQ(twice.error().message(), "a/cpu.fails:4: repeats line 2");
}

TEST(Expectations, FilesAreNamedAfterTheDevice) {
  EXPECT_EQ(fileNameOf(kLavapipe), "vulkan-llvmpipe");
  const auto named = [](const char* name) { return fileNameOf({"vulkan", 0, name, "", "", false}); };
  EXPECT_EQ(named("NVIDIA H100 80GB HBM3"), "vulkan-nvidia-h100-80gb-hbm3");
  EXPECT_EQ(named("AMD Radeon RX 6800 (RADV NAVI21)"), "vulkan-amd-radeon-rx-6800-radv-navi21");
  EXPECT_EQ(named("Intel(R) UHD Graphics 620 (KBL GT2)"), "vulkan-intel-uhd-graphics-620-kbl-gt2");
}

class ExpectationFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  Result<Expectations> read() const { return Expectations::read(folder_, {kLavapipe}, kBackends); }

  const std::string folder_ =
      testing::TempDir() + "expectations_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

CaseRecord result(const std::string& id, CaseStatus status) {
  CaseRecord record;
  record.kind = "check", record.id = id, record.backend = "vulkan", record.status = status;
  return record;
}

TEST_F(ExpectationFolder, NamesThatLookLikeTyposAreRefused) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"vulkan-llvmpipe.fail", "ends in .fails"},
      {"vulcan-llvmpipe.fails", "begins with a backend (cpu, vulkan)"},
      {"vulkanllvmpipe.fails", "begins with a backend"},
      {"vulkan-LLVMpipe.skips", "expected the name 'vulkan-llvmpipe.skips'"},
      {"notes.txt", "ends in .fails"}};
  for (const auto& [name, message] : kWrong) {
    write(name, "");
    const auto found = read();
    ASSERT_FALSE(found) << name;
    EXPECT_NE(found.error().message().find(message), std::string::npos) << found.error().message();
    EXPECT_TRUE(found.error().message().starts_with(folder_ + "/" + name + ": ")) << found.error().message();
    fs::remove(folder_ + "/" + name);
  }
  write("README.md", "no line");
  write("vulkan-adreno.fails", "Relu* | of another device\n");
  const auto found = read();
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->notes(),
            std::vector{"expectations: " + folder_ + " has no file vulkan-llvmpipe.fails, .flakes or .skips"});
}

TEST_F(ExpectationFolder, WrongLinesOfOtherDevicesAreFound) {
  write("cpu-other.flakes", "Relu* | fine\nRelu*\n");
  EXPECT_EQ(read().error().message().find(folder_ + "/cpu-other.flakes:2: "), 0u) << read().error().message();
}

TEST_F(ExpectationFolder, ALineHoldsForItsDriversAlone) {
  write("vulkan-llvmpipe.fails", "Relu* | driver ..22.2 | old\nAbs* | driver 22.3.. | new\n");
  write("vulkan.skips", "Neg* | every device\n");
  auto all = read();
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->notes()[0], "expectations: " + folder_ + "/vulkan-llvmpipe.fails: 1 of 2 lines are for this driver");
  CaseRecord relu = result("Relu/f32[9]", CaseStatus::Fail), abs = result("Abs/f32[9]", CaseStatus::Crash);
  all->judge(relu), all->judge(abs);
  EXPECT_EQ(relu.status, CaseStatus::Fail);
  EXPECT_EQ(abs.status, CaseStatus::Expected);
  EXPECT_EQ(abs.expectation->status, CaseStatus::Crash);
  EXPECT_EQ(abs.expectation->line, "vulkan-llvmpipe.fails:2");
  EXPECT_TRUE(all->skipOf("check", "Neg/f32[3]", "vulkan"));
  EXPECT_FALSE(all->skipOf("conformance", "Neg/f32[3]", "vulkan"));
  EXPECT_FALSE(all->skipOf("check", "Neg/f32[3]", "cpu"));
  const auto stale = all->staleLines("check");
  ASSERT_EQ(stale.size(), 1u) << "the line for older drivers is not stale";
  EXPECT_EQ(stale[0].id, "expectation:vulkan.skips:1");
  EXPECT_EQ(stale[0].status, CaseStatus::Unexpected);
}

TEST_F(ExpectationFolder, ADriverWithoutAVersionHasNoRanges) {
  write("cpu.fails", "Relu* | driver 1.0 | no\n");
  const auto all = Expectations::read(folder_, {{"cpu", 0, "CPU", "opkit with Highway", "", false}}, kBackends);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().message().find(folder_ + "/cpu.fails:1: the driver 'opkit with Highway' states no version"),
            0u);
}

TEST_F(ExpectationFolder, APassAgainstALineIsUnexpected) {
  write("vulkan.fails", "Relu* | known\nAbs/f32[9]/normal/seed=7 | exact\nNeg* | broken\n");
  write("vulkan.flakes", "Neg* | sometimes\n");
  auto all = read();
  ASSERT_TRUE(all) << all.error().message();
  CaseRecord pass = result("Relu/f32[9]", CaseStatus::Pass), refused = result("Relu/f64[9]", CaseStatus::Unsupported),
             partial = result("Relu/f32[8]", CaseStatus::Pass), flaky = result("Neg/f32[9]", CaseStatus::Pass),
             exact = result("Abs/f32[9]/normal/seed=7", CaseStatus::Pass);
  all->judge(pass), all->judge(refused), all->judge(partial, true), all->judge(flaky), all->judge(exact);
  EXPECT_EQ(pass.status, CaseStatus::Unexpected);
  EXPECT_TRUE(reports::isFailure(pass.status));
  EXPECT_EQ(refused.status, CaseStatus::Unsupported);
  EXPECT_EQ(partial.status, CaseStatus::Pass) << "its group crashed";
  EXPECT_EQ(flaky.status, CaseStatus::Pass);
  EXPECT_EQ(
      all->unexpectedPasses(),
      (std::vector<std::string>{
          folder_ + "/vulkan.fails:1: expected to fail, but each of its cases passes (1): delete the line (known)",
          folder_ + "/vulkan.fails:2: expected to fail, but passes: delete the line (exact)"}));
  CaseRecord failed = result("Relu/f32[7]", CaseStatus::Fail);
  all->judge(failed);
  EXPECT_EQ(all->unexpectedPasses()[0],
            folder_ +
                "/vulkan.fails:1: expected to fail, but 1 cases pass and 1 fail: narrow the "
                "pattern; Relu/f32[9] passes");
}

TEST(ExpectationWriter, MergingKeepsWhatIsThere) {
  const std::map<std::string, std::string> lines = {{"Abs/f32[9]* | driver 22.3.6", "accuracy: wrong"},
                                                    {"Zeta*", "last"}};
  const std::string before =
      "# Failures of a device.\n\n# See issue 12.\nSoftmax*   |   driver 22..23 | my own words\n\nBeta* | b\n# the "
      "end\n";
  const auto merged = mergedExpectations("a", before, lines);
  ASSERT_TRUE(merged);
  EXPECT_EQ(*merged,
            "# Failures of a device.\n\nAbs/f32[9]* | driver 22.3.6 | accuracy: wrong\nBeta* | b\n# See issue 12.\n"
            "Softmax*   |   driver 22..23 | my own words\nZeta* | last\n# the end\n");
  EXPECT_EQ(*mergedExpectations("a", *merged, {}), *merged);
  EXPECT_TRUE(mergedExpectations("a", "", lines)->starts_with("# PATTERN | "));
  EXPECT_FALSE(mergedExpectations("a", "Relu*\n", lines));
}

TEST_F(ExpectationFolder, TheWriterAddsFailuresThatNoLineNames) {
  write("vulkan-llvmpipe.fails", "Relu* | my own words\n");
  auto writer = ExpectationWriter::open(folder_, {kLavapipe}, kBackends);
  ASSERT_TRUE(writer);
  CaseRecord flake = result("Abs/f32[9]/normal/seed=7", CaseStatus::Fail);
  flake.reason = "accuracy: 3 of 9\nwrong", flake.rerun = CaseStatus::Pass;
  CaseRecord lasting = result("rule.cases.json: a | b", CaseStatus::Mistrusted);
  lasting.reason = "driver bug";
  lasting.diagnosis = {"tail", "the last elements"};
  for (const CaseRecord& one : {flake, lasting, result("Relu/f32[9]", CaseStatus::Fail),
                                result("Neg/f32[9]", CaseStatus::Pass), result("", CaseStatus::Fail)})
    writer->add(one);
  ASSERT_TRUE(writer->write());
  const auto text = [&](const char* name) {
    std::ifstream file(folder_ + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(text("vulkan-llvmpipe.fails"),
            "Relu* | my own words\nrule.cases.json: a* b | driver 22.3.6 | the driver bug [tail: the last elements]\n");
  EXPECT_NE(
      text("vulkan-llvmpipe.flakes").find("\nAbs/f32[9]/normal/seed=7 | driver 22.3.6 | accuracy: 3 of 9 wrong\n"),
      std::string::npos)
      << text("vulkan-llvmpipe.flakes");
  auto all = read();
  ASSERT_TRUE(all) << all.error().message();
  all->judge(flake), all->judge(lasting);
  EXPECT_EQ(flake.status, CaseStatus::Flake);
  EXPECT_EQ(lasting.status, CaseStatus::Expected);
}

}  // namespace
}  // namespace opkit::harness
