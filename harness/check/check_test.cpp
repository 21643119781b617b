// The harness's own test: kernels broken on purpose must be caught, each by its own sub-check.
#include "harness/check/check.h"
#include "harness/check/placement_check.h"
#include "harness/check/sub_checks.h"
#include "harness/check/variants.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/backend/device_test_support.h"
#include "harness/testing/broken_kernels.h"
#include "harness/testing/check_all.h"
#include "ops/builtin_ops.h"
#include "reports/results/kernel_names.h"

namespace opkit::harness {
namespace {

// Written like an operator's case file: odd tails, sizes around widths, growing and shrinking, and empty.
constexpr const char* kCases = R"({"cases": [
    {"op": "Relu", "inputs": [["f32[7]"], ["f32[65]"], ["f32[1]"], ["f32[0]"], ["f32[1003]"]]},
    {"op": "Relu", "inputs": [["f32[3,5]"], ["f32[8,9]"]], "lanes": ["normal", "exact"]}]})";
constexpr const char* kSpecials = R"({"cases": [{"op": "Relu", "inputs": [["f32[40]"]], "lanes": ["specials"]}]})";

struct Expectation {
  const char* backend;
  Break how;
  const char* name;
  const char* caughtBy;  // null: must pass
};

std::ostream& operator<<(std::ostream& out, const Expectation& e) { return out << e.name; }

/// Of cases of Relu written in the form of a case file.
CaseResult checkOne(const OpRegistry& registry, const std::string& backend, const std::string& entry) {
  const auto results = checkAll(registry, backend, R"({"cases": [{"op": "Relu", )" + entry + "}]}");
  EXPECT_FALSE(results.empty());
  return results.empty() ? CaseResult() : results.front();
}

void addBrokenKernel(OpRegistry& registry, const std::string& backend, Break how,
                     const std::shared_ptr<Instances>& instances = std::make_shared<Instances>()) {
  if (backend == "cpu") return addBrokenCpu(registry, how, instances);
#ifdef OPKIT_HAS_VULKAN
  addBrokenVulkan(registry, how, instances);
#endif
}

void expectCaught(const std::vector<CaseResult>& results, const Expectation& expected) {
  ASSERT_FALSE(results.empty());
  size_t failures = 0;
  for (const CaseResult& result : results) {
    if (!isFailure(result.status)) continue;
    ++failures;
    EXPECT_NE(expected.caughtBy, nullptr) << result.id << ": " << result.reason;
    if (!expected.caughtBy) continue;
    const bool byValue = std::string(expected.caughtBy) == "accuracy";
    EXPECT_TRUE(result.failed(expected.caughtBy) || (byValue && (result.failed("exact") || result.failed("specials"))))
        << result.id << " failed by another check: " << result.reason;
  }
  if (expected.caughtBy) {
    EXPECT_GT(failures, 0u) << expected.name << " was not caught";
  }
}

class BrokenKernel : public testing::TestWithParam<Expectation> {};

TEST_P(BrokenKernel, IsCaught) {
  const std::string backend = GetParam().backend;
  OPKIT_NEEDS_DEVICE(createRuntime(backend));
  if (GetParam().how == Break::ReadsFreedConstant && !HostileMemory::overwritesHost())
    GTEST_SKIP() << "freed memory keeps its values here";
  OpRegistry registry = ops::builtinOps();
  addBrokenKernel(registry, backend, GetParam().how);
  std::vector<CaseResult> results = checkAll(registry, backend, kCases);
  if (backend == "cpu")
    for (CaseResult& result : checkAll(registry, backend, kSpecials)) results.push_back(std::move(result));
  for (const CaseResult& result : results) EXPECT_EQ(result.provider, "broken") << result.id << result.reason;
  expectCaught(results, GetParam());
}

std::string nameOfTest(const testing::TestParamInfo<Expectation>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(Cpu, BrokenKernel,
                         testing::Values(Expectation{"cpu", Break::Nothing, "nothing", nullptr},
                                         Expectation{"cpu", Break::FlipsSign, "sign", "accuracy"},
                                         Expectation{"cpu", Break::DropsTailGuard, "tail", "canary"},
                                         Expectation{"cpu", Break::ReturnsNan, "nan", "accuracy"},
                                         Expectation{"cpu", Break::WritesPastEnd, "past", "canary"},
                                         Expectation{"cpu", Break::LeavesOneUnwritten, "unwritten", "poison"},
                                         Expectation{"cpu", Break::KeepsStaleState, "stale", "reuse"},
                                         Expectation{"cpu", Break::DiffersBetweenRuns, "race", "repeat"},
                                         Expectation{"cpu", Break::AllocatesInExecute, "allocates", "counters"},
                                         Expectation{"cpu", Break::CreatesPipelineInExecute, "pipeline", "counters"},
                                         Expectation{"cpu", Break::SubmitsTwice, "submits", "counters"},
                                         Expectation{"cpu", Break::TakesTasksInOrder, "order", "threads"},
                                         Expectation{"cpu", Break::DispatchesNothing, "dispatches", "counters"},
                                         Expectation{"cpu", Break::AllocatesOnHeap, "heap", "heap"},
                                         Expectation{"cpu", Break::ReadsPastEnd, "reads", "pages"},
                                         Expectation{"cpu", Break::DropsNan, "specials", "specials"},
                                         Expectation{"cpu", Break::OneUlpOff, "ulp", "accuracy"},
                                         Expectation{"cpu", Break::ReadsFreedConstant, "freed", "accuracy"}),
                         nameOfTest);

#ifdef OPKIT_HAS_VULKAN
INSTANTIATE_TEST_SUITE_P(Vulkan, BrokenKernel,
                         testing::Values(Expectation{"vulkan", Break::Nothing, "nothing", nullptr},
                                         Expectation{"vulkan", Break::FlipsSign, "sign", "accuracy"},
                                         Expectation{"vulkan", Break::DropsTailGuard, "tail", "canary"},
                                         Expectation{"vulkan", Break::ReturnsNan, "nan", "accuracy"},
                                         Expectation{"vulkan", Break::WritesPastEnd, "past", "canary"},
                                         Expectation{"vulkan", Break::LeavesOneUnwritten, "unwritten", "poison"},
                                         Expectation{"vulkan", Break::KeepsStaleState, "stale", "reuse"},
                                         Expectation{"vulkan", Break::DiffersBetweenRuns, "race", "repeat"},
                                         Expectation{"vulkan", Break::WritesPastScratch, "scratch", "canary"},
                                         Expectation{"vulkan", Break::WritesBesideConstant, "constant", "canary"},
                                         Expectation{"vulkan", Break::ReadsPastConstant, "reads", "accuracy"}),
                         nameOfTest);
#endif

TEST(Check, TheSanitizerSeesAKernelThatWritesPastTheEnd) {
  OpRegistry registry = ops::builtinOps();
  addBrokenKernel(registry, "cpu", Break::WritesPastEnd);
  const Catalogue catalogue =
      *parseCaseFile("past.json", R"({"cases": [{"op": "Relu", "inputs": [["f32[65,3]"]]}]})", registry);
  Checker checker(registry, "cpu", *createRuntime("cpu"));
  checker.setSanitizer([](const PreparedCase&) { return Status::internal("bounds: a line"); });
  const CaseResult result = checker.checkGroup(prepareGroup(catalogue.groups.front(), registry)).front();
  EXPECT_TRUE(result.failed("canary") && result.failed("sanitize")) << result.reason;
  EXPECT_NE(result.reason.find("the nearest changed byte is byte 1 behind it"), std::string::npos) << result.reason;
}

/// Breaks one kernel instance after the other, and collects the sub-checks that failed.
std::set<std::string> noticedBy(const std::string& backend, Break how) {
  std::set<std::string> noticed;
  for (size_t broken = 1;; ++broken) {
    OpRegistry registry = ops::builtinOps();
    auto instances = std::make_shared<Instances>();
    instances->broken = broken;
    addBrokenKernel(registry, backend, how, instances);
    const auto results =
        checkAll(registry, backend, R"({"cases": [{"op": "Relu", "inputs": [["f32[7,5]"], ["f32[65,3]"]]}]})");
    if (instances->made < broken) return noticed;  // every instance was broken once
    size_t failures = 0;
    for (const CaseResult& result : results) {
      failures += isFailure(result.status);
      for (const SubCheck& sub : result.subChecks)
        if (!sub.ok) noticed.insert(sub.name);
    }
    EXPECT_GT(failures, 0u) << "instance " << broken << " of the kernel may differ unnoticed";
  }
}

TEST(Check, EveryInstanceOfAKernelMustGiveTheSameBits) {
  const auto noticed = noticedBy("cpu", Break::OneUlpOff);
  for (const char* name : {"clone", "threads", "pages", "reuse", "resize"}) EXPECT_TRUE(noticed.contains(name)) << name;
}

TEST(Check, UnorderedOperatorsNeedNotRepeatBitForBit) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, Break::DiffersBetweenRuns);  // within the bound
  const char* const entry = R"("inputs": [["f32[9]"]])";
  EXPECT_TRUE(checkOne(registry, "cpu", entry).failed("repeat"));
  OpDef unordered = *registry.find("Relu");
  unordered.unordered = true;
  unordered.numeric = NumericClass::OneRounding;
  registry.replace(unordered);
  const CaseResult result = checkOne(registry, "cpu", entry);
  EXPECT_EQ(result.provider, "broken");
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
}

TEST(Check, ExactDataHaveASubCheckOfTheirOwn) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, Break::OneUlpOff);
  const CaseResult result = checkOne(registry, "cpu", R"("inputs": [["f32[9]"]], "lanes": ["exact"])");
  EXPECT_TRUE(result.failed("exact")) << result.reason;
}

/// Exp, `steps` numbers of its dtype (f16 or f32) above the largest one that is not above the result.
class HighExp final : public Execution {
 public:
  HighExp(Backend& backend, int steps) : counters_(backend.counters()), steps_(steps) {}
  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    ++counters_.dispatches;
    if (inputs[0]->desc.dtype == DType::Float16)
      std::ranges::transform(inputs[0]->data<Half>(), outputs[0]->data<Half>().begin(), [&](Half x) {
        const double y = std::exp(static_cast<double>(toFloat(x)));
        const Half nearest = toHalf(y);
        const int above = static_cast<double>(toFloat(nearest)) > y ? 1 : 0;
        return Half{static_cast<uint16_t>(nearest.bits - above + steps_)};
      });
    else
      std::ranges::transform(inputs[0]->data<float>(), outputs[0]->data<float>().begin(), [&](float x) {
        return std::bit_cast<float>(std::bit_cast<int32_t>(std::exp(x)) + steps_);
      });
    return Status::ok();
  }

 private:
  BackendCounters& counters_;
  int steps_;
};

Creator highExp(const std::string& provider, DType dtype, int steps) {
  return {.provider = provider,
          .supports = [](const CreateArgs&) { return Status::ok(); },
          .create = [steps](const CreateArgs&, Backend& on) -> Result<std::unique_ptr<Execution>> {
            return std::unique_ptr<Execution>(std::make_unique<HighExp>(on, steps));
          },
          .dtypes = DTypeSet(dtype)};
}

TEST(Check, HalvesOfElementwiseOperatorsAreTheRoundedFloats) {
  constexpr const char* kHalves = R"({"cases": [{"op": "Exp", "inputs": [["f16[5,33]"]]}]})";
  OpRegistry registry = ops::builtinOps();
  const auto good = checkAll(registry, "cpu", kHalves).front();
  EXPECT_EQ(good.status, CaseStatus::Pass) << good.reason;
  EXPECT_TRUE(std::ranges::any_of(good.subChecks, [](const SubCheck& one) { return one.name == "rounding"; }));
  registry.addFirstCreator("cpu", "Exp", highExp("opkit", DType::Float16, 1));
  const auto bad = checkAll(registry, "cpu", kHalves).front();
  EXPECT_TRUE(bad.failed("rounding")) << bad.reason;
  EXPECT_FALSE(bad.failed("accuracy")) << bad.reason;
}

/// A correct kernel of provider "broken", and one of provider "another" that may be wrong.
OpRegistry withAnother(Break how) {
  OpRegistry registry = ops::builtinOps();
  OpRegistry other = ops::builtinOps();
  addBrokenCpu(other, how);
  Creator creator = other.creators("cpu", "Relu").front();
  creator.provider = "another";
  registry.addCreator("cpu", "Relu", creator);
  addBrokenCpu(registry, Break::Nothing);
  return registry;
}

TEST(Check, EveryProviderMustAgree) {
  const OpRegistry registry = withAnother(Break::FlipsSign);
  const CaseResult result = checkOne(registry, "cpu", R"("inputs": [["f32[9]"]])");
  EXPECT_EQ(result.provider, "broken");
  EXPECT_TRUE(result.failed("providers"));
  EXPECT_NE(result.reason.find("another"), std::string::npos) << result.reason;
}

TEST(Check, ADeclaredDepartureIsCountedAndMustHappen) {
  const auto cases = [](const std::string& patterns) {
    return R"({"cases": [{"op": "Relu", "inputs": [["f32[40]"], ["f32[70]"]], "lanes": ["specials"]}],
               "departures": [{"provider": "another", "cases": [)" +
           patterns + R"(], "reason": "drops NaN"}]})";
  };
  const OpRegistry departs = withAnother(Break::DropsNan);
  for (const CaseResult& result : checkAll(departs, "cpu", cases(R"("Relu*/specials")"))) {
    EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
    EXPECT_EQ(result.departures, std::vector<std::string>{"another"});
  }
  // Undeclared for the larger shape.
  const auto partly = checkAll(departs, "cpu", cases(R"("Relu*/f32[40]/specials")"));
  ASSERT_EQ(partly.size(), 2u);
  EXPECT_EQ(partly[0].status, CaseStatus::Pass) << partly[0].reason;
  EXPECT_TRUE(partly[1].failed("providers"));
  EXPECT_TRUE(partly[1].departures.empty());
  // Declared, but within the bound.
  for (const CaseResult& result : checkAll(withAnother(Break::Nothing), "cpu", cases(R"("Relu*/specials")"))) {
    EXPECT_TRUE(result.failed("providers"));
    EXPECT_NE(result.reason.find("another: the declared departure is stale"), std::string::npos) << result.reason;
    EXPECT_NE(result.reason.find("drops NaN"), std::string::npos) << result.reason;
    EXPECT_TRUE(result.departures.empty());
  }
}

TEST(Check, OnlyWhereNothingIsComputedANaNHasItsBits) {
  const auto tensors = [](std::vector<float> values) {
    std::vector<Tensor> list;
    list.push_back(*Tensor::onHost({DType::Float32, {3}}));
    std::ranges::copy(values, list[0].data<float>().begin());
    return list;
  };
  const float nan = std::nanf("");
  EXPECT_TRUE(sameBits(tensors({1, nan, 3}), tensors({1, -nan, 3}), true).isOk());
  EXPECT_EQ(sameBits(tensors({1, nan, 3}), tensors({1, -nan, 3})).message(),
            "output 0 differs in 1 of 3 elements, first at [1]");
  EXPECT_EQ(sameBits(tensors({0, nan, 3}), tensors({-0.0f, 2, 3}), true).message(),
            "output 0 differs in 2 of 3 elements, first at [0]");
}

TEST(Check, ADepartureMayNotExceedItsMagnitude) {
  OpRegistry registry = ops::builtinOps();
  registry.addCreator("cpu", "Exp", highExp("another", DType::Float32, 16));  // 2 to 4 bounds
  const auto check = [&](const std::string& most) {
    return checkAll(registry, "cpu",
                    R"({"cases": [{"op": "Exp", "inputs": [["f32[40]"]]}],
                        "departures": [{"provider": "another", "cases": ["*"], "most": )" +
                        most + R"(, "reason": "rounds"}]})")
        .at(0);
  };
  const CaseResult within = check("5");
  EXPECT_EQ(within.status, CaseStatus::Pass) << within.reason;
  EXPECT_EQ(within.departures, std::vector<std::string>{"another"});
  const CaseResult beyond = check("2");
  EXPECT_TRUE(beyond.failed("providers"));
  EXPECT_NE(beyond.reason.find("bounds, declared are at most 2"), std::string::npos) << beyond.reason;
}

TEST(Check, ADepartureThatTheProviderRefusesIsStale) {
  const auto results = checkAll(withAnother(Break::Nothing), "cpu",
                                R"({"cases": [{"op": "Relu", "inputs": [["f16[9]"]]}],
                                    "departures": [{"provider": "another", "cases": ["*"], "most": 2, "reason": "rounds twice"}]})");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_NE(results[0].reason.find("the provider refuses the case"), std::string::npos) << results[0].reason;
}

TEST(Check, ADepartureIsNotRequiredOfOtherData) {
  const OpRegistry registry = withAnother(Break::Nothing);
  const std::string text = R"({"cases": [{"op": "Relu", "inputs": [["f32[9]"]], "lanes": ["specials"]}],
                               "departures": [{"provider": "another", "cases": ["*"], "reason": "drops NaN"}]})";
  for (const CaseFilter& filter : {CaseFilter{.seed = 8}, CaseFilter{.id = "Relu/f32[11]/specials/seed=7"}}) {
    const auto catalogue = applyFilter(*parseCaseFile("test", text, registry), filter, registry);
    ASSERT_TRUE(catalogue) << catalogue.error().message();
    const Case& c = catalogue->groups[0].cases[0];
    ASSERT_EQ(c.departures.size(), 1u);
    EXPECT_FALSE(c.departures.at("another").required);
    const CaseResult result = Checker(registry, "cpu", *createRuntime("cpu"))
                                  .checkGroup(prepareGroup(catalogue->groups[0], registry))
                                  .front();
    EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  }
}

TEST(Check, ABriefCheckStaysInOneSession) {
  const OpRegistry registry = ops::builtinOps();
  const auto catalogue = parseCaseFile("test", kCases, registry);
  ASSERT_TRUE(catalogue);
  for (const bool brief : {true, false}) {
    const auto results =
        Checker(registry, "cpu", *createRuntime("cpu")).checkGroup(prepareGroup(catalogue->groups[0], registry, brief));
    ASSERT_FALSE(results.empty());
    EXPECT_EQ(results[0].status, CaseStatus::Pass) << results[0].reason;
    std::set<std::string> inOne, others;
    for (const SubCheck& sub : results[0].subChecks) (isOfOneSession(sub.name) ? inOne : others).insert(sub.name);
    EXPECT_EQ(others.empty(), brief) << fmt::format("{}", fmt::join(others, " "));
    EXPECT_TRUE(inOne.contains("accuracy") && inOne.contains("canary") && inOne.contains("clone"));
  }
}

TEST(Check, AFailureIsExplained) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, Break::KeepsStaleState);
  const auto results = checkAll(registry, "cpu", R"({"cases": [{"op": "Relu", "inputs": [["f32[7]"], ["f32[65]"]]}]})");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].diagnosisKind, "unwritten") << results[1].diagnosis;
  EXPECT_NE(results[1].map.find('#'), std::string::npos);
}

#ifdef OPKIT_HAS_VULKAN
TEST(Check, EveryInstanceOfAVulkanKernelMustGiveTheSameBits) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const auto noticed = noticedBy("vulkan", Break::FlipsSign);
  for (const char* name : {"clone", "recording", "reuse", "resize", "caches"})
    EXPECT_TRUE(noticed.contains(name)) << name;
}

TEST(Check, ImageKernelsAreReusedToo) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  if (!(*createRuntime("vulkan"))->device().software) GTEST_SKIP() << "images are what software devices prefer";
  const std::string cases = R"({"cases": [{"op": "MaxPool", "params": {"kernel_shape": [2, 3]},
                                           "inputs": [["f32[1,5,6,7]"], ["f32[2,3,9,4]"]]}]})";
  const auto right = checkAll(ops::builtinOps(), "vulkan", cases);
  ASSERT_EQ(right.size(), 2u);
  EXPECT_EQ(right[0].status, CaseStatus::Pass) << right[0].reason;
  const auto made = [](const SubCheck& sub) { return sub.name == "reuse"; };
  EXPECT_TRUE(std::any_of(right[0].subChecks.begin(), right[0].subChecks.end(), made));
  OpRegistry registry = ops::builtinOps();
  addStaleImageKernel(registry, "MaxPool");
  const auto results = checkAll(registry, "vulkan", cases);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].provider, "stale");
  EXPECT_TRUE(results[0].failed("reuse") || results[1].failed("reuse")) << results[0].reason << results[1].reason;
}

TEST(Check, MessagesOfTheValidationLayersFail) {
  const RuntimeOptions layers{.validation = Validation::Core};
  if (!OPKIT_VALIDATION_TESTS) GTEST_SKIP() << "the validation layers are not installed";
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan", layers));
  const auto statusOf = [&](Break how) {
    OpRegistry registry = ops::builtinOps();
    addBrokenVulkan(registry, how);
    return checkAll(registry, "vulkan", R"({"cases": [{"op": "Relu", "inputs": [["f32[9]"]]}]})", layers).front();
  };
  EXPECT_EQ(statusOf(Break::Nothing).status, CaseStatus::Pass);
  const CaseResult result = statusOf(Break::BreaksVulkansRules);
  EXPECT_TRUE(result.failed("validation")) << result.reason;
}

TEST(Check, RefusalsMustBeDeclaredAndTrue) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const auto statusOf = [](const std::string& entry) {
    return checkAll(ops::builtinOps(), "vulkan", R"({"cases": [{"op": "Erf", )" + entry + "}]}").front().status;
  };
  EXPECT_EQ(statusOf(R"("inputs": [["f64[3]"]])"), CaseStatus::Fallback);
  EXPECT_EQ(statusOf(R"("inputs": [["f64[3]"]], "fallback": {"vulkan": "no f64 variant"})"), CaseStatus::Unsupported);
  EXPECT_EQ(statusOf(R"("inputs": [["f64[3]"]], "fallback": {"vulkan": "another reason"})"), CaseStatus::Fail);
  EXPECT_EQ(statusOf(R"("inputs": [["f32[3]"]], "fallback": {"vulkan": "no f64 variant"})"), CaseStatus::Fail);
}

TEST(Check, AnOracleIsNotComparedWithItself) {
  OpRegistry registry;
  registry.add(*ops::builtinOps().find("Relu"));  // without kernels
  const CaseResult bare = checkOne(registry, "cpu", R"("inputs": [["f32[9]"]])");
  EXPECT_EQ(bare.status, CaseStatus::Fail);
  EXPECT_TRUE(bare.failed("independence")) << bare.reason;
  const std::string declared = R"("inputs": [["f32[9]"]], "unproved": {"cpu": "no kernel yet"})";
  const CaseResult unproved = checkOne(registry, "cpu", declared);
  EXPECT_EQ(unproved.status, CaseStatus::Unproved);
  EXPECT_EQ(unproved.reason, "no kernel yet");
  EXPECT_FALSE(isFailure(unproved.status) || isExecuted(unproved.status));
  EXPECT_TRUE(checkOne(ops::builtinOps(), "cpu", declared).failed("independence")) << "the declaration is stale";
  EXPECT_EQ(checkOne(registry, "reference", R"("inputs": [["f32[9]"]])").status, CaseStatus::Pass);

  registry.addCreator("cpu", "Relu", {.provider = "never", .supports = [](const CreateArgs&) {
                                        return Status::unsupported("Relu: no");
                                      }});
  EXPECT_TRUE(checkOne(registry, "cpu", R"("inputs": [["f32[9]"]])").failed("independence")) << "it always refuses";
}

TEST(Check, FindsKernelsThatNoCaseRuns) {
  OpRegistry registry = ops::builtinOps();
  const OpDef& relu = *registry.find("Relu");
  const auto never = [&] {
    std::set<KernelUse> ran;
    for (const CaseResult& result :
         checkAll(registry, "cpu", R"({"cases": [{"op": "Relu", "inputs": [["T[9]"]], "T": ["f32", "f16", "f64"]}]})"))
      ran.insert({kernelName(result.provider, result.kernel), result.dtype});
    std::vector<std::string> names;
    for (const Creator& creator : kernelsThatNeverRan(registry, "cpu", relu, ran)) names.push_back(creator.kernel);
    return names;
  };
  EXPECT_EQ(never(), std::vector<std::string>());
  registry.addFirstCreator(
      "cpu", "Relu", {.supports = [](const CreateArgs&) { return Status::unsupported("Relu: no"); }, .kernel = "shy"});
  EXPECT_EQ(never(), std::vector<std::string>{"shy"});
}

TEST(Check, AKernelOfOneNameMustRunEachOfItsTables) {
  OpRegistry registry = ops::builtinOps();
  const std::set<KernelUse> floats = {{"opkit", "f32"}};
  const OpDef& relu = *registry.find("Relu");
  const size_t before = kernelsThatNeverRan(registry, "cpu", relu, floats).size();
  registry.addCreator(
      "cpu", "Relu",
      {.supports = [](const CreateArgs&) { return Status::unsupported("Relu: no"); }, .dtypes = DTypeSet(DType::Int4)});
  EXPECT_EQ(kernelsThatNeverRan(registry, "cpu", relu, floats).size(), before + 1);
}

TEST(Check, HalvesRunAKernelOfFloatsIfTheOperatorTakesNoFloats) {
  OpRegistry registry;
  OpDef half = *ops::builtinOps().find("Relu");
  half.type = "Half", half.inputs.front().dtypes = DTypeSet(DType::Float16), half.lower = nullptr;
  registry.add(half);
  registry.addCreator("cpu", "Half", {.provider = "opkit", .dtypes = DTypeSet(DType::Float32)});
  EXPECT_EQ(kernelsThatNeverRan(registry, "cpu", half, {}).size(), 1u);
  EXPECT_TRUE(kernelsThatNeverRan(registry, "cpu", half, {{kernelName("opkit", ""), "f16"}}).empty());
}

TEST(Check, KernelsOfOtherDeviceClassesRunInVariants) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const OpRegistry& registry = ops::builtinOps();
  const CaseResult result =
      checkAll(registry, "vulkan", R"({"cases": [{"op": "MatMul", "inputs": [["f32[64,64]", "f32[64,64]"]]}]})")
          .front();
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  EXPECT_FALSE(result.kernel == "shared");
  EXPECT_TRUE(result.variantKernels.contains("opkit/shared"))
      << fmt::format("{}", fmt::join(result.variantKernels, " "));
}

TEST(Check, ALimitOfTheDeviceDeclaresARefusal) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  OpRegistry registry = ops::builtinOps();
  const auto refuseAs = [&](const std::string& provider, Status (*verdict)(const CreateArgs& args)) {
    registry.addFirstCreator("vulkan", "Erf", {.provider = provider, .supports = verdict});
  };
  const auto check = [&](const std::string& more = "") {
    const std::string entry = R"({"cases": [{"op": "Erf", "inputs": [["f64[3]"]])" + more + "}]}";
    return checkAll(registry, "vulkan", entry).front();
  };
  refuseAs("never", [](const CreateArgs&) { return Status::unsupported("Erf: no f64"); });
  EXPECT_EQ(check().status, CaseStatus::Fallback);
  refuseAs("elsewhere", [](const CreateArgs&) { return Status::unsupportedByDevice("Erf: the device is too small"); });
  const auto lesser = [&](const std::string& more = "") {
    const std::string entry = R"({"cases": [{"op": "Erf", "inputs": [["f64[3]"]])" + more + "}]}";
    return checkAll(registry, "vulkan", entry, {.mask = "no-byte-dots"}).front();
  };
  EXPECT_EQ(lesser().status, CaseStatus::Unsupported);
  EXPECT_NE(lesser().reason.find("the device is too small"), std::string::npos) << lesser().reason;
  EXPECT_EQ(lesser(R"(, "fallback": {"vulkan": "another reason"})").status, CaseStatus::Unsupported);
  const auto runtime = *createRuntime("vulkan");
  if (runtime->device().software) {
    EXPECT_EQ(lackOf(*runtime), "") << "no refusal is questioned on " << runtime->device().name;
  }
  if (!lackOf(*runtime).empty()) GTEST_SKIP() << runtime->device().name << " lacks " << lackOf(*runtime);
  EXPECT_EQ(check().status, CaseStatus::Fallback);
  EXPECT_NE(check().reason.find("refused by a device that has what our kernels need"), std::string::npos);
  EXPECT_EQ(check(R"(, "loops": {"any": "too small"})").status, CaseStatus::Unsupported);
}

TEST(Check, WhatTheLoopLimitRefusesIsDeclaredByIt) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  OpRegistry registry = ops::builtinOps();
  const auto check = [&](const std::string& inputs, const std::string& more = "") {
    const auto results =
        checkAll(registry, "vulkan", R"({"cases": [{"op": "MatMul", "inputs": [[)" + inputs + "]]" + more + "}]}",
                 {.mask = "loops=64"});
    return results.empty() ? CaseResult() : results.front();
  };
  const std::string fits = R"("i32[2,63]", "i32[63,2]")", tooLong = R"("i32[2,64]", "i32[64,2]")";
  EXPECT_EQ(check(fits).status, CaseStatus::Pass);
  const CaseResult refused = check(tooLong);
  EXPECT_EQ(refused.status, CaseStatus::Unsupported);
  EXPECT_NE(refused.reason.find("ends loops after 64 iterations of an invocation, the kernel needs 65"),
            std::string::npos)
      << refused.reason;
  EXPECT_EQ(check(fits, R"(, "loops": 64)").status, CaseStatus::Pass);
  EXPECT_EQ(check(tooLong, R"(, "loops": 65)").status, CaseStatus::Unsupported);
  const CaseResult tooEarly = check(tooLong, R"(, "loops": 64)");
  EXPECT_EQ(tooEarly.status, CaseStatus::Fallback);
  EXPECT_TRUE(tooEarly.failed("placement")) << tooEarly.reason;
  const auto other =
      checkAll(registry, "vulkan", R"({"cases": [{"op": "Erf", "inputs": [["f64[3]"]]}]})", {.mask = "loops=64"});
  EXPECT_EQ(other.front().status, CaseStatus::Fallback) << "another reason";
  const auto usual =
      checkAll(registry, "vulkan", R"({"cases": [{"op": "MatMul", "inputs": [["i32[2,65536]", "i32[65536,2]"]]}]})");
  if ((*createRuntime("vulkan"))->device().software) {
    EXPECT_TRUE(usual.front().failed("placement")) << "65,535 iterations do not suffice: " << usual.front().reason;
  }
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

}  // namespace
}  // namespace opkit::harness
