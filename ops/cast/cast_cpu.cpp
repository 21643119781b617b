// Cast on the CPU: a loop per pair of types. To a float: rounded once, to nearest even. To an integer: truncation
// towards zero, NaN gives 0, values beyond 64 bits the nearest limit, narrower integers wrap. f16 is read by the
// widened form of these loops, and written by way of float.
#include <array>
#include <bit>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/cast/cast.h"

namespace opkit::ops::cast {
namespace {

constexpr int64_t kRun = 512;  // elements that are looked at, or held as floats, together

/// Loops of their own, so that the compiler knows that input and output do not overlap.
template <class To, class From>
void convertAll(const From* __restrict x, To* __restrict y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<To>(x[i]);
}
template <class From>
void testAll(const From* __restrict x, uint8_t* __restrict y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] != 0;
}

/// By way of 32-bit integers, which processors convert by vectors, if these hold all values of a run.
template <class To, class From>
void truncateAll(const From* __restrict x, To* __restrict y, int64_t count) {
  for (int64_t first = 0; first < count; first += kRun) {
    const int64_t end = std::min(first + kRun, count);
    int beyond = 0;
    for (int64_t i = first; i < end; ++i) beyond |= !(std::fabs(x[i]) < From(0x1p31));
    if (beyond == 0)
      for (int64_t i = first; i < end; ++i) y[i] = static_cast<To>(static_cast<int32_t>(x[i]));
    else
      for (int64_t i = first; i < end; ++i)
        y[i] = static_cast<To>(truncated(static_cast<double>(x[i]), std::is_same_v<To, uint64_t>));
  }
}

/// A float that rounds to half precision as `value` does. Integers of up to 17 bits are exact, larger ones overflow in
/// any case. A double that is no float becomes the odd one of its neighbours, which is never a tie.
template <class From>
float forHalf(From value) {
  const auto near = static_cast<float>(value);
  if constexpr (std::is_same_v<From, double>) {
    const auto back = static_cast<double>(near);
    const bool isAway = std::fabs(back) > std::fabs(value), isInexact = (back < value) | (back > value);
    return std::bit_cast<float>((std::bit_cast<uint32_t>(near) - isAway) | isInexact);
  }
  return near;
}
template <class From>
void roundAll(const From* x, Half* y, int64_t count) {
  if constexpr (std::is_same_v<From, float>) return cpu::roundToHalves(x, y, count);
  std::array<float, kRun> floats;
  for (int64_t first = 0; first < count; first += kRun) {
    const int64_t length = std::min(kRun, count - first);
    for (int64_t i = 0; i < length; ++i) floats[static_cast<size_t>(i)] = forHalf(x[first + i]);
    cpu::roundToHalves(floats.data(), y + first, length);
  }
}

template <class To, class From>
void castAll(const From* x, To* y, int64_t count) {
  if constexpr (std::is_same_v<To, Half>)
    roundAll(x, y, count);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    truncateAll(x, y, count);
  else
    convertAll(x, y, count);
}

class CastCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  using CpuKernel::CpuKernel;
  /// CastLike reads the type of its second input only.
  bool readsInput(size_t index) const override { return index == 0; }

  cpu::RowSplit rows(TensorList inputs, TensorList) const override {
    return cpu::leadingRows(inputs, inputs[0]->desc.shape.size());
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    visitDType(inputs[0]->desc.dtype, [&](auto from) {
      using From = decltype(from);
      if constexpr (!std::is_same_v<From, Half>) {
        if (outputs[0]->desc.dtype == DType::Bool) return run(testAll<From>, *inputs[0], *outputs[0]);
        visitDType(outputs[0]->desc.dtype, [&](auto to) { run(castAll<decltype(to), From>, *inputs[0], *outputs[0]); });
      }
    });
    return Status::ok();
  }

 private:
  template <class To, class From>
  void run(void (*loop)(const From*, To*, int64_t), const Tensor& input, const Tensor& output) {
    const From* x = input.data<From>().data();
    To* y = output.data<To>().data();
    cpu::parallelRanges(pool_, output.desc.elements(), cpu::kGrainElements,
                        [&](int64_t begin, int64_t end) { loop(x + begin, y + begin, end - begin); });
  }
};

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"Cast", "CastLike"})
    if (registry.find(type))
      registry.addCreator("cpu", type, cpu::creatorOf<CastCpu>(cpu::supportsAll, cpu::kWideFloats | kIntegers | kBool));
}

}  // namespace opkit::ops::cast
