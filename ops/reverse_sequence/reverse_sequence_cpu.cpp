// ReverseSequence on the CPU: slices are copied as bytes.
#include <cstring>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/reverse_sequence/reverse_sequence.h"
#include "ops/reverse_sequence/reverse_sequence_parts.h"

namespace opkit::ops::reverse_sequence {
namespace {

class ReverseSequenceCpu final : public cpu::CpuKernel {
 public:
  ReverseSequenceCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<ReverseSequenceParams>()) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const TensorDesc& desc = outputs[0]->desc;
    if (desc.elements() == 0) return Status::ok();
    const ReversePlan plan = planReverse(params_, desc.shape);
    const int64_t* lengths = inputs[1]->data<int64_t>().data();
    for (int64_t b = 0; b < plan.batches; ++b)
      if (lengths[b] < 0 || lengths[b] > plan.times) return badLength(plan.times, lengths[b]);
    switch (plan.inner == 1 ? sizeOf(desc.dtype) : 0) {  // single elements by loads and stores
      case 1: return copy<uint8_t>(plan, lengths, 1, *inputs[0], *outputs[0]);
      case 2: return copy<uint16_t>(plan, lengths, 1, *inputs[0], *outputs[0]);
      case 4: return copy<uint32_t>(plan, lengths, 1, *inputs[0], *outputs[0]);
      case 8: return copy<uint64_t>(plan, lengths, 1, *inputs[0], *outputs[0]);
      default: break;
    }
    const int64_t bytes = plan.inner * static_cast<int64_t>(sizeOf(desc.dtype));
    return copy<std::byte>(plan, lengths, bytes, *inputs[0], *outputs[0]);
  }

 private:
  /// `words` of type Word in a slice. A task has one time, or one sequence where times lie side by side.
  template <class Word>
  Status copy(const ReversePlan& plan, const int64_t* lengths, int64_t words, const Tensor& input,
              const Tensor& output) const {
    const auto* x = reinterpret_cast<const Word*>(input.bytes().data());
    auto* y = reinterpret_cast<Word*>(output.bytes().data());
    const auto move = [&](int64_t to, int64_t from) {
      if (words == 1)
        y[to] = x[from];
      else
        std::memcpy(y + to * words, x + from * words, static_cast<size_t>(words) * sizeof(Word));
    };
    const auto sequence = [&](int64_t b) {
      const int64_t first = b * plan.times, length = lengths[b], rest = first + length;
      for (int64_t t = 0; t < length; ++t) move(first + t, rest - 1 - t);
      std::memcpy(y + rest * words, x + rest * words,
                  static_cast<size_t>((plan.times - length) * words) * sizeof(Word));
    };
    const auto time = [&](int64_t t) {
      for (int64_t b = 0; b < plan.batches; ++b)
        move(t * plan.batches + b, (t < lengths[b] ? lengths[b] - 1 - t : t) * plan.batches + b);
    };
    if (plan.timeStride == 1)
      cpu::parallelRows(pool_, plan.batches, plan.times * words, sequence);
    else
      cpu::parallelRows(pool_, plan.times, plan.batches * words, time);
    return Status::ok();
  }

  ReverseSequenceParamsT params_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "ReverseSequence", cpu::creatorOf<ReverseSequenceCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::reverse_sequence
