// The check of loop limits finds kernels that declare fewer passes than they make, at ordinary sizes.
#include "harness/trace/loop_check.h"

#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "harness/testing/check_all.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// What the kernels of an operator are told of the device when they say what they take.
using Told = std::function<uint64_t(uint64_t limit)>;

class LoopCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = createRuntime("vulkan", {});
    OPKIT_NEEDS_DEVICE(made);
    runtime_ = std::dynamic_pointer_cast<vulkan::VulkanRuntime>(*made);
    if (runtime_->loopIterations() == UINT64_MAX) GTEST_SKIP() << "the device ends no loops";
  }

  static OpRegistry registryWhere(const std::string& op, const Told& told) {
    OpRegistry registry = ops::builtinOps();
    std::vector<Creator> lying;
    for (const Creator& creator : registry.creators("vulkan", op)) {
      lying.push_back(creator);
      lying.back().provider = "lying";
      lying.back().supports = [inner = creator.supports, told](const CreateArgs& args) {
        DeviceCaps caps = args.device;
        caps.loopIterations = told(caps.loopIterations);
        return inner({args.def, args.paramBytes, args.inputs, args.outputs, args.constants, caps, args.layouts});
      };
    }
    for (size_t i = lying.size(); i-- > 0;) registry.addFirstCreator("vulkan", op, lying[i]);
    return registry;
  }

  Status check(const std::string& cases, const OpRegistry& registry) {
    const auto catalogue = parseCaseFile("test", R"({"cases": [)" + cases + "]}", registry);
    if (!catalogue) return catalogue.error();
    const PreparedGroup group = prepareGroup(catalogue->groups[0], registry);
    for (const PreparedCase& at : group.cases)
      OPKIT_TRY(checkLoopLimits(at, registry, runtime_).withContext(at.description.id()));
    return Status::ok();
  }

  std::shared_ptr<vulkan::VulkanRuntime> runtime_;
};

struct LoopingKernel {
  const char* op;
  const char* inputs;
};
// A product, a window, a decomposition, a search: loops in each other and behind each other.
const LoopingKernel kLooping[] = {
    {"MatMulInteger", R"("inputs": [["u8[2,700]", "u8[700,3]"]])"},
    {"MaxRoiPool", R"("inputs": [["f32[1,2,40,30]", "f32[2,5]"]], "params": [{"pooled_shape": [1, 1]}],)"
                   R"( "data": [null, {"values": [0, 0, 0, 29, 39]}])"},
    {"Det", R"("inputs": [["f32[2,33,33]"]])"},
};

TEST_F(LoopCheckTest, FindsKernelsThatDeclareNothingOrTooLittle) {
  for (const LoopingKernel& kernel : kLooping) {
    const std::string cases = fmt::format(R"({{"op": "{}", {}}})", kernel.op, kernel.inputs);
    const Status honest = check(cases, ops::builtinOps());
    EXPECT_TRUE(honest.isOk()) << honest.message();
    const Told nothing = [](uint64_t) { return UINT64_MAX; }, half = [](uint64_t limit) { return 2 * limit; };
    for (const Told& told : {nothing, half}) {
      const Status found = check(cases, registryWhere(kernel.op, told));
      EXPECT_EQ(found.code(), StatusCode::Internal) << kernel.op;
      EXPECT_NE(found.message().find("accepted on a device that ends loops after"), std::string::npos)
          << found.message();
    }
  }
}

TEST_F(LoopCheckTest, TakesScansThatAdaptToTheLimit) {
  for (const char* cases : {R"({"op": "CumSum", "inputs": [["f32[2,65534]", "i64[]"]], "constant": [1],)"
                            R"( "data": [null, {"values": [1]}]})",
                            R"({"op": "NonZero", "inputs": [["i8[700,300]"]]})"}) {
    const Status status = check(cases, ops::builtinOps());
    EXPECT_TRUE(status.isOk()) << status.message();
  }
}

TEST_F(LoopCheckTest, HasNothingToSayWithoutADispatch) {
  const Status status = check(R"({"op": "Relu", "inputs": [["f32[0]"]]})", ops::builtinOps());
  EXPECT_EQ(status.code(), StatusCode::Unsupported) << status.message();
}

}  // namespace
}  // namespace opkit::harness
