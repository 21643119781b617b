// Kernels that are right as the harness first runs them, and wrong in one other way of running: each must be caught.
#include "harness/check/variants.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/backend/device_test_support.h"
#include "harness/check/check.h"
#include "harness/check/placement_check.h"
#include "ops/builtin_ops.h"
#ifdef OPKIT_HAS_VULKAN
#include "harness/testing/broken_kernels.h"
#endif

namespace opkit::harness {
namespace {

/// The result of the first case of `entry`, an entry of a case file without its operator, which is Relu.
CaseResult checkRelu(const OpRegistry& registry, const std::string& backend, const std::string& entry) {
  CaseResult none;
  const auto runtime = createRuntime(backend, {});
  const auto catalogue = parseCaseFile("test", R"({"cases": [{"op": "Relu", )" + entry + "}]}", registry);
  EXPECT_TRUE(catalogue && runtime) << catalogue.error().message();
  if (!runtime || !catalogue) return none;
  Checker checker(registry, backend, *runtime);
  checker.setRuntimeOptions({});
  return checker.checkGroup(prepareGroup(catalogue->groups.front(), registry)).front();
}

TEST(Placement, ALimitOfLoopsCountsIfNothingElseRefuses) {
  Placement row;
  EXPECT_EQ(loopLimitOf(row), 0u);
  row.refusals = {{"opkit", "volumes only"}, {"opkit", "the device ends loops", true, 65535}};
  EXPECT_EQ(loopLimitOf(row), 65535u);
  row.refusals.push_back({"opkit", "3 work groups along y, the device allows 2", true});
  EXPECT_EQ(loopLimitOf(row), 0u) << "another kernel with short loops";
}

enum class Fault { Nothing, ChangesInput, ClearsOutputFirst, ReadsAlignedAddress, OtherBitsInBatches };

class FaultyRelu final : public Execution {
 public:
  FaultyRelu(Fault fault, Backend& backend) : fault_(fault), backend_(backend) {}

  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    ++backend_.counters().dispatches;
    const std::span<float> x = inputs[0]->data<float>(), y = outputs[0]->data<float>();
    const bool unaligned = reinterpret_cast<uintptr_t>(x.data()) % 64 == sizeof(float);
    const bool batch = inputs[0]->desc.shape.front() > 1;
    if (fault_ == Fault::ClearsOutputFirst) std::ranges::fill(y, 0.0f);
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = std::max(x[i], 0.0f);
      if (fault_ == Fault::ReadsAlignedAddress && unaligned) y[i] += 1;
      if (fault_ == Fault::OtherBitsInBatches && batch && y[i] > 0) y[i] = std::nextafter(y[i], 9.0f);
    }
    if (fault_ == Fault::ChangesInput && !x.empty()) x[x.size() / 2] += 1;
    return Status::ok();
  }

 private:
  Fault fault_;
  Backend& backend_;
};

Creator faulty(Fault fault, const std::string& kernel) {
  return {.provider = "faulty",
          .supports = [](const CreateArgs&) { return Status::ok(); },
          .create = [fault](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
            return std::unique_ptr<Execution>(std::make_unique<FaultyRelu>(fault, backend));
          },
          .dtypes = DTypeSet(DType::Float32),
          .kernel = kernel};
}

struct VariantFault {
  Fault fault;
  const char* caughtBy;
};
std::ostream& operator<<(std::ostream& out, const VariantFault& e) { return out << e.caughtBy; }

class OtherRun : public testing::TestWithParam<VariantFault> {};

TEST_P(OtherRun, IsCaught) {
  OpRegistry registry = ops::builtinOps();
  OpDef loose = *registry.find("Relu");
  loose.numeric = NumericClass::Transcendental;  // so that one ULP is within the bound
  registry.replace(loose);
  registry.addFirstCreator("cpu", "Relu", faulty(GetParam().fault, ""));
  const CaseResult result = checkRelu(registry, "cpu", R"("inputs": [["f32[5,7]"]])");
  EXPECT_EQ(result.provider, "faulty") << result.reason;
  EXPECT_TRUE(result.failed(GetParam().caughtBy)) << result.reason;
  for (const char* before : {"accuracy", "repeat", "clone"}) EXPECT_FALSE(result.failed(before)) << before;
}

INSTANTIATE_TEST_SUITE_P(Cpu, OtherRun,
                         testing::Values(VariantFault{Fault::ChangesInput, "inputs"},
                                         VariantFault{Fault::ClearsOutputFirst, "aliased"},
                                         VariantFault{Fault::ReadsAlignedAddress, "offsets"},
                                         VariantFault{Fault::OtherBitsInBatches, "batch"}),
                         [](const auto& test) { return std::string(test.param.caughtBy); });

TEST(Variants, EveryKernelOfAProviderMustAgree) {
  const auto checkWithSecond = [](Fault second) {
    OpRegistry registry = ops::builtinOps();
    registry.addFirstCreator("cpu", "Relu", faulty(second, "second"));
    registry.addFirstCreator("cpu", "Relu", faulty(Fault::Nothing, "first"));
    return checkRelu(registry, "cpu", R"("inputs": [["f32[5,7]"]])");
  };
  EXPECT_EQ(checkWithSecond(Fault::Nothing).status, CaseStatus::Pass);
  const CaseResult result = checkWithSecond(Fault::OtherBitsInBatches);
  EXPECT_EQ(result.kernel, "first");
  EXPECT_TRUE(result.failed("providers"));
  EXPECT_NE(result.reason.find("faulty/second"), std::string::npos) << result.reason;
  EXPECT_FALSE(result.diagnosis.empty());
}

#ifdef OPKIT_HAS_VULKAN
/// A Creator of Relu on Vulkan that is wrong where `isWrong` says so.
OpRegistry withVulkan(const std::function<bool(const CreateArgs&)>& isWrong) {
  const auto makerOf = [](Break how) {
    OpRegistry registry = ops::builtinOps();
    addBrokenVulkan(registry, how);
    return registry.creators("vulkan", "Relu").front();
  };
  Creator creator = makerOf(Break::Nothing);
  creator.create = [isWrong, right = creator.create, wrong = makerOf(Break::FlipsSign).create](const CreateArgs& args,
                                                                                               Backend& backend) {
    return (isWrong(args) ? wrong : right)(args, backend);
  };
  OpRegistry registry = ops::builtinOps();
  registry.addFirstCreator("vulkan", "Relu", creator);
  return registry;
}

void expectVariant(const OpRegistry& registry, const char* name) {
  const CaseResult result = checkRelu(registry, "vulkan", R"("inputs": [["f32[5,7]"]])");
  EXPECT_EQ(result.provider, "broken") << result.reason;
  EXPECT_TRUE(result.failed("variants")) << result.reason;
  EXPECT_NE(result.reason.find(name), std::string::npos) << result.reason;
  EXPECT_FALSE(result.diagnosis.empty()) << "a failure of a variant is explained like any other";
  EXPECT_FALSE(result.map.empty());
}

TEST(Variants, AKernelThatIsWrongInAnotherDeviceClassIsCaught) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  expectVariant(
      withVulkan([](const CreateArgs& args) { return std::string(args.device.deviceClass->name) == "discrete"; }),
      "device class discrete");
}

TEST(Variants, AKernelThatIsWrongBesideBuffersIsCaught) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  expectVariant(withVulkan([](const CreateArgs& args) {
                  return args.device.deviceClass->prefersImages && args.device.imageExtent == 0;
                }),
                "device class software with buffers");
}

TEST(Variants, AKernelThatIsWrongWhereLoopsAreShortIsCaught) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  expectVariant(withVulkan([](const CreateArgs& args) { return args.device.loopIterations <= 1024; }),
                "loops of at most ");
}

TEST(Variants, AnAlternativeThatTheTunerMightChooseIsCaught) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  OpRegistry registry = ops::builtinOps();
  addBrokenAlternative(registry);
  expectVariant(registry, "alternative 1 of 2");
}
#endif

}  // namespace
}  // namespace opkit::harness
