// RotaryEmbedding on the CPU, f32, row by row.
#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/rotary_embedding/rotary_embedding.h"

namespace opkit::ops::rotary_embedding {
namespace {

/// Turns `pairs` pairs; kStep elements apart, their second element `distance` after the first.
template <int64_t kStep>
void turn(const float* x, const float* cosines, const float* sines, float* y, int64_t pairs, int64_t distance) {
  for (int64_t i = 0; i < pairs; ++i) {
    const float first = x[i * kStep], second = x[i * kStep + distance];
    y[i * kStep] = cosines[i] * first - sines[i] * second;
    y[i * kStep + distance] = sines[i] * first + cosines[i] * second;
  }
}

class RotaryCpu final : public cpu::CpuKernel {
 public:
  RotaryCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<RotaryEmbeddingParams>()) {}

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(plan_, planRotary(params_, inputs[0]->desc.shape, inputs[1]->desc.shape));
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const float *x = floatsOf(*inputs[0]), *cosines = floatsOf(*inputs[1]), *sines = floatsOf(*inputs[2]);
    float* y = floatsOf(*outputs[0]);
    cpu::parallelRows(pool_, plan_.rows(), plan_.size, [&](int64_t row) {
      const float* from = x + row * plan_.size;
      float* to = y + row * plan_.size;
      const int64_t angle = plan_.angleOf(row) * plan_.pairs;
      if (params_.interleaved)
        turn<2>(from, cosines + angle, sines + angle, to, plan_.pairs, 1);
      else
        turn<1>(from, cosines + angle, sines + angle, to, plan_.pairs, plan_.pairs);
      std::copy(from + 2 * plan_.pairs, from + plan_.size, to + 2 * plan_.pairs);
    });
    return Status::ok();
  }

 private:
  RotaryEmbeddingParamsT params_;
  RotaryPlan plan_{};
};

}  // namespace

void addCpu(OpRegistry& registry) { registry.addCreator("cpu", "RotaryEmbedding", cpu::floatKernel<RotaryCpu>()); }

}  // namespace opkit::ops::rotary_embedding
