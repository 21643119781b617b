// Random numbers on the CPU: any part of a stream can be computed alone, so threads take parts of the output.
#include <cmath>
#include <numbers>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/random/fill.h"
#include "ops/random/philox.h"
#include "ops/random/random_vectors.h"

namespace opkit::ops::random {
namespace {

/// Two words as a number in [0, 1) of 53 bits.
double numberOf(uint32_t high, uint32_t low) {
  return static_cast<double>(uint64_t{high >> 5} << 26 | low >> 6) * 0x1p-53;
}

/// Numbers 2 * block and the next of the stream in f64.
std::array<double, 2> pairOf(const Fill& fill, int64_t block) {
  const Words words = philoxBlock(static_cast<uint64_t>(block), fill.key);
  const double a = numberOf(words[0], words[1]), b = numberOf(words[2], words[3]);
  if (!fill.isNormal) return {fill.offset + fill.factor * a, fill.offset + fill.factor * b};
  const double radius = std::sqrt(-2 * std::log(a + 0x1p-53)), angle = 2 * std::numbers::pi * b;
  return {fill.offset + fill.factor * (radius * std::cos(angle)),
          fill.offset + fill.factor * (radius * std::sin(angle))};
}

void fillDoubles(const Fill& fill, int64_t begin, int64_t end, double* y) {
  for (int64_t i = begin; i < end; i += 2) {
    const std::array<double, 2> pair = pairOf(fill, i / 2);
    y[i] = pair[0];
    if (i + 1 < end) y[i + 1] = pair[1];
  }
}

class RandomCpu final : public cpu::CpuKernel {
 public:
  RandomCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend),
        fill_(fillOf(args.def.type, args.params<RandomParams>())),
        run_(fillRunOf(fill_.isNormal)) {}

  bool readsInput(size_t) const override { return false; }

 protected:
  Status onRun(TensorList, TensorList outputs) override {
    const Tensor& y = *outputs[0];
    // Parts begin at multiples of 16 numbers: at whole blocks.
    cpu::parallelRanges(pool_, y.desc.elements(), cpu::kGrainElements / 4, [&](int64_t begin, int64_t end) {
      switch (y.desc.dtype) {
        case DType::Float64: return fillDoubles(fill_, begin, end, y.data<double>().data());
        case DType::Float16: return fillHalves(begin, end, y.data<Half>().data());
        default: return run_(fill_, begin / 4, end - begin, floatsOf(y) + begin);
      }
    });
    return Status::ok();
  }

 private:
  void fillHalves(int64_t begin, int64_t end, Half* y) const {
    constexpr int64_t kNumbers = 1024;
    float numbers[kNumbers];
    for (; begin < end; begin += kNumbers) {
      const int64_t count = std::min(kNumbers, end - begin);
      run_(fill_, begin / 4, count, numbers);
      cpu::roundToHalves(numbers, y + begin, count);
    }
  }

  Fill fill_;
  FillRun run_;
};

class SampleRowsCpu final : public cpu::CpuKernel {
 public:
  SampleRowsCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<SamplingParams>()) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const int64_t classes = inputs[0]->desc.shape[1];
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* sums = inputs[0]->data<T>().data();
      cpu::parallelRanges(pool_, outputs[0]->desc.elements(), 256, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          store(*outputs[0], i, classAt(sums + i / params_.samples * classes, classes, i));
      });
    });
    return Status::ok();
  }

 private:
  template <class T>
  int64_t classAt(const T* sums, int64_t classes, int64_t i) const {
    const uint32_t word = philoxBlock(static_cast<uint64_t>(i / 4), params_.key)[static_cast<size_t>(i % 4)];
    const T wanted = static_cast<T>(static_cast<float>(word >> 8) * 0x1p-24f) * sums[classes - 1];
    int64_t low = 0, high = classes - 1;  // the class lies in [low, high]
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (wanted < sums[middle])
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
  static void store(const Tensor& y, int64_t i, int64_t value) {
    if (y.desc.dtype == DType::Int64)
      y.data<int64_t>().data()[i] = value;
    else
      y.data<int32_t>().data()[i] = static_cast<int32_t>(value);
  }

  SamplingParamsT params_;
};

}  // namespace

Status foldRandom(const Fill& fill, const OracleArgs& args) {
  OracleTensor& y = args.output();
  const auto count = static_cast<int64_t>(y.real.size());
  if (y.desc.dtype == DType::Float64) {
    fillDoubles(fill, 0, count, y.real.data());
    return Status::ok();
  }
  std::vector<float> numbers(y.real.size());
  fillRunOf(fill.isNormal)(fill, 0, count, numbers.data());
  std::ranges::copy(numbers, y.real.begin());
  return Status::ok();
}

void addCpu(OpRegistry& registry) {
  for (const char* type : {"RandomUniform", "RandomNormal"})
    registry.addCreator("cpu", type, cpu::creatorOf<RandomCpu>(cpu::supportsAll, kAnyDType));
  registry.addCreator("cpu", "SampleRows", cpu::creatorOf<SampleRowsCpu>(cpu::supportsAll, cpu::kWideFloats));
}

}  // namespace opkit::ops::random
