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
  KeepsScaled(const CreateArgs& args, Backend& backend, bool isNamedByAlpha)
      : alpha_(args.params<ops::gemm::GemmParams>().alpha), backend_(backend) {
    name_ = isNamedByAlpha ? fmt::format("scaled by {}", alpha_) : "scaled";
  }
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

CaseResult checkKept(bool isNamedByAlpha) {
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
         return std::unique_ptr<Execution>(std::make_unique<KeepsScaled>(args, backend, isNamedByAlpha));
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
  OpRegistry registry = ops::builtinOps();
  registry.addFirstCreator(
      "cpu", "Gemm",
      {.provider = "deaf",
       .supports =
           [](const CreateArgs& args) {
             const auto params = args.params<ops::gemm::GemmParams>();
             return params.trans_a || params.trans_b ? Status::unsupported("other") : Status::ok();
           },
       .create = [](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
         const auto product = [](TensorList in, TensorList out, Backend&) {  // of alpha 0.5, whatever it is
           const auto a = in[0]->data<float>(), b = in[1]->data<float>(), y = out[0]->data<float>();
           const auto k = static_cast<size_t>(in[1]->desc.shape[0]), n = static_cast<size_t>(in[1]->desc.shape[1]);
           for (size_t i = 0; i < y.size(); ++i) {
             float sum = 0;
             for (size_t j = 0; j < k; ++j) sum += a[i / n * k + j] * b[j * n + i % n];
             y[i] = sum / 2;
           }
           return Status::ok();
         };
         return std::unique_ptr<Execution>(std::make_unique<FunctionKernel>(product, backend));
       }});
  const CaseResult result = checkEntry(registry, "cpu", kEntry).front();
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
