// Cast on the CPU: a loop per pair of types (cast_wide.cpp). To a float: rounded once, to nearest even. To an integer:
// truncation towards zero, NaN gives 0, values beyond 64 bits the nearest limit, narrower integers wrap. f16 is read by
// the widened form of these loops, and written by way of float. So are the floats that are stored as codes (codes.h).
#include <array>
#include <bit>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/cast/cast_wide.h"
#include "ops/cast/codes.h"

namespace opkit::ops::cast {
namespace {

constexpr int64_t kRun = 512;  // elements that are held as floats, or in bytes of their own, together

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

/// By way of runs of floats.
template <class From>
void encodeFrom(const From* x, std::byte* codes, DType to, Coding coding, int64_t count) {
  const auto size = static_cast<int64_t>(bytesOf(to, 1));
  std::array<float, kRun> floats;
  for (int64_t first = 0; first < count; first += kRun) {
    const int64_t length = std::min(kRun, count - first);
    for (int64_t i = 0; i < length; ++i) floats[static_cast<size_t>(i)] = oddFloat(x[first + i]);
    encodeAll(to, coding, floats.data(), codes + first * size, length);
  }
}

/// `count` elements from `x` to `y`; of dtypes that share bytes, elements in bytes of their own. REQUIRES that `from`
/// is the dtype of From.
template <class From>
void castFrom(DType from, const From* x, DType to, std::byte* y, int64_t count, Coding coding) {
  if (isCodedFloat(to)) return encodeFrom(x, y, to, coding, count);
  if (to == DType::Float16) return roundAll(x, reinterpret_cast<Half*>(y), count);
  castMapOf(from, isPacked(to) ? unpackedOf(to) : to)(x, y, count);
}
void castRun(DType from, const std::byte* x, DType to, std::byte* y, int64_t count, Coding coding) {
  if (isCodedFloat(from)) {
    const auto fromSize = static_cast<int64_t>(bytesOf(from, 1)), toSize = static_cast<int64_t>(bytesOf(to, 1));
    std::array<float, kRun> floats;
    for (int64_t first = 0; first < count; first += kRun) {
      const int64_t length = std::min(kRun, count - first);
      decodeAll(from, x + first * fromSize, floats.data(), length);
      castFrom(DType::Float32, floats.data(), to, y + first * toSize, length, coding);
    }
    return;
  }
  const DType held = isPacked(from) ? unpackedOf(from) : from;
  visitDType(held, [&](auto tag) {
    using From = decltype(tag);
    if constexpr (!std::is_same_v<From, Half>) castFrom(held, reinterpret_cast<const From*>(x), to, y, count, coding);
  });
}

class CastCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  CastCpu(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend) {
    const auto params = args.params<CastParams>();
    coding_ = {params.saturate, params.round_mode};
  }
  /// CastLike reads the type of its second input only.
  bool readsInput(size_t index) const override { return index == 0; }

  cpu::RowSplit rows(TensorList inputs, TensorList outputs) const override {
    if (isPacked(inputs[0]->desc.dtype) || isPacked(outputs[0]->desc.dtype)) return {};
    return cpu::leadingRows(inputs, inputs[0]->desc.shape.size());
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Tensor &x = *inputs[0], &y = *outputs[0];
    const DType from = x.desc.dtype, to = y.desc.dtype;
    const int64_t count = y.desc.elements();
    if (isPacked(from) || isPacked(to)) {
      cpu::parallelRanges(pool_, (count + kRun - 1) / kRun, cpu::kGrainElements / kRun,
                          [&](int64_t begin, int64_t end) {
                            for (int64_t run = begin; run < end; ++run)
                              castPacked(x, y, run * kRun, std::min(kRun, count - run * kRun));
                          });
    } else {
      cpu::parallelRanges(pool_, count, cpu::kGrainElements, [&](int64_t begin, int64_t end) {
        castRun(from, addressOf(x, begin), to, addressOf(y, begin), end - begin, coding_);
      });
    }
    return Status::ok();
  }

 private:
  /// A run whose elements get bytes of their own on the way.
  void castPacked(const Tensor& x, const Tensor& y, int64_t first, int64_t count) const {
    const DType from = x.desc.dtype, to = y.desc.dtype;
    std::array<std::byte, kRun> source, target;
    const std::byte* begin = addressOf(x, first);
    if (isPacked(from)) unpackAll(from, begin, source.data(), count);
    castRun(from, isPacked(from) ? source.data() : begin, to, isPacked(to) ? target.data() : addressOf(y, first), count,
            coding_);
    if (isPacked(to)) packAll(to, target.data(), addressOf(y, first), count);
  }

  /// REQUIRES that the element begins a byte.
  static std::byte* addressOf(const Tensor& tensor, int64_t index) {
    return tensor.bytes().data() + bytesOf(tensor.desc.dtype, index);
  }

  Coding coding_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  constexpr DTypeSet kHeld = cpu::kWideFloats | kIntegers | kBool | kCodedFloats | kPackedDTypes;
  for (const char* type : {"Cast", "CastLike"})
    if (registry.find(type)) registry.addCreator("cpu", type, cpu::creatorOf<CastCpu>(cpu::supportsAll, kHeld));
}

}  // namespace opkit::ops::cast
