#include "harness/check/margins.h"

#include <gtest/gtest.h>

#include "harness/check/check.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

constexpr const char* kText =
    "# a comment\n"
    "operator\tdtype\tlane\tkernel\tentry\tcpu/AVX2\tcpu/AVX3\n"
    "Exp\tf32\tnormal\topkit/vector\t012abc\t0.08\t-\n"
    "Log\tf32\tnormal\topkit/vector\t012abc\t0.001\t0.2\n";

MarginKey keyOf(const std::string& op) { return {op, "f32", "normal", "opkit/vector", "012abc"}; }

TEST(Margins, AreReadAndWritten) {
  const auto margins = RecordedMargins::parse(kText);
  ASSERT_TRUE(margins) << margins.error().message();
  EXPECT_EQ(margins->find(keyOf("Exp"), "cpu/AVX2"), 0.08);
  EXPECT_EQ(margins->find(keyOf("Exp"), "cpu/AVX3"), std::nullopt);
  EXPECT_EQ(margins->find(keyOf("Tanh"), "cpu/AVX2"), std::nullopt);
  const auto again = RecordedMargins::parse(margins->text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text(), margins->text());
  EXPECT_EQ(again->find(keyOf("Log"), "cpu/AVX3"), 0.2);
}

TEST(Margins, OfAQuarterOrMoreAreNotWritten) {
  RecordedMargins margins;
  margins.raise(keyOf("Exp"), "cpu/AVX2", 0.25);
  EXPECT_EQ(margins.text().find("Exp"), std::string::npos);
  margins.raise(keyOf("Exp"), "cpu/AVX3", 0.24);
  EXPECT_NE(margins.text().find("Exp\tf32\tnormal\topkit/vector\t012abc\t-\t0.24\n"), std::string::npos);
}

TEST(Margins, AWrongLineIsNamed) {
  const auto fields = RecordedMargins::parse("operator\tdtype\tlane\tkernel\tentry\tcpu/AVX2\nExp\tf32\n");
  EXPECT_EQ(fields.error().message(), "line 2: expected 6 fields, got 2");
  const auto number = RecordedMargins::parse("operator\tdtype\tlane\tkernel\tentry\tx\nExp\tf32\tnormal\tk\te\tnan\n");
  EXPECT_EQ(number.error().message(), "line 2: expected a margin or '-', got 'nan'");
}

TEST(Margins, ARecordReplacesTheFiguresOfItsOperatorsInItsEnvironments) {
  RecordedMargins old = *RecordedMargins::parse(kText), measured;
  measured.raise(keyOf("Exp"), "cpu/AVX2", 0.3);
  measured.raise(keyOf("Exp"), "cpu/AVX2", 0.1);  // another shape of the entry
  RecordedMargins updated = old;
  updated.replaceBy(measured, {{"Exp", "cpu/AVX2"}});
  EXPECT_EQ(updated.find(keyOf("Exp"), "cpu/AVX2"), 0.3);
  EXPECT_EQ(updated.find(keyOf("Log"), "cpu/AVX2"), 0.001) << "another operator";
  EXPECT_EQ(updated.find(keyOf("Log"), "cpu/AVX3"), 0.2);
  EXPECT_EQ(old.changesTo(updated),
            std::vector<std::string>{"Exp f32 normal opkit/vector 012abc cpu/AVX2: 0.08 -> 0.3"});
  updated.replaceBy({}, {{"Log", "cpu/AVX3"}});  // its cases have no errors any more
  EXPECT_EQ(updated.find(keyOf("Log"), "cpu/AVX3"), std::nullopt);
  EXPECT_EQ(updated.find(keyOf("Log"), "cpu/AVX2"), 0.001);
  EXPECT_EQ(old.changesTo(updated).at(1), "Log f32 normal opkit/vector 012abc cpu/AVX3: 0.2 -> none");
}

TEST(Margins, RowsThatNoCaseMetAreThoseOfTheOperatorAndEnvironment) {
  const RecordedMargins margins = *RecordedMargins::parse(kText);
  EXPECT_EQ(margins.unmet("Log", "cpu/AVX3", {}), std::vector{keyOf("Log")});
  EXPECT_TRUE(margins.unmet("Log", "cpu/AVX3", {keyOf("Log")}).empty());
  EXPECT_TRUE(margins.unmet("Exp", "cpu/AVX3", {}).empty()) << "no figure there";
}

TEST(Margins, ExactDataHaveNone) {
  const OpRegistry& registry = ops::builtinOps();
  EXPECT_FALSE(hasMargin(*registry.find("MatMul"), Lane::Exact, "f32")) << "its bound is one rounding at most";
  EXPECT_TRUE(hasMargin(*registry.find("MatMul"), Lane::Normal, "f32"));
  EXPECT_TRUE(hasMargin(*registry.find("Exp"), Lane::Exact, "f32")) << "a class without an exact lane";
  EXPECT_FALSE(hasMargin(*registry.find("Relu"), Lane::Normal, "f32"));
  EXPECT_FALSE(hasMargin(*registry.find("Exp"), Lane::Normal, "i32"));
}

DeviceInfo cpuDevice() { return {.backend = "cpu", .name = "AMD EPYC (AVX3)", .driver = "opkit with Highway"}; }

/// A software device, as all versions of Mesa name it.
DeviceInfo softwareDevice(const std::string& driver) {
  return {.backend = "vulkan", .name = "llvmpipe (LLVM 15.0.6, 256 bits)", .driver = driver, .software = true};
}

TEST(Margins, EnvironmentsAreInstructionSetsDriversAndDevices) {
  EXPECT_EQ(marginEnvironment(cpuDevice()), "cpu/AVX3");
  EXPECT_EQ(marginEnvironment(softwareDevice("llvmpipe Mesa 22.3.6 (LLVM 15.0.6)")), "vulkan/llvmpipe-22");
  EXPECT_EQ(marginEnvironment(softwareDevice("llvmpipe Mesa 22.2.1 (LLVM 14.0.0)")), "vulkan/llvmpipe-22");
  EXPECT_EQ(marginEnvironment(softwareDevice("llvmpipe Mesa 26.0.1 (LLVM 19.1.7)")), "vulkan/llvmpipe-26");
  EXPECT_EQ(marginEnvironment(softwareDevice("SwiftShader driver ")), "vulkan/SwiftShader driver");
  const DeviceInfo gpu{.backend = "vulkan", .name = "A GPU", .driver = "radv Mesa 25.0.7"};
  EXPECT_EQ(marginEnvironment(gpu), "vulkan/A GPU (radv-25)");
}

TEST(Margins, WithoutADriversVersionOrNameTheRestOfTheDeviceIsTheEnvironment) {
  EXPECT_EQ(marginEnvironment(softwareDevice("new\tdriver")), "vulkan/new driver") << "no field of its own";
  EXPECT_EQ(marginEnvironment(softwareDevice(" ")), "vulkan/llvmpipe (LLVM 15.0.6, 256 bits)");
  EXPECT_EQ(marginEnvironment({.backend = "vulkan", .name = "A GPU"}), "vulkan/A GPU");
  EXPECT_EQ(marginEnvironment({.backend = "other", .name = "A device", .driver = "plugin 1.0"}), "other/A device");
}

TEST(Margins, StandForWrittenCasesWithTheirOwnData) {
  const auto keyOfCase = [](const Case& c) { return marginKeyOf(c, "f32", "opkit", "vector"); };
  const Case c = *parseCaseId("Exp/f32[9]/normal/seed=7");
  Case other = *parseCaseId("Exp/f32[3,5]/normal/seed=7");
  ASSERT_TRUE(keyOfCase(c));
  EXPECT_EQ(keyOfCase(c), keyOfCase(other)) << "another shape of the entry";
  other.name = "an entry in other words";
  EXPECT_EQ(keyOfCase(c), keyOfCase(other));
  EXPECT_NE(keyOfCase(c), keyOfCase(*parseCaseId(R"(Exp/f32[9]/normal/seed=7/data=[{"range":[0,1]}])")));
  EXPECT_FALSE(keyOfCase(*parseCaseId("Exp/f32[9]/normal/seed=8")));
  EXPECT_FALSE(keyOfCase(*parseCaseId("Exp/f32[9]/specials/seed=7")));
  other.anyFallback = true;
  EXPECT_FALSE(keyOfCase(other)) << "a drawn case";
}

/// The key of the case below.
MarginKey keyOfExp() { return *marginKeyOf(*parseCaseId("Exp/f32[9]/normal/seed=7"), "f32", "opkit", ""); }

Status checkExp(double margin, const RecordedMargins& recorded, const DeviceInfo& device) {
  const Case c = *parseCaseId("Exp/f32[9]/normal/seed=7");
  CaseResult result{.op = "Exp", .dtype = "f32", .backend = device.backend, .device = device.name};
  result.provider = "opkit";
  result.accuracy = Comparison{.pass = true, .margin = margin};
  return checkMargin(recorded, device, *ops::builtinOps().find("Exp"), c, result);
}

/// The status of a margin against one recorded as `old`.
Status grown(double margin, double old, const std::string& environment = "cpu/AVX3") {
  RecordedMargins recorded;
  recorded.raise(keyOfExp(), environment, old);
  return checkExp(margin, recorded, cpuDevice());
}

TEST(Margins, GrowthByFourIsALoss) {
  EXPECT_TRUE(grown(0.4, 0.1).isOk());
  EXPECT_EQ(grown(0.41, 0.1).code(), StatusCode::Internal);
  EXPECT_TRUE(grown(0.01, 0.1).isOk()) << "a gain";
  EXPECT_TRUE(grown(0.08, 0.0001).isOk()) << "below the floor it counts as the floor";
  EXPECT_EQ(grown(0.09, 0.0001).code(), StatusCode::Internal);
  EXPECT_EQ(grown(std::nan(""), 0.1).code(), StatusCode::Internal);
}

TEST(Margins, OnlyThoseOfTheSameDriverAndMajorVersionAreCompared) {
  const DeviceInfo recordedOn = softwareDevice("llvmpipe Mesa 22.3.6 (LLVM 15.0.6)");
  RecordedMargins recorded;
  recorded.raise(keyOfExp(), marginEnvironment(recordedOn), 0.01);
  for (const char* driver : {"llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", "llvmpipe Mesa 22.0.1 (LLVM 14.0.0)"}) {
    const DeviceInfo device = softwareDevice(driver);
    EXPECT_EQ(checkExp(0.15, recorded, device).code(), StatusCode::Internal) << driver;
    EXPECT_TRUE(checkExp(0.01, recorded, device).isOk()) << driver;
    EXPECT_EQ(recorded.unmet("Exp", marginEnvironment(device), {}), std::vector{keyOfExp()}) << driver;
  }
  for (const char* driver : {"llvmpipe Mesa 26.0.1 (LLVM 19.1.7)", "llvmpipe Mesa 21.3.6 (LLVM 15.0.6)",
                             "lavapipe Mesa 22.3.6 (LLVM 15.0.6)", "SwiftShader driver ", "22", ""}) {
    const DeviceInfo device = softwareDevice(driver);
    const Status status = checkExp(0.15, recorded, device);
    EXPECT_EQ(status.code(), StatusCode::Unsupported) << driver;
    EXPECT_EQ(status.message(), "no margins are recorded for this device and driver: " + marginEnvironment(device));
    EXPECT_TRUE(recorded.unmet("Exp", marginEnvironment(device), {}).empty()) << driver;
  }
}

TEST(Margins, AKnownDriverWithoutTheKernelSaysSo) {
  RecordedMargins recorded;
  recorded.raise(keyOf("Log"), "cpu/AVX3", 0.1);
  const Status status = checkExp(0.15, recorded, cpuDevice());
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(status.message(), "no margin below 1/4 is recorded of this entry and kernel in cpu/AVX3");
}

/// A kernel within its bound that was eight times as exact when its margin was recorded.
TEST(Margins, AKernelThatLosesPrecisionWithinItsBoundFails) {
  const auto runtime = createRuntime("cpu");
  ASSERT_TRUE(runtime);
  Case c = *parseCaseId("Softsign/f32[64]/normal/seed=7");
  c.ofTree = true;
  const PreparedGroup group = prepareGroup({{c}}, ops::builtinOps(), true);
  const auto check = [&](const RecordedMargins& recorded) {
    Checker checker(ops::builtinOps(), "cpu", *runtime);
    checker.setMargins(recorded);
    return checker.checkGroup(group).at(0);
  };
  const CaseResult news = check({});
  ASSERT_EQ(news.status, CaseStatus::Pass) << news.reason;
  ASSERT_GT(news.accuracy->margin, 8 * kLeastMargin);
  const auto note = std::ranges::find(news.notRun, std::string("margin"), &NotRun::name);
  ASSERT_NE(note, news.notRun.end()) << "no record is news";
  EXPECT_TRUE(note->reason.starts_with("no margins are recorded for this device")) << note->reason;
  const auto recordedAs = [&](double share) {
    RecordedMargins recorded;
    recorded.raise(*marginKeyOf(group.cases[0].description, "f32", news.provider, news.kernel),
                   marginEnvironment((*runtime)->device()), news.accuracy->margin * share);
    return recorded;
  };
  EXPECT_EQ(check(recordedAs(1)).status, CaseStatus::Pass);
  const CaseResult lost = check(recordedAs(1.0 / 8));
  EXPECT_EQ(lost.status, CaseStatus::Fail);
  EXPECT_TRUE(lost.failed("margin"));
  EXPECT_FALSE(lost.failed("accuracy"));
  c.dropStored();  // as for another shape of a walk
  Checker checker(ops::builtinOps(), "cpu", *runtime);
  const RecordedMargins eighth = recordedAs(1.0 / 8);
  checker.setMargins(eighth);
  EXPECT_EQ(checker.checkGroup(prepareGroup({{c}}, ops::builtinOps(), true)).at(0).status, CaseStatus::Pass)
      << "only of cases that stand in the tree's files";
}

CaseRecord recordOf(const std::string& id, CaseStatus status, const std::string& failedCheck) {
  CaseRecord record;
  record.id = id, record.status = status, record.failedCheck = failedCheck;
  record.op = "Exp", record.dtype = "f32", record.provider = "opkit";
  record.accuracy.emplace();
  return record;
}

TEST(Margins, AreMeasuredOfCasesThatFailForThemAlone) {
  const std::string id = "Exp/f32[9]/normal/seed=7";
  CaseRecord lost = recordOf(id, CaseStatus::Fail, "margin");
  EXPECT_FALSE(isMeasured(lost)) << "the sub-check did not run";
  lost.checks = {"accuracy", "margin"};
  EXPECT_TRUE(isMeasured(lost));
  lost.failedCheck = "accuracy";
  EXPECT_FALSE(isMeasured(lost));
  CaseRecord passed = recordOf(id, CaseStatus::Pass, "");
  passed.notRun["margin"] = grown(0.1, 0.1, "cpu/AVX2").message();
  EXPECT_TRUE(isOfNewEnvironment(passed));
  EXPECT_TRUE(isMeasured(passed)) << "nothing is recorded on the device yet";
  passed.notRun["margin"] = "no margin below 1/4 is recorded of this entry and kernel in vulkan/software";
  EXPECT_FALSE(isOfNewEnvironment(passed));
  EXPECT_TRUE(isMeasured(passed)) << "it has no record yet, says an earlier program";
  passed.notRun["margin"] = kOtherDevice;
  EXPECT_FALSE(isMeasured(passed));
  EXPECT_TRUE(isMasked(passed));
}

TEST(Margins, DrawnCasesMeetNoRow) {
  CaseRecord record = recordOf("Exp/f32[9]/normal/seed=7", CaseStatus::Pass, "");
  EXPECT_TRUE(marginKeyOf(record));
  record.notRun["margin"] = "margins are recorded of written cases with their own data";
  EXPECT_FALSE(marginKeyOf(record));
  EXPECT_FALSE(marginKeyOf(recordOf("kernel:opkit/vector", CaseStatus::Pass, "")));
}

TEST(Margins, TheBuildsRecordIsReadable) { EXPECT_FALSE(RecordedMargins::builtin().empty()); }

}  // namespace
}  // namespace opkit::harness
