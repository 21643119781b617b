// Cast on the CPU: a loop per pair of types. To a float: rounded once, to nearest even. To an integer: truncation
// towards zero, NaN gives 0, values beyond 64 bits the nearest limit, narrower integers wrap. f16 is read by the
// widened form of these loops, and written by way of float. So are the floats that are stored as codes (codes.h).
#include <array>
#include <bit>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/cast/cast.h"
#include "ops/cast/codes.h"

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

/// A float that rounds to fewer than 23 bits as `value` does: bits that it does not hold set its last one.
template <class From>
float oddFloat(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    return forHalf(value);
  } else {
    const bool negative = value < 0;
    const auto magnitude = negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
    const int dropped = std::max(static_cast<int>(std::bit_width(magnitude)) - 24, 0);
    const bool isInexact = (magnitude & ((uint64_t{1} << dropped) - 1)) != 0;
    const auto near = static_cast<float>(((magnitude >> dropped) | isInexact) << dropped);
    return negative ? -near : near;
  }
}

/// Input and output of a run of elements; coded floats pass through a run of floats.
template <class From>
void encodeFrom(const From* x, std::byte* codes, DType to, Coding coding, int64_t count) {
  std::array<float, kRun> floats;
  for (int64_t first = 0; first < count; first += kRun) {
    const int64_t length = std::min(kRun, count - first);
    for (int64_t i = 0; i < length; ++i) floats[static_cast<size_t>(i)] = oddFloat(x[first + i]);
    encodeAll(to, coding, floats.data(), codes + first * static_cast<int64_t>(sizeOf(to)), length);
  }
}
template <class Store>
void decodeFrom(DType from, const std::byte* codes, int64_t count, const Store& store) {
  std::array<float, kRun> floats;
  for (int64_t first = 0; first < count; first += kRun) {
    const int64_t length = std::min(kRun, count - first);
    decodeAll(from, codes + first * static_cast<int64_t>(sizeOf(from)), floats.data(), length);
    store(floats.data(), first, length);
  }
}

class CastCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  CastCpu(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend) {
    const auto params = args.params<CastParams>();
    coding_ = {params.saturate, params.round_mode};
  }
  /// CastLike reads the type of its second input only.
  bool readsInput(size_t index) const override { return index == 0; }

  cpu::RowSplit rows(TensorList inputs, TensorList) const override {
    return cpu::leadingRows(inputs, inputs[0]->desc.shape.size());
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (isCodedFloat(inputs[0]->desc.dtype)) return decode(*inputs[0], *outputs[0]);
    visitDType(inputs[0]->desc.dtype, [&](auto from) {
      using From = decltype(from);
      if constexpr (!std::is_same_v<From, Half>) {
        if (isCodedFloat(outputs[0]->desc.dtype)) return encode<From>(*inputs[0], *outputs[0]);
        if (outputs[0]->desc.dtype == DType::Bool) return run(testAll<From>, *inputs[0], *outputs[0]);
        visitDType(outputs[0]->desc.dtype, [&](auto to) { run(castAll<decltype(to), From>, *inputs[0], *outputs[0]); });
      }
    });
    return Status::ok();
  }

 private:
  template <class From>
  void encode(const Tensor& input, const Tensor& output) {
    const From* x = input.data<From>().data();
    const DType to = output.desc.dtype;
    split(output, [&](int64_t begin, int64_t end) {
      encodeFrom(x + begin, addressOf(output, begin), to, coding_, end - begin);
    });
  }

  Status decode(const Tensor& input, const Tensor& output) {
    const DType from = input.desc.dtype, to = output.desc.dtype;
    const auto decodeInto = [&](const auto& store) {
      split(output, [&](int64_t begin, int64_t end) {
        decodeFrom(from, addressOf(input, begin), end - begin,
                   [&](const float* x, int64_t first, int64_t count) { store(x, begin + first, count); });
      });
    };
    if (isCodedFloat(to)) {
      decodeInto([&](const float* x, int64_t at, int64_t n) { encodeAll(to, coding_, x, addressOf(output, at), n); });
    } else if (to == DType::Bool) {
      uint8_t* y = output.data<uint8_t>().data();
      decodeInto([&](const float* x, int64_t at, int64_t n) { testAll(x, y + at, n); });
    } else {
      visitDType(to, [&](auto tag) {
        auto* y = output.data<decltype(tag)>().data();
        decodeInto([&](const float* x, int64_t at, int64_t n) { castAll(x, y + at, n); });
      });
    }
    return Status::ok();
  }

  static std::byte* addressOf(const Tensor& tensor, int64_t index) {
    return tensor.bytes().data() + index * static_cast<int64_t>(sizeOf(tensor.desc.dtype));
  }

  template <class Body>
  void split(const Tensor& output, const Body& body) {
    cpu::parallelRanges(pool_, output.desc.elements(), cpu::kGrainElements, body);
  }

  template <class To, class From>
  void run(void (*loop)(const From*, To*, int64_t), const Tensor& input, const Tensor& output) {
    const From* x = input.data<From>().data();
    To* y = output.data<To>().data();
    cpu::parallelRanges(pool_, output.desc.elements(), cpu::kGrainElements,
                        [&](int64_t begin, int64_t end) { loop(x + begin, y + begin, end - begin); });
  }

  Coding coding_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  constexpr DTypeSet kHeld = cpu::kWideFloats | kIntegers | kBool | kCodedFloats;
  for (const char* type : {"Cast", "CastLike"})
    if (registry.find(type)) registry.addCreator("cpu", type, cpu::creatorOf<CastCpu>(cpu::supportsAll, kHeld));
}

}  // namespace opkit::ops::cast
