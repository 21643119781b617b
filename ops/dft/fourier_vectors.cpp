#include "ops/dft/fourier_vectors.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/dft/fourier_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::dft {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
template <class T>
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
constexpr int64_t kLineBytes = 64;
template <class T>
constexpr int64_t kColumns = kLanes<T>* static_cast<int64_t>(sizeof(T)) < kLineBytes
                                 ? kLineBytes / static_cast<int64_t>(sizeof(T))
                                 : kLanes<T>;
template <class T>
constexpr int64_t kGroups = kColumns<T> / kLanes<T>;

/// A complex number per lane.
template <class T>
struct Complex {
  Vec<T> re, im;
};

template <class T>
HWY_INLINE Complex<T> plus(Complex<T> a, Complex<T> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class T>
HWY_INLINE Complex<T> minus(Complex<T> a, Complex<T> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
/// -i times a.
template <class T>
HWY_INLINE Complex<T> turned(Complex<T> a) {
  return {a.im, hn::Neg(a.re)};
}
template <class T>
HWY_INLINE Complex<T> times(Complex<T> a, Vec<T> re, Vec<T> im) {
  return {hn::NegMulAdd(a.im, im, hn::Mul(a.re, re)), hn::MulAdd(a.im, re, hn::Mul(a.re, im))};
}
template <class T>
HWY_INLINE Complex<T> loadComplex(const T* from) {
  return {hn::Load(Tag<T>(), from), hn::Load(Tag<T>(), from + kLanes<T>)};
}
template <class T>
HWY_INLINE void storeComplex(Complex<T> value, T* to) {
  hn::Store(value.re, Tag<T>(), to);
  hn::Store(value.im, Tag<T>(), to + kLanes<T>);
}

/// The transform of R numbers, in place. An odd R sums with the cosines and sines of `roots`.
template <class T, int R>
HWY_INLINE void butterfly(Complex<T>* x, const T* roots) {
  static_cast<void>(roots);
  if constexpr (R == 2) {
    const Complex<T> a = x[0], b = x[1];
    x[0] = plus<T>(a, b);
    x[1] = minus<T>(a, b);
  } else if constexpr (R == 4) {
    const Complex<T> a = plus<T>(x[0], x[2]), b = minus<T>(x[0], x[2]);
    const Complex<T> c = plus<T>(x[1], x[3]), d = turned<T>(minus<T>(x[1], x[3]));
    x[0] = plus<T>(a, c);
    x[1] = plus<T>(b, d);
    x[2] = minus<T>(a, c);
    x[3] = minus<T>(b, d);
  } else {
    constexpr int kHalf = (R - 1) / 2;
    const Complex<T> first = x[0];
    Complex<T> sums[kHalf], differences[kHalf], total = first;
    HWY_UNROLL(8) for (int j = 0; j < kHalf; ++j) {
      sums[j] = plus<T>(x[j + 1], x[R - 1 - j]);
      differences[j] = turned<T>(minus<T>(x[j + 1], x[R - 1 - j]));
      total = plus<T>(total, sums[j]);
    }
    x[0] = total;
    HWY_UNROLL(8) for (int k = 1; k <= kHalf; ++k) {
      Complex<T> even = first, odd{hn::Zero(Tag<T>()), hn::Zero(Tag<T>())};
      HWY_UNROLL(8) for (int j = 0; j < kHalf; ++j) {
        const T* root = roots + (j + 1) * k % R * 2;
        const Vec<T> cosine = hn::Set(Tag<T>(), root[0]), sine = hn::Set(Tag<T>(), root[1]);
        even = {hn::MulAdd(sums[j].re, cosine, even.re), hn::MulAdd(sums[j].im, cosine, even.im)};
        odd = {hn::MulAdd(differences[j].re, sine, odd.re), hn::MulAdd(differences[j].im, sine, odd.im)};
      }
      x[k] = plus<T>(even, odd);
      x[R - k] = minus<T>(even, odd);
    }
  }
}

/// `count` vectors of each of the R elements that lie `distance` vectors apart; results lie `count` apart.
template <class T, int R, bool kTwiddled>
HWY_INLINE void group(const T* from, int64_t distance, const T* twiddles, const T* roots, T* to, int64_t count) {
  constexpr int64_t kStep = 2 * kLanes<T>;
  Complex<T> factors[R];
  if constexpr (kTwiddled) {
    HWY_UNROLL(16) for (int k = 1; k < R; ++k) {
      factors[k] = {hn::Set(Tag<T>(), twiddles[2 * k - 2]), hn::Set(Tag<T>(), twiddles[2 * k - 1])};
    }
  }
  for (int64_t q = 0; q < count; ++q) {
    Complex<T> x[R];
    HWY_UNROLL(16) for (int j = 0; j < R; ++j) x[j] = loadComplex<T>(from + (q + j * distance) * kStep);
    butterfly<T, R>(x, roots);
    if constexpr (kTwiddled) {
      HWY_UNROLL(16) for (int k = 1; k < R; ++k) x[k] = times<T>(x[k], factors[k].re, factors[k].im);
    }
    HWY_UNROLL(16) for (int k = 0; k < R; ++k) storeComplex<T>(x[k], to + (q + k * count) * kStep);
  }
}

template <class T, int R>
HWY_NOINLINE void passOf(const FourierStage& stage, const T* numbers, const T* from, T* to) {
  const int64_t count = stage.before * kGroups<T>, step = count * 2 * kLanes<T>, distance = count * stage.rest;
  const T* roots = numbers + stage.roots;
  group<T, R, false>(from, distance, nullptr, roots, to, count);  // all twiddles are 1
  for (int64_t p = 1; p < stage.rest; ++p)
    group<T, R, true>(from + p * step, distance, numbers + stage.twiddles + p * (R - 1) * 2, roots, to + p * R * step,
                      count);
}

/// All passes; returns the half of the work memory that holds the results.
template <class T>
HWY_INLINE T* runPasses(const FourierStages<T>& stages, T* from, T* to) {
  for (const FourierStage& stage : stages.list) {
    const T* numbers = stages.numbers.data();
    switch (stage.radix) {
      case 2: passOf<T, 2>(stage, numbers, from, to); break;
      case 3: passOf<T, 3>(stage, numbers, from, to); break;
      case 4: passOf<T, 4>(stage, numbers, from, to); break;
      case 5: passOf<T, 5>(stage, numbers, from, to); break;
      case 7: passOf<T, 7>(stage, numbers, from, to); break;
      case 11: passOf<T, 11>(stage, numbers, from, to); break;
      default: passOf<T, 13>(stage, numbers, from, to);
    }
    std::swap(from, to);
  }
  return from;
}

/// Transposes a square of vectors, in place: each round rotates the bits of an element's number by one.
template <class T>
HWY_INLINE void transpose(Vec<T>* rows) {
#if HWY_TARGET != HWY_SCALAR
  constexpr int kCount = static_cast<int>(kLanes<T>);
  HWY_UNROLL(8) for (int round = 1; round < kCount; round *= 2) {
    Vec<T> next[kCount];
    HWY_UNROLL(16) for (int i = 0; i < kCount / 2; ++i) {
      next[i] = hn::ConcatEven(Tag<T>(), rows[2 * i + 1], rows[2 * i]);
      next[i + kCount / 2] = hn::ConcatOdd(Tag<T>(), rows[2 * i + 1], rows[2 * i]);
    }
    HWY_UNROLL(16) for (int i = 0; i < kCount; ++i) rows[i] = next[i];
  }
#else
  static_cast<void>(rows);
#endif
}

/// Element i of group g of a block.
template <class T>
HWY_INLINE int64_t blockAt(int64_t i, int64_t g) {
  return (i * kGroups<T> + g) * 2 * kLanes<T>;
}

/// One plane of a block from rows across; `plane` is 0 for re and 1 for im.
template <class T>
HWY_INLINE void loadAcross(const T* from, int64_t pitch, int64_t points, int64_t plane, T* block) {
  const Tag<T> d;
  for (int64_t g = 0; g < kGroups<T>; ++g)
    for (int64_t i = 0; i < points; i += kLanes<T>) {
      Vec<T> rows[kLanes<T>];
      for (int64_t lane = 0; lane < kLanes<T>; ++lane)
        rows[lane] = hn::LoadU(d, from + (g * kLanes<T> + lane) * pitch + i);
      transpose<T>(rows);
      for (int64_t lane = 0; lane < kLanes<T>; ++lane)
        hn::Store(rows[lane], d, block + blockAt<T>(i + lane, g) + plane * kLanes<T>);
    }
}

/// The reverse, for the first `columns` columns.
template <class T>
HWY_INLINE void storeAcross(const T* block, int64_t plane, int64_t points, int64_t columns, T* to, int64_t pitch) {
  const Tag<T> d;
  for (int64_t g = 0; g < kGroups<T>; ++g)
    for (int64_t i = 0; i < points; i += kLanes<T>) {
      Vec<T> rows[kLanes<T>];
      for (int64_t lane = 0; lane < kLanes<T>; ++lane)
        rows[lane] = hn::Load(d, block + blockAt<T>(i + lane, g) + plane * kLanes<T>);
      transpose<T>(rows);
      const int64_t count = std::min(kLanes<T>, columns - g * kLanes<T>);
      for (int64_t lane = 0; lane < count; ++lane) hn::StoreU(rows[lane], d, to + (g * kLanes<T> + lane) * pitch + i);
    }
}

template <class T>
HWY_INLINE void loadAlong(const T* re, const T* im, int64_t pitch, int64_t points, T* block) {
  for (int64_t i = 0; i < points; ++i)
    for (int64_t g = 0; g < kGroups<T>; ++g) {
      const int64_t at = i * pitch + g * kLanes<T>;
      storeComplex<T>({hn::LoadU(Tag<T>(), re + at), hn::LoadU(Tag<T>(), im + at)}, block + blockAt<T>(i, g));
    }
}

/// Stores the first `count` lanes, 1 to all of them.
template <class T>
HWY_INLINE void storeSome(Vec<T> value, T* to, int64_t count) {
  if (count == kLanes<T>) return hn::StoreU(value, Tag<T>(), to);
  HWY_ALIGN T lanes[kLanes<T>];
  hn::Store(value, Tag<T>(), lanes);
  std::copy_n(lanes, count, to);
}

template <class T>
HWY_INLINE void storeAlong(const T* block, int64_t points, int64_t columns, T* re, T* im, int64_t pitch) {
  for (int64_t i = 0; i < points; ++i)
    for (int64_t at = 0; at < columns; at += kLanes<T>) {
      const Complex<T> value = loadComplex<T>(block + blockAt<T>(i, at / kLanes<T>));
      const int64_t count = std::min(kLanes<T>, columns - at);
      storeSome<T>(value.re, re + i * pitch + at, count);
      storeSome<T>(value.im, im + i * pitch + at, count);
    }
}

/// Multiplies element (i, column) by its factor. Lanes behind the last column take those of other elements.
template <class T>
HWY_INLINE void multiplyBlock(const T* re, const T* im, int64_t pitch, int64_t points, int64_t columns, T* block) {
  for (int64_t i = 0; i < points; ++i)
    for (int64_t at = 0; at < columns; at += kLanes<T>) {
      T* to = block + blockAt<T>(i, at / kLanes<T>);
      const int64_t from = i * pitch + at;
      storeComplex<T>(times<T>(loadComplex<T>(to), hn::LoadU(Tag<T>(), re + from), hn::LoadU(Tag<T>(), im + from)), to);
    }
}

template <class T>
HWY_INLINE void transformBlock(const ColumnTransforms<T>& job, int64_t column, T* work) {
  const int64_t points = job.stages->points, columns = std::min(kColumns<T>, job.columns - column);
  T* other = work + blockAt<T>(points + kLanes<T>, 0);
  const auto& from = job.from;
  if (from.across) {
    loadAcross<T>(from.re + column * from.pitch, from.pitch, points, 0, work);
    loadAcross<T>(from.im + column * from.pitch, from.pitch, points, 1, work);
  } else {
    loadAlong<T>(from.re + column, from.im + column, from.pitch, points, work);
  }
  T* result = runPasses<T>(*job.stages, work, other);
  if (job.factors)
    multiplyBlock<T>(job.factors->re.data() + column, job.factors->im.data() + column, job.columns, points, columns,
                     result);
  const auto& to = job.to;
  if (!to.across) return storeAlong<T>(result, points, columns, to.re + column, to.im + column, to.pitch);
  storeAcross<T>(result, 0, points, columns, to.re + column * to.pitch, to.pitch);
  storeAcross<T>(result, 1, points, columns, to.im + column * to.pitch, to.pitch);
}

void floatBlock(const ColumnTransforms<float>& job, int64_t column, float* work) { transformBlock(job, column, work); }
void doubleBlock(const ColumnTransforms<double>& job, int64_t column, double* work) {
  transformBlock(job, column, work);
}
int64_t floatColumns() { return kColumns<float>; }
int64_t doubleColumns() { return kColumns<double>; }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::dft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::dft {
HWY_EXPORT(floatBlock);
HWY_EXPORT(doubleBlock);
HWY_EXPORT(floatColumns);
HWY_EXPORT(doubleColumns);

template <>
int64_t blockColumns<float>() {
  return HWY_DYNAMIC_DISPATCH(floatColumns)();
}
template <>
int64_t blockColumns<double>() {
  return HWY_DYNAMIC_DISPATCH(doubleColumns)();
}
template <>
void transformColumns(const ColumnTransforms<float>& job, int64_t firstColumn, float* work) {
  HWY_DYNAMIC_DISPATCH(floatBlock)(job, firstColumn, work);
}
template <>
void transformColumns(const ColumnTransforms<double>& job, int64_t firstColumn, double* work) {
  HWY_DYNAMIC_DISPATCH(doubleBlock)(job, firstColumn, work);
}
template <class T>
int64_t blockWork(int64_t points) {
  return 2 * 2 * (points + blockColumns<T>()) * blockColumns<T>();
}
template int64_t blockWork<float>(int64_t points);
template int64_t blockWork<double>(int64_t points);
}  // namespace opkit::ops::dft
#endif
