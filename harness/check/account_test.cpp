// Faults that passed unseen because a sub-check looked away: each must be caught, and no sub-check may be silent.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "engine/backend/device_test_support.h"
#include "harness/check/check.h"
#include "harness/check/sub_checks.h"
#include "harness/testing/broken_kernels.h"
#include "harness/testing/function_kernel.h"
#include "ops/builtin_ops.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/backend/vulkan/vulkan_image.h"
#endif

namespace opkit::harness {
namespace {

/// Its results of 0xFF are left to the poison, which has the same bytes.
TEST(SubChecks, UnwrittenBytesThatEqualThePoisonAreSeen) {
  const auto larger = [](bool writesAll) {
    return withKernel("Max", [writesAll]() -> FunctionKernel::Run {
      return [writesAll](TensorList inputs, TensorList outputs, Backend&) {
        const auto a = inputs[0]->data<uint8_t>(), b = inputs[1]->data<uint8_t>(), y = outputs[0]->data<uint8_t>();
        for (size_t i = 0; i < a.size(); ++i)
          if (writesAll || std::max(a[i], b[i]) != 0xFF) y[i] = std::max(a[i], b[i]);
        return Status::ok();
      };
    });
  };
  const std::string entry =
      R"({"op": "Max", "inputs": [["u8[8,8]", "u8[8,8]"]], "data": [{"values": [255, 1, 7]}, {"value": 3}]})";
  const CaseResult right = checkEntry(larger(true), "cpu", entry).front();
  EXPECT_EQ(right.status, CaseStatus::Pass) << right.reason;
  const CaseResult wrong = checkEntry(larger(false), "cpu", entry).front();
  EXPECT_TRUE(wrong.failed("poison")) << wrong.reason;
  EXPECT_NE(wrong.reason.find("22 of 64 elements were never written"), std::string::npos) << wrong.reason;
}

TEST(SubChecks, AllocationsOnReturningToAKnownShapeAreSeen) {
  const OpRegistry registry = withKernel("Neg", []() -> FunctionKernel::Run {
    return [runs = 0](TensorList inputs, TensorList outputs, Backend& backend) mutable {
      std::ranges::transform(inputs[0]->data<float>(), outputs[0]->data<float>().begin(), std::negate<>());
      return ++runs == 2 ? backend.allocate(64).error() : Status::ok();
    };
  });
  const auto results = checkEntry(registry, "cpu", R"({"op": "Neg", "inputs": [["f32[5]"], ["f32[9]"]]})");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0].failed("resize") || results[1].failed("resize"));
  const std::string& reason = results[0].failed("resize") ? results[0].reason : results[1].reason;
  EXPECT_NE(reason.find("returning to a known shape allocated"), std::string::npos) << reason;
}

TEST(SubChecks, TheVariationsOfAGroupOfOneCaseCount) {
  const std::string entry = R"({"op": "Neg", "inputs": [["f32[7]"]]})";
  const CaseResult right = checkEntry(ops::builtinOps(), "cpu", entry).front();
  EXPECT_EQ(right.status, CaseStatus::Pass) << right.reason;
  EXPECT_EQ(right.stops, 3u);
  EXPECT_EQ(right.furtherStops, 2u) << "f32[8] and f32[1]";
  // Wrong at a variation's shape alone.
  const OpRegistry registry = withKernel("Neg", []() -> FunctionKernel::Run {
    return [](TensorList inputs, TensorList outputs, Backend&) {
      const auto x = inputs[0]->data<float>(), y = outputs[0]->data<float>();
      std::ranges::transform(x, y.begin(), std::negate<>());
      if (x.size() == 8) y[7] += 1;
      return Status::ok();
    };
  });
  const CaseResult wrong = checkEntry(registry, "cpu", entry).front();
  EXPECT_TRUE(wrong.failed("accuracy")) << wrong.reason;
  EXPECT_NE(wrong.reason.find("at f32[8]"), std::string::npos) << wrong.reason;
}

/// Every sub-check of the backend, in every kind of case, ran or says why not.
TEST(SubChecks, NoneIsSilent) {
  const std::array entries = {
      R"({"op": "Relu", "inputs": [["f32[7]"], ["f32[0]"]], "lanes": ["normal", "specials"]})",
      R"({"op": "Relu", "inputs": [["f16[7]"]]})",
      R"({"op": "Transpose", "inputs": [["f32[2,3]"]]})",
      R"({"op": "Shape", "inputs": [["f32[2,3]"]]})",
      R"({"op": "Gelu", "inputs": [["f32[2,3]"]]})",
      R"({"op": "MaxPool", "params": {"kernel_shape": [2, 2]}, "inputs": [["f32[1,3,5,5]"]]})",
      R"({"op": "Add", "inputs": [["f64[3]", "f64[3]"]], "fallback": {"vulkan": "f64"}})",
      R"({"op": "MatMul", "inputs": [["f32[2,3]", "f32[2,3]"]]})"};  // refused: an error of the case
  for (const char* backend : {"cpu", "reference", "vulkan"}) {
    if (!createRuntime(backend)) continue;
    for (const char* entry : entries)
      for (const CaseResult& result : checkEntry(ops::builtinOps(), backend, entry)) {
        SubCheckCounts counts;
        countSubChecks(toRecord(result), counts);
        for (const std::string& name : subChecksOf(backend)) {
          EXPECT_EQ(std::min<size_t>(counts[name].ran, 1) + counts[name].missed(), 1u)
              << name << " of " << result.id << " on " << backend;
          for (const auto& [reason, count] : counts[name].notRun) EXPECT_FALSE(reason.empty()) << name;
        }
      }
  }
}

TEST(SubChecks, ASilentOneFails) {
  CaseResult result;
  result.backend = "cpu";
  for (const std::string& name : subChecksOf("cpu"))
    if (name != "pages") result.check(name, Status::ok());
  accountForSubChecks(result);
  EXPECT_TRUE(result.failed("pages")) << result.reason;
}

#ifdef OPKIT_HAS_VULKAN
constexpr uint32_t kImageSpirv[] = {
#include "harness/broken_image_spirv.inc"
};
constexpr std::array<vulkan::Access, 2> kImageBindings = {vulkan::Access::Image, vulkan::Access::ImageWrite};

class BrokenImage final : public vulkan::VulkanExecution {
 public:
  BrokenImage(uint32_t how, Backend& backend) : VulkanExecution(backend), how_(how) {}
  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const vulkan::ImageShape shape(inputs[0]->desc.shape);
    const std::array<uint32_t, 3> push = {how_, static_cast<uint32_t>(shape.columns()),
                                          static_cast<uint32_t>(shape.rows())};
    const vulkan::ShaderCode code{"harness/broken_image", kImageSpirv, kImageBindings, sizeof(push), 0, {64, 1, 1}};
    const std::array<const Tensor*, 2> tensors = {inputs[0], outputs[0]};
    return encoder.dispatchRaw(code, tensors, std::as_bytes(std::span(push)), {},
                               {static_cast<uint32_t>((shape.texels() + 63) / 64), 1, 1});
  }

 private:
  uint32_t how_;
};

CaseResult checkImage(uint32_t how) {
  OpRegistry registry = ops::builtinOps();
  registry.addFirstCreator("vulkan", "Relu",
                           {.provider = "broken",
                            .supports =
                                [](const CreateArgs& args) {
                                  return args.device.imageExtent > 0 ? Status::ok()
                                                                     : Status::unsupported("Relu: no images");
                                },
                            .create = [how](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
                              return std::unique_ptr<Execution>(std::make_unique<BrokenImage>(how, backend));
                            },
                            .layout = Layout::NC4HW4,
                            .dtypes = DTypeSet(DType::Float32)});
  return checkEntry(registry, "vulkan", R"({"op": "Relu", "inputs": [["f32[1,3,4,5]"]]})").front();
}

TEST(SubChecks, OverrunsOfImagesAreSeen) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const CaseResult right = checkImage(0);
  if (right.provider != "broken") GTEST_SKIP() << "this device prefers buffers";
  EXPECT_EQ(right.status, CaseStatus::Pass) << right.reason;
  const CaseResult beyond = checkImage(1);
  EXPECT_TRUE(beyond.failed("canary")) << beyond.reason;
  EXPECT_NE(beyond.reason.find("wrote 1 to texel (5, 0)"), std::string::npos) << beyond.reason;
  const CaseResult padding = checkImage(2);
  EXPECT_TRUE(padding.failed("canary")) << padding.reason;
  EXPECT_NE(padding.reason.find("component 3"), std::string::npos) << padding.reason;
}
#endif

}  // namespace
}  // namespace opkit::harness
