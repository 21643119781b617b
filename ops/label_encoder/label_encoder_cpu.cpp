// LabelEncoder on the CPU: a search by halves per element; values move as words.
#include <algorithm>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/label_encoder/label_encoder_parts.h"

namespace opkit::ops::label_encoder {
namespace {

/// The key that equals `value`; `end` if there is none. A NaN is the last key.
template <class T>
const T* findKey(const T* begin, const T* end, T value) {
  if (value != value) return begin != end && end[-1] != end[-1] ? end - 1 : end;
  const T* found = std::lower_bound(begin, end, value);
  return found != end && *found == value ? found : end;
}

class LabelEncoderCpu final : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    switch (inputs[0]->desc.dtype) {
      case DType::Float32: return forWords<float>(inputs, *outputs[0]);
      case DType::Float64: return forWords<double>(inputs, *outputs[0]);
      case DType::Int16: return forWords<int16_t>(inputs, *outputs[0]);
      case DType::Int32: return forWords<int32_t>(inputs, *outputs[0]);
      default: return forWords<int64_t>(inputs, *outputs[0]);
    }
  }

 private:
  template <class T>
  Status forWords(TensorList inputs, const Tensor& output) const {
    switch (sizeOf(output.desc.dtype)) {
      case 2: return encode<T, uint16_t>(inputs, output);
      case 4: return encode<T, uint32_t>(inputs, output);
      default: return encode<T, uint64_t>(inputs, output);
    }
  }

  template <class T, class Word>
  Status encode(TensorList inputs, const Tensor& output) const {
    const std::span<const T> keys = inputs[1]->data<T>();
    const T *x = inputs[0]->data<T>().data(), *begin = keys.data(), *end = begin + keys.size();
    const auto wordsOf = [](const Tensor& tensor) { return reinterpret_cast<Word*>(tensor.bytes().data()); };
    const Word *values = wordsOf(*inputs[2]), *other = wordsOf(*inputs[3]);
    Word* y = wordsOf(output);
    cpu::parallelRanges(pool_, output.desc.elements(), cpu::kGrainElements / 16, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const T* key = findKey(begin, end, x[i]);
        y[i] = key == end ? *other : values[key - begin];
      }
    });
    return Status::ok();
  }
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "LabelEncoder", cpu::creatorOf<LabelEncoderCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::label_encoder
