// The exponents of a run are widened to double or to 64-bit integers, then each power is computed there: integers if
// both operands are, else in double, truncated towards zero if the base is an integer.
#include "ops/binary/pow_mixed_cpu.h"

#include <array>
#include <cmath>
#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/long_runs.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "engine/op/clamp.h"
#include "ops/binary/binary.h"
#include "ops/binary/binary_vectors.h"

namespace opkit::ops::binary {
namespace {

constexpr int64_t kRun = 256;  // elements that are widened at once

template <class V, class T>
V widenedTo(T value) {
  return static_cast<V>(cpu::widened(value));
}

/// base^exponent modulo 2^64.
uint64_t wholePower(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

/// For a negative exponent the reciprocal, truncated towards zero, and 0 for 0. Bases of all ones are -1 if `isSigned`.
uint64_t wholePower(uint64_t base, int64_t exponent, bool isSigned) {
  if (exponent >= 0) return wholePower(base, static_cast<uint64_t>(exponent));
  const bool minusOne = isSigned && base == ~uint64_t{0};
  if (minusOne && exponent % 2 != 0) return base;
  return base == 1 || minusOne ? 1 : 0;
}

class MixedPowCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  MixedPowCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<BinaryParams>()), clamp_(clampOf(params_)) {}
  Status onResize(TensorList inputs, TensorList) override {
    loops_ = loopsOf(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    return Status::ok();
  }
  cpu::RowSplit rows(TensorList inputs, TensorList outputs) const override {
    if (params_.axis && inputs[0]->desc.shape != inputs[1]->desc.shape) return {};
    return cpu::elementwiseRows(inputs, outputs);
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const bool inReal = isFloat(inputs[0]->desc.dtype) || isFloat(inputs[1]->desc.dtype);
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (std::is_integral_v<T>) {
        if (inputs[1]->desc.dtype == DType::UInt64) return powers<uint64_t, T>(inputs, *outputs[0]);
        if (!inReal) return powers<int64_t, T>(inputs, *outputs[0]);
      }
      powers<double, T>(inputs, *outputs[0]);
    });
    return Status::ok();
  }

 private:
  template <class V, class T>
  void powers(TensorList inputs, const Tensor& output) {
    const std::array operands{cpu::Operand::of(*inputs[0]), cpu::Operand::of(*inputs[1])};
    T* z = output.data<T>().data();
    cpu::parallelRanges(pool_, output.desc.elements(), cpu::kGrainElements / 4, [&](int64_t begin, int64_t end) {
      cpu::forEachLongRun<2>(loops_, operands, begin, end, [&](int64_t first, int64_t count, const auto& from) {
        std::array<V, kRun> y;
        for (int64_t i = 0; i < count; i += kRun) {
          const int64_t length = std::min(kRun, count - i), stride = from[0].stride;
          widen(inputs[1]->desc.dtype, from[1], i, y, length);
          const T* x = from[0].template as<T>() + i * stride;
          T* to = z + first + i;
          if constexpr (std::is_same_v<T, float> && std::is_same_v<V, double>) {
            powDoubles(x, stride, y.data(), to, length);
            cpu::clampTo(clamp_.low, clamp_.high, to, length);
            continue;
          }
          for (int64_t k = 0; k < length; ++k) to[k] = power(x[k * stride], y[static_cast<size_t>(k)]);
        }
      });
    });
  }
  /// Elements [first, first + count) of the run.
  template <class V>
  static void widen(DType dtype, const cpu::RunElements& from, int64_t first, std::array<V, kRun>& to, int64_t count) {
    visitDType(dtype, [&](auto tag) {
      const auto* y = from.as<decltype(tag)>() + first * from.stride;
      for (int64_t i = 0; i < count; ++i) to[static_cast<size_t>(i)] = widenedTo<V>(y[i * from.stride]);
    });
  }
  template <class T>
  T power(T x, double y) const {
    const double value = std::pow(widenedTo<double>(x), y);
    if constexpr (std::is_integral_v<T>) {
      constexpr double kMost = 0x1p63;
      if (std::isnan(value)) return 0;
      const int64_t whole = value >= kMost   ? std::numeric_limits<int64_t>::max()
                            : value < -kMost ? std::numeric_limits<int64_t>::min()
                                             : static_cast<int64_t>(value);
      return static_cast<T>(whole);
    } else {
      return cpu::narrowed<T>(value < clamp_.low ? clamp_.low : value > clamp_.high ? clamp_.high : value);
    }
  }
  template <class T>
  T power(T x, int64_t y) const {
    return static_cast<T>(wholePower(widenedTo<uint64_t>(x), y, std::is_signed_v<T>));
  }
  template <class T>
  T power(T x, uint64_t y) const {
    return static_cast<T>(wholePower(widenedTo<uint64_t>(x), y));
  }

  BinaryParamsT params_;
  Clamp clamp_;
  Loops loops_;
};

}  // namespace

Creator mixedPowCreator() {
  const auto supports = [](const CreateArgs& args) -> Status {
    const size_t loops = loopsOf(args.params<BinaryParams>(), args.input(0).shape, args.input(1).shape).size.size();
    if (loops > cpu::kMaxLoops)
      return Status::unsupported("Pow: the CPU kernel broadcasts over up to {} merged axes, got {}", cpu::kMaxLoops,
                                 loops);
    if (args.input(0).dtype == args.input(1).dtype)
      return Status::unsupported("Pow: this kernel takes two types, got {} twice", nameOf(args.input(0).dtype));
    return Status::ok();
  };
  return cpu::creatorOf<MixedPowCpu>(supports, cpu::kWideFloats | kIntegers, "mixed");
}

}  // namespace opkit::ops::binary
