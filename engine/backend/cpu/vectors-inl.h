// Vectors of float and parts of them, for CPU kernels that are compiled once per instruction set.
//
// Included by such a .cpp after highway.h, once per target.
#if defined(OPKIT_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_VECTORS_INL_H
#undef OPKIT_VECTORS_INL_H
#else
#define OPKIT_VECTORS_INL_H
#endif

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(FloatTag()));

/// condition ? yes : no, by lanes.
template <class M>
HWY_INLINE FloatVec choose(M condition, FloatVec yes, FloatVec no) {
  return hn::IfThenElse(condition, yes, no);
}

HWY_INLINE FloatVec set(float value) { return hn::Set(FloatTag(), value); }
HWY_INLINE FloatVec load(const float* from) { return hn::LoadU(FloatTag(), from); }
HWY_INLINE void store(FloatVec value, float* to) { hn::StoreU(value, FloatTag(), to); }

// With masks, memory beyond a part is neither read nor written; without masks, parts are processed lane by lane.
#define OPKIT_HAS_MASKS (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

/// The first `count` lanes, 0 to a whole vector of them; the rest is `filler`. Touches nothing past them.
HWY_INLINE FloatVec loadPart(const float* from, int64_t count, float filler = 0.0f) {
#if OPKIT_HAS_MASKS
  const auto mask = hn::FirstN(FloatTag(), static_cast<size_t>(count));
  return choose(mask, hn::MaskedLoad(mask, FloatTag(), from), set(filler));
#else
  HWY_ALIGN float lanes[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) lanes[i] = i < count ? from[i] : filler;
  return hn::Load(FloatTag(), lanes);
#endif
}

/// Stores the first `count` lanes, 0 to a whole vector of them. Touches nothing past them.
HWY_INLINE void storePart(FloatVec value, float* to, int64_t count) {
#if OPKIT_HAS_MASKS
  hn::BlendedStore(value, hn::FirstN(FloatTag(), static_cast<size_t>(count)), FloatTag(), to);
#else
  HWY_ALIGN float lanes[kLanes];
  hn::Store(value, FloatTag(), lanes);
  for (int64_t i = 0; i < kLanes; ++i)
    if (i < count) to[i] = lanes[i];
#endif
}

#undef OPKIT_HAS_MASKS

/// to[i] = value
HWY_INLINE void fillRun(float value, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(set(value), to + i);
  if (i < count) storePart(set(value), to + i, count - i);
}

/// to[i] = from[i]; they do not overlap.
HWY_INLINE void copyRun(const float* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(load(from + i), to + i);
  if (i < count) storePart(loadPart(from + i, count - i), to + i, count - i);
}

#undef OPKIT_HAS_EVEN_LANES
#if HWY_TARGET == HWY_SCALAR  // vectors have one element
#define OPKIT_HAS_EVEN_LANES 0
#else
#define OPKIT_HAS_EVEN_LANES 1
/// The elements 0, 2, 4, ... of two vectors that follow each other.
HWY_INLINE FloatVec evenLanes(FloatVec first, FloatVec second) { return hn::ConcatEven(FloatTag(), second, first); }

/// to[i] = from[2 i]; never reads past the last element that it copies.
HWY_INLINE void copyEverySecond(const float* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes < count; i += kLanes) store(evenLanes(load(from + 2 * i), load(from + 2 * i + kLanes)), to + i);
  const int64_t rest = 2 * (count - i) - 1;  // floats from here to the last that counts
  if (rest < 0) return;
  const FloatVec first = loadPart(from + 2 * i, rest < kLanes ? rest : kLanes);
  const FloatVec second = rest > kLanes ? loadPart(from + 2 * i + kLanes, rest - kLanes) : first;
  storePart(evenLanes(first, second), to + i, count - i);
}
#endif

/// to[i] = from[i * step]; never reads past the last element that it copies.
HWY_INLINE void copyStrided(const float* from, int64_t step, float* to, int64_t count) {
  if (step == 1) return copyRun(from, to, count);
#if OPKIT_HAS_EVEN_LANES
  if (step == 2) return copyEverySecond(from, to, count);
#endif
  for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
