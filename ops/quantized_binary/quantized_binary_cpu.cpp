// QLinearAdd and QLinearMul on the CPU: in runs along the innermost merged loop, in 32-bit integers or in floats.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/long_runs.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/op/op_registry.h"
#include "ops/quantized_binary/quantized_binary.h"
#include "ops/quantized_binary/quantized_binary_wide.h"

namespace opkit::ops::quantized_binary {
namespace {

uint8_t* bytesOf(const Tensor& tensor) { return reinterpret_cast<uint8_t*>(tensor.bytes().data()); }
uint8_t flipOf(const Tensor& tensor) { return tensor.desc.dtype == DType::Int8 ? 0x80 : 0; }
float scaleOf(TensorList inputs, Input i) { return inputs[i]->data<float>()[0]; }
int32_t zeroOf(TensorList inputs, Input i) { return bytesOf(*inputs[i])[0] ^ flipOf(*inputs[i]); }

class QuantizedBinaryCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  QuantizedBinaryCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), isSum_(args.def.type == "QLinearAdd") {}

  Status onResize(TensorList inputs, TensorList) override {
    loops_ = loopsOf(inputs[kA]->desc.shape, inputs[kB]->desc.shape);
    return Status::ok();
  }
  cpu::RowSplit rows(TensorList inputs, TensorList outputs) const override {
    return cpu::elementwiseRows(inputs, outputs);
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Tensor &a = *inputs[kA], &b = *inputs[kB], &y = *outputs[0];
    const float yScale = scaleOf(inputs, kYScale);
    const Units units = Units::of(scaleOf(inputs, kAScale) / yScale, scaleOf(inputs, kBScale) / yScale);
    const float ratio = scaleOf(inputs, kAScale) * scaleOf(inputs, kBScale) / yScale;
    const int32_t aZero = zeroOf(inputs, kAZeroPoint), bZero = zeroOf(inputs, kBZeroPoint);
    const int32_t yZero = zeroOf(inputs, kYZeroPoint);
    const std::array operands{cpu::Operand::of(a), cpu::Operand::of(b)};
    cpu::parallelRanges(pool_, y.desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
      cpu::forEachLongRun<2>(loops_, operands, begin, end, [&](int64_t i, int64_t count, const auto& from) {
        const Operand left{from[0].template as<uint8_t>(), from[0].stride, aZero, flipOf(a)};
        const Operand right{from[1].template as<uint8_t>(), from[1].stride, bZero, flipOf(b)};
        const Target to{bytesOf(y) + i, yZero, flipOf(y)};
        if (isSum_)
          addRun(left, right, units, to, count);
        else
          multiplyRun(left, right, ratio, to, count);
      });
    });
    return Status::ok();
  }

 private:
  const bool isSum_;
  Loops loops_;
};

Status supports(const CreateArgs& args) {
  const size_t loops = loopsOf(args.input(kA).shape, args.input(kB).shape).size.size();
  if (loops <= cpu::kMaxLoops) return Status::ok();
  return Status::unsupported("{}: the CPU kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                             cpu::kMaxLoops, loops);
}

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"QLinearAdd", "QLinearMul"})
    registry.addCreator("cpu", type, cpu::creatorOf<QuantizedBinaryCpu>(supports, DTypeSet(DType::Int8, DType::UInt8)));
}

}  // namespace opkit::ops::quantized_binary
