// The harness's own test: kernels broken on purpose must be caught, each by the sub-check made for it.
#include "harness/check/check.h"

#include <gtest/gtest.h>

#include "harness/testing/broken_kernels.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

// Written as an operator's own file would be: odd tails, sizes around widths, growing and shrinking, and empty.
constexpr const char* kCases = R"({"cases": [
    {"op": "Relu", "inputs": [["f32[7]"], ["f32[65]"], ["f32[1]"], ["f32[0]"], ["f32[1003]"]]},
    {"op": "Relu", "inputs": [["f32[3,5]"], ["f32[8,9]"]], "lanes": ["normal", "exact"]}]})";

struct Expectation {
  Break how;
  const char* name;
  const char* caughtBy;  // null: must pass
};

std::ostream& operator<<(std::ostream& out, const Expectation& e) { return out << e.name; }

std::vector<CaseResult> checkAll(const OpRegistry& registry, const std::string& backend,
                                 const std::string& cases = kCases) {
  std::vector<CaseResult> results;
  const auto runtime = createRuntime(backend);
  EXPECT_TRUE(runtime) << runtime.error().message();
  const auto catalogue = parseCaseFile("test", cases, registry);
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  if (!runtime || !catalogue) return results;
  Checker checker(registry, backend, *runtime);
  for (const CaseGroup& group : catalogue->groups)
    for (CaseResult& result : checker.checkGroup(prepareGroup(group, registry))) results.push_back(std::move(result));
  for (const ErrorCase& error : catalogue->errors) results.push_back(checker.checkError(error));
  return results;
}

void expectCaught(const std::vector<CaseResult>& results, const Expectation& expected) {
  ASSERT_FALSE(results.empty());
  size_t failures = 0;
  for (const CaseResult& result : results) {
    if (!isFailure(result.status)) continue;
    ++failures;
    EXPECT_NE(expected.caughtBy, nullptr) << result.id << ": " << result.reason;
    if (expected.caughtBy) {
      EXPECT_TRUE(result.failed(expected.caughtBy)) << result.id << " failed by another check: " << result.reason;
    }
  }
  if (expected.caughtBy) {
    EXPECT_GT(failures, 0u) << expected.name << " was not caught";
  }
}

class BrokenCpuKernel : public testing::TestWithParam<Expectation> {};

TEST_P(BrokenCpuKernel, IsCaught) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, GetParam().how);
  const std::vector<CaseResult> results = checkAll(registry, "cpu");
  for (const CaseResult& result : results) EXPECT_EQ(result.provider, "broken") << result.id;
  expectCaught(results, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, BrokenCpuKernel,
                         testing::Values(Expectation{Break::Nothing, "nothing", nullptr},
                                         Expectation{Break::FlipsSign, "sign", "accuracy"},
                                         Expectation{Break::DropsTailGuard, "tail", "canary"},
                                         Expectation{Break::ReturnsNan, "nan", "accuracy"},
                                         Expectation{Break::WritesPastEnd, "past", "canary"},
                                         Expectation{Break::LeavesOneUnwritten, "unwritten", "poison"},
                                         Expectation{Break::KeepsStaleState, "stale", "resize"},
                                         Expectation{Break::DiffersBetweenRuns, "race", "repeat"},
                                         Expectation{Break::AllocatesInExecute, "allocates", "counters"}),
                         [](const auto& test) { return test.param.name; });

#ifdef OPKIT_HAS_VULKAN
class BrokenVulkanKernel : public testing::TestWithParam<Expectation> {};

TEST_P(BrokenVulkanKernel, IsCaught) {
  if (const auto runtime = createRuntime("vulkan"); !runtime) GTEST_SKIP() << runtime.error().message();
  OpRegistry registry = ops::builtinOps();
  addBrokenVulkan(registry, GetParam().how);
  const std::vector<CaseResult> results = checkAll(registry, "vulkan");
  for (const CaseResult& result : results) EXPECT_EQ(result.provider, "broken") << result.id << result.reason;
  expectCaught(results, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, BrokenVulkanKernel,
                         testing::Values(Expectation{Break::Nothing, "nothing", nullptr},
                                         Expectation{Break::FlipsSign, "sign", "accuracy"},
                                         Expectation{Break::DropsTailGuard, "tail", "canary"},
                                         Expectation{Break::ReturnsNan, "nan", "accuracy"},
                                         Expectation{Break::WritesPastEnd, "past", "canary"},
                                         Expectation{Break::LeavesOneUnwritten, "unwritten", "poison"},
                                         Expectation{Break::KeepsStaleState, "stale", "resize"}),
                         [](const auto& test) { return test.param.name; });

TEST(Check, RefusalsMustBeDeclaredAndTrue) {
  if (const auto runtime = createRuntime("vulkan"); !runtime) GTEST_SKIP() << runtime.error().message();
  OpRegistry registry = ops::builtinOps();
  const auto statusOf = [&](const std::string& entry) {
    const auto results = checkAll(registry, "vulkan", R"({"cases": [{"op": "Relu", )" + entry + "}]}");
    return results.empty() ? CaseStatus::Skip : results.front().status;
  };
  addBrokenVulkan(registry, Break::Nothing);  // refuses everything but f32
  EXPECT_EQ(statusOf(R"("inputs": [["f64[3]"]])"), CaseStatus::Fallback);
  EXPECT_EQ(statusOf(R"("inputs": [["f64[3]"]], "fallback": {"vulkan": "only for f32"})"), CaseStatus::Unsupported);
  EXPECT_EQ(statusOf(R"("inputs": [["f64[3]"]], "fallback": {"vulkan": "another reason"})"), CaseStatus::Fail);
  EXPECT_EQ(statusOf(R"("inputs": [["f32[3]"]], "fallback": {"vulkan": "only for f32"})"), CaseStatus::Fail);
}
#endif

TEST(Check, ErrorsMustSayWhatIsExpected) {
  const auto statusOf = [](const std::string& entry) {
    return checkAll(ops::builtinOps(), "cpu", R"({"cases": [], "errors": [)" + entry + "]}").front().status;
  };
  EXPECT_EQ(statusOf(R"({"op": "Softmax", "inputs": ["f32[2,3]"], "params": {"axis": 2}, "error": "axis must be in"})"),
            CaseStatus::Pass);
  EXPECT_EQ(statusOf(R"({"op": "Softmax", "inputs": ["f32[2,3]"], "params": {"axis": 2}, "error": "rank"})"),
            CaseStatus::Fail);
  EXPECT_EQ(statusOf(R"({"op": "Softmax", "inputs": ["f32[2,3]"], "error": "axis must be in"})"), CaseStatus::Fail);
}

TEST(Check, MostlyZeroProvesLittle) {
  const auto results = checkAll(ops::builtinOps(), "cpu",
                                R"({"cases": [{"op": "MatMul", "inputs": [["f32[4,4]", "f32[4,4]"]], "lanes": ["exact"],
                                     "data": [{"value": 0}, null]}]})");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].status, CaseStatus::Pass) << "zero terms: the magnitudes are zero too";
  PreparedCase sparse;
  OpDef def;
  def.numeric = NumericClass::Sum;
  sparse.expected.emplace_back(TensorDesc{DType::Float32, {10}});
  sparse.expected[0].real = {0, 0, 0, 0, 1, 2, 3, 4, 5, 6};
  sparse.expected[0].magnitude.assign(10, 1.0);
  EXPECT_FALSE(checkTrust(def, sparse).isOk());
  sparse.expected[0].real = {0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(checkTrust(def, sparse).isOk());
}

}  // namespace
}  // namespace opkit::harness
