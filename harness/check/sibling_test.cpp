// A kernel that keeps a form of a constant under a name that lacks something is found beside nodes that share it.
#include <gtest/gtest.h>

#include "harness/testing/function_kernel.h"
#include "ops/gemm/gemm.h"

namespace opkit::harness {
namespace {

constexpr const char* kEntry =
    R"({"op": "Gemm", "params": {"alpha": 0.5}, "inputs": [["f32[5,6]", "f32[6,7]"]], "constant": [1]})";

/// Gemm of [m, k] and a constant [k, n], of which it keeps alpha times the values.
class KeepsScaled final : public Execution {
 public:
  KeepsScaled(float alpha, std::string name, Backend& backend)
      : alpha_(alpha), name_(std::move(name)), backend_(backend) {}
  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(kept_, backend_.constants().get<Tensor>(*inputs[1], name_, [&]() -> Result<Tensor> {
      OPKIT_ASSIGN(Tensor scaled, copyOf(*inputs[1]));
      for (float& v : scaled.data<float>()) v *= alpha_;
      return scaled;
    }));
    return Status::ok();
  }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    ++backend_.counters().dispatches;
    const auto a = inputs[0]->data<float>(), b = kept_->data<float>(), y = outputs[0]->data<float>();
    const size_t k = static_cast<size_t>(inputs[1]->desc.shape[0]), n = static_cast<size_t>(inputs[1]->desc.shape[1]);
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = 0;
      for (size_t j = 0; j < k; ++j) y[i] += a[i / n * k + j] * b[j * n + i % n];
    }
    return Status::ok();
  }

 private:
  float alpha_;
  std::string name_;
  Backend& backend_;
  std::shared_ptr<const Tensor> kept_;  // shared with nodes that keep the same form
};

/// `always`: the kernel takes it for alpha, whatever that is.
CaseResult checkKept(bool isNamedByAlpha, std::optional<float> always = {}) {
  OpRegistry registry = ops::builtinOps();
  registry.addFirstCreator(
      "cpu", "Gemm",
      {.provider = "keeping",
       .supports =
           [](const CreateArgs& args) {
             const auto params = args.params<ops::gemm::GemmParams>();
             const bool fits = args.constant(1) && !params.trans_a && !params.trans_b && args.inputs.size() == 2;
             return fits && args.inputs[1]->dtype == DType::Float32 ? Status::ok() : Status::unsupported("other");
           },
       .create = [=](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
         const float alpha = always.value_or(args.params<ops::gemm::GemmParams>().alpha);
         std::string name = isNamedByAlpha ? fmt::format("scaled by {}", alpha) : "scaled";
         return std::unique_ptr<Execution>(std::make_unique<KeepsScaled>(alpha, std::move(name), backend));
       }});
  return checkEntry(registry, "cpu", kEntry).front();
}

TEST(Siblings, ANameThatLacksAParameterIsCaught) {
  const CaseResult result = checkKept(false);
  EXPECT_EQ(result.provider, "keeping");
  EXPECT_TRUE(result.failed("siblings")) << result.reason;
  EXPECT_NE(result.reason.find("a node with \"alpha\" = 2.0, beside nodes that share its constants"), std::string::npos)
      << result.reason;
  EXPECT_NE(result.diagnosis.find("lacks a parameter"), std::string::npos) << result.diagnosis;
}

TEST(Siblings, ANodeThatIsWrongAloneIsSaidToBe) {
  const CaseResult result = checkKept(true, 0.5f);
  EXPECT_TRUE(result.failed("siblings")) << result.reason;
  EXPECT_NE(result.reason.find("a node with \"alpha\" = 2.0, alone"), std::string::npos) << result.reason;
  EXPECT_EQ(result.diagnosis.find("lacks a parameter"), std::string::npos) << result.diagnosis;
}

TEST(Siblings, ANameWithAllParametersPasses) {
  const CaseResult result = checkKept(true);
  EXPECT_EQ(result.provider, "keeping");
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  const auto isSiblings = [](const SubCheck& sub) { return sub.name == "siblings"; };
  EXPECT_TRUE(std::ranges::any_of(result.subChecks, isSiblings));
}

TEST(Siblings, WithoutConstantsThereAreNone) {
  const CaseResult result =
      checkEntry(ops::builtinOps(), "cpu", R"({"op": "Gemm", "inputs": [["f32[5,6]", "f32[6,7]"]]})").front();
  const auto note = std::ranges::find(result.notRun, "siblings", &NotRun::name);
  ASSERT_NE(note, result.notRun.end());
  EXPECT_EQ(note->reason, "no input is a constant that a kernel may keep");
}

}  // namespace
}  // namespace opkit::harness
