// The sub-check `pages` is behind constants while a kernel packs them: when it is made, and at its first resize.
#include <gtest/gtest.h>

#include "harness/testing/function_kernel.h"

namespace opkit::harness {
namespace {

enum class Packs { WhenMade, AtResize };

/// x + w; packs w, and reads as many elements beyond it as it is told.
class PackingAdd final : public Execution {
 public:
  PackingAdd(const Tensor& w, Packs when, size_t beyond, Backend& backend)
      : w_(w), when_(when), beyond_(beyond), backend_(backend) {
    if (when_ == Packs::WhenMade) pack();
  }
  Status onResize(TensorList, TensorList) override {
    if (when_ == Packs::AtResize && packed_.empty()) pack();
    return Status::ok();
  }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    ++backend_.counters().dispatches;
    const auto x = inputs[0]->data<float>(), y = outputs[0]->data<float>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] + packed_[i];
    return Status::ok();
  }
  bool readsInput(size_t index) const override { return index == 0; }

 private:
  /// The harness is to catch this, not a sanitizer.
  __attribute__((no_sanitize("address", "thread", "undefined"))) void pack() {
    const auto w = w_.data<float>();
    const volatile float* from = w.data();
    packed_.reserve(w.size() + beyond_);
    for (size_t i = 0; i < w.size() + beyond_; ++i) packed_.push_back(float{from[i]});
  }

  Tensor w_;
  Packs when_;
  size_t beyond_;
  Backend& backend_;
  std::vector<float> packed_;
};

/// f32[n] + a constant f32[n].
CaseResult checkAdd(Packs when, size_t beyond, size_t count) {
  OpRegistry registry = ops::builtinOps();
  registry.addFirstCreator(
      "cpu", "Add",
      {.provider = "broken",
       .supports =
           [](const CreateArgs& args) {
             return args.constant(1) ? Status::ok() : Status::unsupported("Add: for a constant");
           },
       .create = [=](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
         return std::unique_ptr<Execution>(std::make_unique<PackingAdd>(*args.constant(1), when, beyond, backend));
       },
       .dtypes = DTypeSet(DType::Float32)});
  const auto results = checkEntry(
      registry, "cpu", fmt::format(R"({{"op": "Add", "inputs": [["f32[{0}]", "f32[{0}]"]], "constant": [1]}})", count));
  EXPECT_EQ(results.size(), 1u);
  return results.empty() ? CaseResult() : results.front();
}

std::string messageOf(const CaseResult& result, std::string_view name) {
  for (const SubCheck& sub : result.subChecks)
    if (sub.name == name) return sub.message;
  return "";
}

TEST(ConstantPages, AKernelThatPacksWhatIsThereIsInOrder) {
  for (const Packs when : {Packs::WhenMade, Packs::AtResize}) {
    const CaseResult result = checkAdd(when, 0, 17);
    EXPECT_EQ(result.provider, "broken");
    EXPECT_FALSE(result.failed("pages")) << result.reason;
    EXPECT_FALSE(result.failed("accuracy")) << result.reason;
  }
}

TEST(ConstantPages, AnElementBeyondAConstantIsOneLine) {
  for (const Packs when : {Packs::WhenMade, Packs::AtResize})
    for (const size_t count : {16, 17}) {  // a whole cache line, and one that is begun
      const CaseResult result = checkAdd(when, 1, count);
      EXPECT_TRUE(result.failed("pages")) << result.reason;
      EXPECT_EQ(messageOf(result, "pages"),
                fmt::format("the kernel touched memory 1 bytes past the end of f32[{}]", count));
    }
}

}  // namespace
}  // namespace opkit::harness
