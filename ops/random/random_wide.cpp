// Random numbers in f32: the generator as plain loops over kBlocks counters at once, which the compiler turns into
// vectors of each instruction set; Box and Muller's transform on vectors.
#include "ops/random/random_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/random/random_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::random {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vm = opkit::cpu::HWY_NAMESPACE;
using V = vm::FloatVec;
using vm::choose;
using vm::set;

constexpr int64_t kBlocks = 16;
static_assert(kBlocks % vm::kLanes == 0);

/// Word j of block i of kBlocks neighbouring blocks, at words[j][i].
struct BlockWords {
  alignas(64) uint32_t words[4][kBlocks];
};

/// Philox4x32-10 (philox.h) on the blocks from `first` on.
HWY_INLINE void generate(uint64_t first, uint64_t key, BlockWords& out) {
  auto& [c0, c1, c2, c3] = out.words;
  for (int64_t i = 0; i < kBlocks; ++i) {
    const uint64_t block = first + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(block);
    c1[i] = static_cast<uint32_t>(block >> 32);
    c2[i] = c3[i] = 0;
  }
  auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, low += 0x9E3779B9, high += 0xBB67AE85)
    for (int64_t i = 0; i < kBlocks; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * c0[i], b = uint64_t{0xCD9E8D57} * c2[i];
      const uint32_t x = static_cast<uint32_t>(b >> 32) ^ c1[i] ^ low,
                     y = static_cast<uint32_t>(a >> 32) ^ c3[i] ^ high;
      c0[i] = x;
      c1[i] = static_cast<uint32_t>(b);
      c2[i] = y;
      c3[i] = static_cast<uint32_t>(a);
    }
}

/// The upper 24 bits of words as whole numbers.
HWY_INLINE V wholeOf(const uint32_t* words) {
  const hn::RebindToUnsigned<vm::FloatTag> du;
  const hn::RebindToSigned<vm::FloatTag> di;
  return hn::ConvertTo(vm::FloatTag(), hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(du, words))));
}

struct Pair {
  V first, second;
};

struct Uniform {
  HWY_INLINE Pair operator()(V a, V b) const { return {hn::Mul(a, set(0x1p-24f)), hn::Mul(b, set(0x1p-24f))}; }
};

/// Box and Muller: a radius from `a`, an angle of b * 2^-24 turns. The nearest quarter turn is taken off exactly.
struct Normal {
  HWY_INLINE Pair operator()(V a, V b) const {
    const V radius = hn::Sqrt(hn::Mul(set(-2.0f), vm::log(hn::Mul(hn::Add(a, set(1.0f)), set(0x1p-24f)))));
    const V quarters = hn::Mul(b, set(0x1p-22f)), nearest = hn::Round(quarters);
    const V angle = hn::Mul(hn::Sub(quarters, nearest), set(1.57079632679490f)), z = hn::Mul(angle, angle);
    const V sine =
        hn::MulAdd(hn::Mul(angle, z),
                   vm::polynomial(z, {-0.1666666666f, 0.008333331866f, -0.0001984008201f, 2.724931405e-6f}), angle);
    const V tail = vm::polynomial(z, {0.04166666666f, -0.001388888766f, 2.480059644e-5f, -2.730044862e-7f});
    const V cosine = hn::MulAdd(hn::Mul(z, z), tail, hn::NegMulAdd(z, set(0.5f), set(1.0f)));
    // Quarters 0 to 4: of (cosine, sine) (c, s), (-s, c), (-c, -s), (s, -c), (c, s).
    const auto isOdd = hn::Or(hn::Eq(nearest, set(1.0f)), hn::Eq(nearest, set(3.0f)));
    const auto turnsCosine = hn::Or(hn::Eq(nearest, set(1.0f)), hn::Eq(nearest, set(2.0f)));
    const auto turnsSine = hn::Or(hn::Eq(nearest, set(2.0f)), hn::Eq(nearest, set(3.0f)));
    const V x = hn::Mul(radius, choose(isOdd, sine, cosine)), y = hn::Mul(radius, choose(isOdd, cosine, sine));
    return {choose(turnsCosine, hn::Neg(x), x), choose(turnsSine, hn::Neg(y), y)};
  }
};

/// 4 * kBlocks numbers.
template <class Number>
HWY_INLINE void fillBlocks(const Fill& fill, int64_t first, float* y) {
  BlockWords blocks;
  generate(static_cast<uint64_t>(first), fill.key, blocks);
  const V offset = set(fill.offset), factor = set(fill.factor);
  const auto scaled = [&](V number) { return hn::Add(offset, hn::Mul(factor, number)); };
  for (int64_t i = 0; i < kBlocks; i += vm::kLanes) {
    const Pair ab = Number()(wholeOf(blocks.words[0] + i), wholeOf(blocks.words[1] + i));
    const Pair cd = Number()(wholeOf(blocks.words[2] + i), wholeOf(blocks.words[3] + i));
    hn::StoreInterleaved4(scaled(ab.first), scaled(ab.second), scaled(cd.first), scaled(cd.second), vm::FloatTag(),
                          y + 4 * i);
  }
}

template <class Number>
void fillRun(const Fill& fill, int64_t firstBlock, int64_t count, float* y) {
  constexpr int64_t kNumbers = 4 * kBlocks;
  int64_t i = 0;
  for (; i + kNumbers <= count; i += kNumbers) fillBlocks<Number>(fill, firstBlock + i / 4, y + i);
  if (i == count) return;
  float rest[kNumbers];
  fillBlocks<Number>(fill, firstBlock + i / 4, rest);
  for (int64_t k = 0; k < count - i; ++k) y[i + k] = rest[k];
}

FillRun find(bool isNormal) { return isNormal ? &fillRun<Normal> : &fillRun<Uniform>; }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::random
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::random {
HWY_EXPORT(find);
FillRun fillRunOf(bool isNormal) { return HWY_DYNAMIC_DISPATCH(find)(isNormal); }
}  // namespace opkit::ops::random
#endif
