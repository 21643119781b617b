// LinearRecurrence on the CPU, f32: columns of a state do not depend on each other, so that a task walks all tokens of
// some columns of a head.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/linear_attention/linear_attention.h"
#include "ops/linear_attention/recurrence_wide.h"

namespace opkit::ops::linear_attention {
namespace {

std::vector<const TensorDesc*> descsOf(TensorList tensors) {
  std::vector<const TensorDesc*> descs;
  for (const Tensor* tensor : tensors) descs.push_back(tensor ? &tensor->desc : nullptr);
  return descs;
}

class RecurrenceCpu final : public cpu::CpuKernel {
 public:
  RecurrenceCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<LinearAttentionParams>()) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    return cpu::scratchBytesOf(threadFloats_ * static_cast<int64_t>(pool_.threadCount()));
  }
  Status onResize(TensorList inputs, TensorList) override { return plan(inputs); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const int64_t parts = (plan_.valueSize + kMostColumns - 1) / kMostColumns;
    const auto task = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      float* memory = cpu::scratchFloats(scratch(), static_cast<int64_t>(thread) * threadFloats_);
      runColumns(inputs, outputs, i / parts, i % parts * kMostColumns, memory);
    };
    pool_.parallelFor(static_cast<size_t>(plan_.states() * parts), std::ref(task));
    return Status::ok();
  }

 private:
  Status plan(TensorList inputs) {
    OPKIT_ASSIGN(plan_, planLinear(params_, descsOf(inputs)));
    threadFloats_ = cpu::scratchPart(plan_.keySize * (kMostColumns + 1));
    return Status::ok();
  }

  /// All tokens of some columns of a state; `memory` holds the state and the factors of a decay.
  void runColumns(TensorList inputs, TensorList outputs, int64_t state, int64_t first, float* memory) const {
    const int64_t columns = std::min(kMostColumns, plan_.valueSize - first);
    const int64_t from = state * plan_.keySize * plan_.valueSize + first;
    float* factors = memory + plan_.keySize * kMostColumns;
    for (int64_t i = 0; i < plan_.keySize; ++i) {
      float* row = memory + i * columns;
      if (has(inputs, kPast))
        std::copy_n(floatsOf(*inputs[kPast]) + from + i * plan_.valueSize, columns, row);
      else
        std::fill_n(row, columns, 0.0F);
    }
    for (int64_t token = 0; token < plan_.tokens; ++token)
      stepColumns(stepOf(inputs, *outputs[0], state, first, token, factors), memory);
    if (!has(outputs, 1)) return;
    for (int64_t i = 0; i < plan_.keySize; ++i)
      std::copy_n(memory + i * columns, columns, floatsOf(*outputs[1]) + from + i * plan_.valueSize);
  }

  TokenStep stepOf(TensorList inputs, const Tensor& y, int64_t state, int64_t first, int64_t token,
                   float* factors) const {
    const int64_t head = state % plan_.heads, row = state / plan_.heads * plan_.tokens + token;
    TokenStep step{};
    step.key = floatsOf(*inputs[kKey]) + (row * plan_.heads + head) * plan_.keySize;
    step.value = floatsOf(*inputs[kValue]) + (row * plan_.heads + head) * plan_.valueSize + first;
    step.query = floatsOf(*inputs[kQuery]) + (row * plan_.qHeads + head * plan_.group()) * plan_.keySize;
    step.y = floatsOf(y) + (row * plan_.qHeads + head * plan_.group()) * plan_.valueSize + first;
    if (plan_.decaySize > 0) {
      cpu::expOf(floatsOf(*inputs[kDecay]) + (row * plan_.heads + head) * plan_.decaySize, 0, factors, plan_.decaySize);
      step.decay = factors;
      step.decayStep = plan_.decaySize == 1 ? 0 : 1;
    }
    step.isDelta = plan_.isDelta;
    if (plan_.isDelta) step.beta = floatsOf(*inputs[kBeta])[row * plan_.betaHeads + (plan_.betaHeads == 1 ? 0 : head)];
    step.group = plan_.group();
    step.scale = static_cast<float>(plan_.scale);
    step.yRow = plan_.valueSize;
    step.keySize = plan_.keySize;
    step.columns = std::min(kMostColumns, plan_.valueSize - first);
    return step;
  }

  LinearAttentionParamsT params_;
  LinearPlan plan_{};
  int64_t threadFloats_ = 0;
};

}  // namespace

void addCpu(OpRegistry& registry) { registry.addCreator("cpu", "LinearRecurrence", cpu::floatKernel<RecurrenceCpu>()); }

}  // namespace opkit::ops::linear_attention
