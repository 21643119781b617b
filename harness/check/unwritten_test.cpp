// An element that nobody wrote is found in every dtype, also where its poison was narrowed or converted on the way.
#include <gtest/gtest.h>

#include <array>

#include "engine/backend/cpu/widened.h"
#include "harness/testing/function_kernel.h"

namespace opkit::harness {
namespace {

/// A kernel that leaves the middle of its first output as it was.
class LeavesOneOut final : public Execution {
 public:
  explicit LeavesOneOut(std::unique_ptr<Execution> inner) : inner_(std::move(inner)) {}
  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    return inner_->scratchBytes(inputs, outputs);
  }
  Status onResize(TensorList inputs, TensorList outputs) override {
    inner_->setScratch(scratch());
    return inner_->onResize(inputs, outputs);
  }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    const size_t size = sizeOf(outputs[0]->desc.dtype), count = static_cast<size_t>(outputs[0]->desc.elements());
    const auto middle = outputs[0]->bytes().subspan(count / 2 * size, size);
    std::array<std::byte, 8> before{};
    std::ranges::copy(middle, before.begin());
    OPKIT_TRY(inner_->onExecute(inputs, outputs));
    std::copy_n(before.begin(), size, middle.begin());
    return Status::ok();
  }
  bool readsInput(size_t index) const override { return inner_->readsInput(index); }

 private:
  std::unique_ptr<Execution> inner_;
};

/// The operators with such copies of the CPU's kernels for `op`, before the right ones and widened like them.
OpRegistry withUnwritten(const std::string& op) {
  OpRegistry registry = ops::builtinOps();
  const auto own = registry.creators("cpu", op);
  std::vector<Creator> copies(own.begin(), own.end());
  for (Creator& creator : copies)
    creator.create = [right = creator.create](const CreateArgs& args,
                                              Backend& backend) -> Result<std::unique_ptr<Execution>> {
      OPKIT_ASSIGN(auto made, right(args, backend));
      return std::unique_ptr<Execution>(std::make_unique<LeavesOneOut>(std::move(made)));
    };
  std::ranges::copy(cpu::widenedKernels(*registry.find(op), copies), std::back_inserter(copies));
  for (size_t i = copies.size(); i-- > 0;) {
    copies[i].kernel = fmt::format("broken{}", i);
    registry.addFirstCreator("cpu", op, copies[i]);
  }
  return registry;
}

struct Unwritten {
  const char* kernelOf;
  const char* entry;
};
std::ostream& operator<<(std::ostream& out, const Unwritten& test) { return out << test.entry; }

class UnwrittenElement : public testing::TestWithParam<Unwritten> {};

TEST_P(UnwrittenElement, IsFoundAndNamed) {
  const OpRegistry registry = withUnwritten(GetParam().kernelOf);
  const auto results = checkEntry(registry, "cpu", fmt::format("{{{}}}", GetParam().entry));
  ASSERT_EQ(results.size(), 1u);
  const CaseResult& result = results[0];
  EXPECT_TRUE(result.failed("poison")) << result.reason << "; " << result.diagnosis;
  EXPECT_FALSE(result.failed("repeat")) << result.reason;
  EXPECT_EQ(result.diagnosisKind, "unwritten") << result.diagnosis;
  EXPECT_NE(result.diagnosis.find("never written"), std::string::npos) << result.diagnosis;
}

INSTANTIATE_TEST_SUITE_P(
    Check, UnwrittenElement,
    testing::Values(Unwritten{"Relu", R"("op": "Relu", "inputs": [["f32[37]"]])"},
                    Unwritten{"Abs", R"("op": "Abs", "inputs": [["i64[37]"]])"},
                    Unwritten{"Abs", R"("op": "Abs", "inputs": [["i8[37]"]])"},
                    Unwritten{"Equal", R"("op": "Equal", "inputs": [["i32[37]", "i32[37]"]])"},
                    Unwritten{"Cast", R"("op": "Cast", "inputs": [["f32[37]"]], "params": [{"to": "bf16"}])"},
                    Unwritten{"Cast", R"("op": "Cast", "inputs": [["f32[37]"]], "params": [{"to": "f8e5m2"}])"},
                    // Narrowed: in vectors, and one by one.
                    Unwritten{"Softmax", R"("op": "Softmax", "inputs": [["f16[5,37]"]])"},
                    Unwritten{"Softmax", R"("op": "Softmax", "inputs": [["f16[3]"]])"},
                    // Between the parts of an operator: a float becomes f16, true becomes 1, an index finds nothing.
                    Unwritten{"Mul", R"("op": "MeanVarianceNormalization", "inputs": [["f16[2,3,5,5]"]])"},
                    Unwritten{"Equal", R"("op": "Hardmax", "inputs": [["f32[3,7]"]])"},
                    Unwritten{"ArgMax", R"("op": "Hardmax", "inputs": [["f32[3,7]"]])"}));

}  // namespace
}  // namespace opkit::harness
