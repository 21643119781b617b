// QuantizationRange on the CPU: two scalars.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/dynamic_quantize/dynamic_quantize_parts.h"

namespace opkit::ops::dynamic_quantize {
namespace {

class RangeCpu final : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    // Comparisons that keep a NaN.
    const float first = floatsOf(*inputs[0])[0], second = floatsOf(*inputs[1])[0];
    const float least = first > 0.0f ? 0.0f : first, greatest = second < 0.0f ? 0.0f : second;
    const float scale = greatest == least ? 1.0f : (greatest - least) / 255.0f;
    const float zeroPoint = std::nearbyint(-least / scale);
    floatsOf(*outputs[0])[0] = scale;
    outputs[1]->data<uint8_t>()[0] = zeroPoint > 0.0f ? static_cast<uint8_t>(std::fmin(zeroPoint, 255.0f)) : uint8_t{0};
    return Status::ok();
  }
};

}  // namespace

void addCpu(OpRegistry& registry) { registry.addCreator("cpu", "QuantizationRange", cpu::floatKernel<RangeCpu>()); }

}  // namespace opkit::ops::dynamic_quantize
