// Widened kernels under a harness: what a kernel leaves unwritten keeps its poison.
#include "engine/backend/cpu/widened.h"

#include <gtest/gtest.h>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/op_runner.h"

namespace opkit::cpu {
namespace {

/// Copies all elements but the last of each block.
class DropsLast final : public CpuKernel, public ElementwiseRows {
 public:
  using CpuKernel::CpuKernel;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    std::copy_n(floatsOf(*inputs[0]), outputs[0]->desc.elements() - 1, floatsOf(*outputs[0]));
    return Status::ok();
  }
};

constexpr int64_t kElements = 100'000;  // two blocks on one thread

/// What the kernel leaves of outputs that hold `poison`.
std::vector<uint16_t> runOver(uint16_t poison) {
  const OpRegistry registry;
  const auto backend = *(*createRuntime({}))->createBackend(registry, {.threads = 1});
  const OpDef def{.type = "Copies"};
  const TensorDesc desc{DType::Float16, {kElements}}, *input = &desc;
  const CreateArgs args{def, {}, {&input, 1}, {&desc, 1}, {}, backend->caps()};
  const auto guarded = [&](Tensor described) {
    auto placed = onDevice(*backend, std::move(described));
    if (placed) placed->guardBytes = 64;
    return placed;
  };
  OpRunner runner(*backend, *widenedKernel(floatKernel<DropsLast>()).create(args, *backend), Layout::NCHW, {guarded});
  EXPECT_TRUE(runner.place({&input, 1}, {&desc, 1}).isOk());
  const auto x = *Tensor::onHost(desc), y = *Tensor::onHost(desc);
  std::ranges::fill(x.data<uint16_t>(), uint16_t{0x3C00});  // 1
  std::ranges::fill(y.data<uint16_t>(), poison);
  EXPECT_TRUE(runner.upload(0, x).isOk() && runner.uploadOutput(0, y).isOk() && runner.resize().isOk());
  EXPECT_TRUE(runner.run().isOk() && runner.download(0, y).isOk());
  const auto values = y.data<uint16_t>();
  return {values.begin(), values.end()};
}

TEST(Widened, AnUnwrittenElementOfEachBlockKeepsItsPoison) {
  const std::vector<uint16_t> result = runOver(0x5A5A);
  EXPECT_EQ(result.back(), 0x5A5A);
  const auto unwritten = std::ranges::count(result, 0x5A5A);
  EXPECT_GT(unwritten, 1);
  EXPECT_EQ(std::ranges::count(result, 0x3C00), kElements - unwritten);
}

}  // namespace
}  // namespace opkit::cpu
