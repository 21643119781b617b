// Loops over rows: whole vectors, then a tail of single lanes. Folds keep four vectors of partial results, so
// that additions do not wait for each other and errors grow with count / (4 * lanes).
#include "engine/backend/cpu/vector_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/vector_ops.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu {
namespace HWY_NAMESPACE {

// ---- folds

struct Max {
  HWY_INLINE FloatVec operator()(FloatVec y, FloatVec x) const {
    return choose(hn::Or(hn::Gt(x, y), hn::IsNaN(x)), x, y);
  }
  static HWY_INLINE float ofLanes(FloatVec x) { return hn::GetLane(hn::MaxOfLanes(FloatTag(), x)); }
};
struct Min {
  HWY_INLINE FloatVec operator()(FloatVec y, FloatVec x) const {
    return choose(hn::Or(hn::Lt(x, y), hn::IsNaN(x)), x, y);
  }
  static HWY_INLINE float ofLanes(FloatVec x) { return hn::GetLane(hn::MinOfLanes(FloatTag(), x)); }
};
struct Add {
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return hn::Add(a, b); }
};
struct Same {
  HWY_INLINE FloatVec operator()(FloatVec x) const { return x; }
};
struct Absolute {
  HWY_INLINE FloatVec operator()(FloatVec x) const { return hn::Abs(x); }
};
struct Square {
  HWY_INLINE FloatVec operator()(FloatVec x) const { return hn::Mul(x, x); }
};

/// Folds all x[i], beginning with the neutral element `start`.
template <class Join>
HWY_INLINE float fold(const float* x, int64_t count, float start, Join join) {
  FloatVec part[4] = {set(start), set(start), set(start), set(start)};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes)
    HWY_UNROLL(4) for (int v = 0; v < 4; ++v) part[v] = join(part[v], load(x + i + v * kLanes));
  for (; i + kLanes <= count; i += kLanes) part[0] = join(part[0], load(x + i));
  if (i < count) part[1] = join(part[1], loadPart(x + i, count - i, start));
  const FloatVec all = join(join(part[0], part[1]), join(part[2], part[3]));
  return hn::AllFalse(FloatTag(), hn::IsNaN(all)) ? Join::ofLanes(all) : NAN;
}
float largest(const float* x, int64_t n) { return fold(x, n, -INFINITY, Max()); }
float smallest(const float* x, int64_t n) { return fold(x, n, INFINITY, Min()); }

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
constexpr int64_t kDoubles = static_cast<int64_t>(hn::MaxLanes(DoubleTag()));

/// The first `count` of as many floats as a vector of doubles has; then zeros.
HWY_INLINE hn::Vec<hn::Rebind<float, DoubleTag>> firstFloats(const float* x, int64_t count) {
  const hn::Rebind<float, DoubleTag> narrow;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(narrow, static_cast<size_t>(count)), narrow, x);
#else
  HWY_ALIGN float floats[kDoubles] = {};
  for (int64_t i = 0; i < count; ++i) floats[i] = x[i];
  return hn::Load(narrow, floats);
#endif
}

/// The sum of map(x[i]), in double.
template <class Map>
HWY_INLINE double foldSum(const float* x, int64_t count, Map map) {
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> narrow;
  const auto term = [d, narrow, map](const float* from)
                        HWY_ATTR { return map(hn::PromoteTo(d, hn::LoadU(narrow, from))); };
  DoubleVec part[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  int64_t i = 0;
  for (; i + 4 * kDoubles <= count; i += 4 * kDoubles)
    HWY_UNROLL(4) for (int v = 0; v < 4; ++v) part[v] = hn::Add(part[v], term(x + i + v * kDoubles));
  for (; i + kDoubles <= count; i += kDoubles) part[0] = hn::Add(part[0], term(x + i));
  if (i < count) {
    const auto rest = hn::FirstN(d, static_cast<size_t>(count - i));
    part[1] = hn::Add(part[1], hn::IfThenElseZero(rest, map(hn::PromoteTo(d, firstFloats(x + i, count - i)))));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]))));
}

double sum(const float* x, int64_t n) {
  return foldSum(x, n, [](DoubleVec v) HWY_ATTR { return v; });
}
double absoluteSum(const float* x, int64_t n) {
  return foldSum(x, n, [](DoubleVec v) HWY_ATTR { return hn::Abs(v); });
}
double squareSum(const float* x, int64_t n) {
  return foldSum(x, n, [](DoubleVec v) HWY_ATTR { return hn::Mul(v, v); });
}
double deviation(const float* x, double mean, int64_t n) {
  const DoubleVec centre = hn::Set(DoubleTag(), mean);
  return foldSum(x, n, [centre](DoubleVec v) HWY_ATTR {
    const DoubleVec away = hn::Sub(v, centre);
    return hn::Mul(away, away);
  });
}

// ---- element by element

/// y[i] = map(x[i])
template <class Map>
HWY_INLINE void map1(const float* x, float* y, int64_t count, Map map) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(map(load(x + i)), y + i);
  if (i < count) storePart(map(loadPart(x + i, count - i)), y + i, count - i);
}

/// y[i] = map(x[i], z[i])
template <class Map>
HWY_INLINE void map2(const float* x, const float* z, float* y, int64_t count, Map map) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(map(load(x + i), load(z + i)), y + i);
  if (i < count) storePart(map(loadPart(x + i, count - i), loadPart(z + i, count - i)), y + i, count - i);
}

template <class Join, class Map>
HWY_INLINE void accumulate(const float* x, float* y, int64_t n, Join join, Map map) {
  map2(x, y, y, n, [join, map](FloatVec from, FloatVec to) HWY_ATTR { return join(to, map(from)); });
}
void addSame(const float* x, float* y, int64_t n) { accumulate(x, y, n, Add(), Same()); }
void addAbsolute(const float* x, float* y, int64_t n) { accumulate(x, y, n, Add(), Absolute()); }
void addSquare(const float* x, float* y, int64_t n) { accumulate(x, y, n, Add(), Square()); }
void maxInto(const float* x, float* y, int64_t n) { accumulate(x, y, n, Max(), Same()); }
void minInto(const float* x, float* y, int64_t n) { accumulate(x, y, n, Min(), Same()); }

/// `kVectors` vectors of each of `kRows` rows of a product: enough sums that additions do not wait for each other.
template <int kRows, int kVectors = 1, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiplyColumns(D d, const SmallProduct& p, const T* a, const T* b, T* y) {
  constexpr auto kWidth = static_cast<int64_t>(hn::MaxLanes(D()));
  hn::Vec<D> sums[kRows][kVectors];
  HWY_UNROLL(4) for (int row = 0; row < kRows; ++row) for (auto& sum : sums[row]) sum = hn::Zero(d);
  for (int64_t k = 0; k < p.depth; ++k) {
    hn::Vec<D> right[kVectors];
    HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + k * p.bDepth + v * kWidth);
    HWY_UNROLL(4)
    for (int row = 0; row < kRows; ++row) {
      const auto left = hn::Set(d, a[row * p.aRow + k * p.aDepth]);
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) sums[row][v] = hn::MulAdd(left, right[v], sums[row][v]);
    }
  }
  if (p.low > -INFINITY || p.high < INFINITY) {
    const auto low = hn::Set(d, static_cast<T>(p.low)), high = hn::Set(d, static_cast<T>(p.high));
    HWY_UNROLL(4) for (int row = 0; row < kRows; ++row) {
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
        const auto sum = hn::IfThenElse(hn::Lt(sums[row][v], low), low, sums[row][v]);
        sums[row][v] = hn::IfThenElse(hn::Gt(sum, high), high, sum);
      }
    }
  }
  HWY_UNROLL(4) for (int row = 0; row < kRows; ++row) {
    HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[row][v], d, y + row * p.yRow + v * kWidth);
  }
}

template <int kRows, class T>
HWY_INLINE void multiplyRows(const SmallProduct& p, const T* a, const T* b, T* y) {
  const hn::ScalableTag<T> whole;
  const hn::CappedTag<T, 4> four;
  const hn::CappedTag<T, 1> one;
  constexpr auto kWhole = static_cast<int64_t>(hn::MaxLanes(whole)), kFour = static_cast<int64_t>(hn::MaxLanes(four));
  constexpr int kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;  // as many as there are registers for
  int64_t c = 0;
  for (; c + kVectors * kWhole <= p.columns; c += kVectors * kWhole)
    multiplyColumns<kRows, kVectors>(whole, p, a, b + c, y + c);
  for (; c + kWhole <= p.columns; c += kWhole) multiplyColumns<kRows>(whole, p, a, b + c, y + c);
  for (; c + kFour <= p.columns; c += kFour) multiplyColumns<kRows>(four, p, a, b + c, y + c);
  for (; c < p.columns; ++c) multiplyColumns<kRows>(one, p, a, b + c, y + c);
}

template <class T>
HWY_INLINE void multiplyAll(const SmallProduct& p, const T* a, const T* b, T* y) {
  int64_t row = 0;
  for (; row + 4 <= p.rows; row += 4) multiplyRows<4>(p, a + row * p.aRow, b, y + row * p.yRow);
  for (; row < p.rows; ++row) multiplyRows<1>(p, a + row * p.aRow, b, y + row * p.yRow);
}

#if HWY_TARGET != HWY_SCALAR
/// Four rows of four elements.
HWY_INLINE void transposeBlock(const float* x, int64_t xRow, float* y, int64_t yRow) {
  const hn::FixedTag<float, 4> d;
  const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + xRow), c = hn::LoadU(d, x + 2 * xRow),
             e = hn::LoadU(d, x + 3 * xRow);
  const auto lowEven = hn::InterleaveLower(d, a, c), lowOdd = hn::InterleaveLower(d, b, e);
  const auto highEven = hn::InterleaveUpper(d, a, c), highOdd = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, lowEven, lowOdd), d, y);
  hn::StoreU(hn::InterleaveUpper(d, lowEven, lowOdd), d, y + yRow);
  hn::StoreU(hn::InterleaveLower(d, highEven, highOdd), d, y + 2 * yRow);
  hn::StoreU(hn::InterleaveUpper(d, highEven, highOdd), d, y + 3 * yRow);
}
/// Rows of two or three elements, one after another. The last vectors overlap those before. REQUIRES kLanes rows.
HWY_INLINE void splitShortRows(const float* x, int64_t rows, int64_t columns, float* y, int64_t yRow) {
  const FloatTag d;
  FloatVec a, b, c;
  for (int64_t i = 0; i < rows; i += kLanes) {
    const int64_t row = std::min(i, rows - kLanes);
    if (columns == 2) {
      hn::LoadInterleaved2(d, x + 2 * row, a, b);
    } else {
      hn::LoadInterleaved3(d, x + 3 * row, a, b, c);
      store(c, y + 2 * yRow + row);
    }
    store(a, y + row);
    store(b, y + yRow + row);
  }
}
/// The way back: two or three rows become `columns` rows of so many elements.
HWY_INLINE void joinFewRows(const float* x, int64_t xRow, int64_t rows, int64_t columns, float* y) {
  const FloatTag d;
  for (int64_t i = 0; i < columns; i += kLanes) {
    const int64_t column = std::min(i, columns - kLanes);
    const FloatVec a = load(x + column), b = load(x + xRow + column);
    if (rows == 2)
      hn::StoreInterleaved2(a, b, d, y + 2 * column);
    else
      hn::StoreInterleaved3(a, b, load(x + 2 * xRow + column), d, y + 3 * column);
  }
}
#endif

void transposeFloats(const float* x, int64_t xRow, int64_t rows, int64_t columns, float* y, int64_t yRow) {
#if HWY_TARGET != HWY_SCALAR
  if (rows >= 4 && columns >= 4) {  // the last blocks overlap those before
    for (int64_t i = 0; i < rows; i += 4) {
      const int64_t row = std::min(i, rows - 4);
      for (int64_t j = 0; j < columns; j += 4) {
        const int64_t column = std::min(j, columns - 4);
        transposeBlock(x + row * xRow + column, xRow, y + column * yRow + row, yRow);
      }
    }
    return;
  }
  if (columns == 1 && xRow == 1) return copyRun(x, y, rows);
  if (rows == 1 && yRow == 1) return copyRun(x, y, columns);
  if ((columns == 2 || columns == 3) && xRow == columns && rows >= kLanes)
    return splitShortRows(x, rows, columns, y, yRow);
  if ((rows == 2 || rows == 3) && yRow == rows && columns >= kLanes) return joinFewRows(x, xRow, rows, columns, y);
#endif
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) y[j * yRow + i] = x[i * xRow + j];
}

void multiplyFloats(const SmallProduct& p, const float* a, const float* b, float* y) { multiplyAll(p, a, b, y); }
void multiplyDoubles(const SmallProduct& p, const double* a, const double* b, double* y) { multiplyAll(p, a, b, y); }

void clampAll(float low, float high, float* y, int64_t n) {
  map1(y, y, n, [low, high](FloatVec v) HWY_ATTR { return limitTo(v, set(low), set(high)); });
}
void affineMap(const float* x, float centre, float factor, float constant, float* y, int64_t n) {
  const FloatVec from = set(centre), a = set(factor), b = set(constant);
  map1(x, y, n, [from, a, b](FloatVec v) HWY_ATTR { return hn::MulAdd(hn::Sub(v, from), a, b); });
}
void divideMap(const float* x, float divisor, float* y, int64_t n) {
  const FloatVec by = set(divisor);
  map1(x, y, n, [by](FloatVec v) HWY_ATTR { return hn::Div(v, by); });
}
void squareRootMap(const float* x, float* y, int64_t n) {
  map1(x, y, n, [](FloatVec v) HWY_ATTR { return hn::Sqrt(v); });
}
void divideByMap(const float* x, const float* divisor, float* y, int64_t n) {
  map2(x, divisor, y, n, [](FloatVec v, FloatVec by) HWY_ATTR { return hn::Div(v, by); });
}

/// (x - mean) * factor in float. Differences of elements near the largest float overflow, and their factor is denormal:
/// they are scaled first.
struct Normal {
  Normal(double mean, double by) {
    const double first = by < 0x1p-64 ? 0x1p-32 : 1;
    const auto high = static_cast<float>(mean * first);
    scaled = set(static_cast<float>(first));
    centre = set(high);
    rest = set(static_cast<float>(mean * first - high));
    factor = set(static_cast<float>(by / first));
  }
  HWY_INLINE FloatVec operator()(FloatVec x) const {
    return hn::Mul(hn::Sub(hn::Sub(hn::Mul(x, scaled), centre), rest), factor);
  }
  FloatVec scaled, centre, rest, factor;
};

void normaliseMap(const float* x, double mean, double factor, const float* scale, const float* bias, float* y,
                  int64_t n) {
  const Normal normal(mean, factor);
  const FloatVec one = set(1.0f), zero = set(0.0f);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(hn::MulAdd(normal(load(x + i)), scale ? load(scale + i) : one, bias ? load(bias + i) : zero), y + i);
  if (i == n) return;
  const FloatVec s = scale ? loadPart(scale + i, n - i) : one, b = bias ? loadPart(bias + i, n - i) : zero;
  storePart(hn::MulAdd(normal(loadPart(x + i, n - i)), s, b), y + i, n - i);
}
void normaliseAlike(const float* x, double mean, double factor, float scale, float bias, float* y, int64_t n) {
  const Normal normal(mean, factor);
  const FloatVec s = set(scale), b = set(bias);
  map1(x, y, n, [normal, s, b](FloatVec v) HWY_ATTR { return hn::MulAdd(normal(v), s, b); });
}

// ---- exponentials

/// `power` is e^x, or e^x for x <= 0.
template <class Power>
HWY_INLINE float powersOfRow(const float* x, float shift, float* y, int64_t n, const Power& power) {
  const FloatVec by = set(shift);
  FloatVec total = set(0.0f);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const FloatVec e = power(hn::Sub(load(x + i), by));
    total = hn::Add(total, e);
    if (y) store(e, y + i);
  }
  if (i < n) {
    const FloatVec e = power(hn::Sub(loadPart(x + i, n - i, shift), by));
    if (y) storePart(e, y + i, n - i);
    total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(FloatTag(), static_cast<size_t>(n - i)), e));
  }
  return hn::GetLane(hn::SumOfLanes(FloatTag(), total));
}

float expRow(const float* x, float shift, float* y, int64_t n) {
  return powersOfRow(x, shift, y, n, [](FloatVec v) HWY_ATTR { return exp(v); });
}
float expRowBelow(const float* x, float shift, float* y, int64_t n) {
  return powersOfRow(x, shift, y, n, [](FloatVec v) HWY_ATTR { return expOfNegative(v); });
}

void expColumns(const float* x, const float* shift, float* y, float* sum, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const FloatVec e = expOfNegative(hn::Sub(load(x + i), load(shift + i)));
    if (y) store(e, y + i);
    store(hn::Add(load(sum + i), e), sum + i);
  }
  if (i == n) return;
  const FloatVec e = expOfNegative(hn::Sub(loadPart(x + i, n - i), loadPart(shift + i, n - i)));
  if (y) storePart(e, y + i, n - i);
  storePart(hn::Add(loadPart(sum + i, n - i), e), sum + i, n - i);
}

void subtractBoth(const float* x, const float* first, const float* second, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(hn::Sub(hn::Sub(load(x + i), load(first + i)), load(second + i)), y + i);
  if (i == n) return;
  const FloatVec shifted = hn::Sub(loadPart(x + i, n - i), loadPart(first + i, n - i));
  storePart(hn::Sub(shifted, loadPart(second + i, n - i)), y + i, n - i);
}
void logarithmMap(const float* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(log(load(x + i)), y + i);
  if (i < n) storePart(log(loadPart(x + i, n - i, 1.0f)), y + i, n - i);
}

// ---- half precision, by the processor where the instruction set converts, else by integer arithmetic

#undef OPKIT_CONVERTS_HALVES
#define OPKIT_CONVERTS_HALVES (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

#if OPKIT_CONVERTS_HALVES
const hwy::float16_t* storedOf(const Half* x) { return reinterpret_cast<const hwy::float16_t*>(x); }
hwy::float16_t* storedOf(Half* x) { return reinterpret_cast<hwy::float16_t*>(x); }
#endif

void widen(const Half* x, float* y, int64_t n) {
  int64_t i = 0;
#if OPKIT_CONVERTS_HALVES
  const hn::Rebind<hwy::float16_t, FloatTag> halves;
  for (; i + kLanes <= n; i += kLanes) store(hn::PromoteTo(FloatTag(), hn::LoadU(halves, storedOf(x + i))), y + i);
#endif
  for (; i < n; ++i) {
    const uint32_t half = x[i].bits, sign = (half & 0x8000u) << 16, magnitude = (half & 0x7FFFu) << 13;
    const uint32_t normal = magnitude + (112u << 23), special = magnitude | 0x7F800000u;
    // A subnormal's mantissa m is m / 2^24: 2^-14 (1 + m / 2^10) without the 1.
    const float small = std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f;
    const uint32_t exponent = half & 0x7C00u;
    const uint32_t bits = exponent == 0x7C00u ? special : exponent == 0 ? std::bit_cast<uint32_t>(small) : normal;
    y[i] = std::bit_cast<float>(sign | bits);
  }
}

void roundHalf(const float* x, Half* y, int64_t n) {
  int64_t i = 0;
#if OPKIT_CONVERTS_HALVES
  const hn::Rebind<hwy::float16_t, FloatTag> halves;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::DemoteTo(halves, load(x + i)), halves, storedOf(y + i));
#endif
  for (; i < n; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    const uint32_t even = magnitude >> 13 & 1u;
    const uint32_t normal = (magnitude - (112u << 23) + 0xFFFu + even) >> 13;  // a carry goes into the exponent
    // 0.5 has the unit in the last place of half's subnormals: the addition rounds.
    const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
    const uint32_t large = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;
    const uint32_t half = magnitude >= (143u << 23) ? large : magnitude < (113u << 23) ? small : normal;
    y[i].bits = static_cast<uint16_t>(sign | half);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu {

#define FORWARD(Result, name, implementation, parameters, arguments) \
  HWY_EXPORT(implementation);                                        \
  Result name parameters { return HWY_DYNAMIC_DISPATCH(implementation) arguments; }

FORWARD(double, sumOf, sum, (const float* x, int64_t count), (x, count))
FORWARD(double, absoluteSumOf, absoluteSum, (const float* x, int64_t count), (x, count))
FORWARD(double, squareSumOf, squareSum, (const float* x, int64_t count), (x, count))
FORWARD(double, deviationOf, deviation, (const float* x, double mean, int64_t count), (x, mean, count))
FORWARD(float, maxOf, largest, (const float* x, int64_t count), (x, count))
FORWARD(float, minOf, smallest, (const float* x, int64_t count), (x, count))
FORWARD(void, addTo, addSame, (const float* x, float* y, int64_t count), (x, y, count))
FORWARD(void, addAbsoluteTo, addAbsolute, (const float* x, float* y, int64_t count), (x, y, count))
FORWARD(void, addSquareTo, addSquare, (const float* x, float* y, int64_t count), (x, y, count))
FORWARD(void, maxTo, maxInto, (const float* x, float* y, int64_t count), (x, y, count))
FORWARD(void, minTo, minInto, (const float* x, float* y, int64_t count), (x, y, count))
FORWARD(void, transpose, transposeFloats,
        (const float* x, int64_t xRow, int64_t rows, int64_t columns, float* y, int64_t yRow),
        (x, xRow, rows, columns, y, yRow))
FORWARD(void, multiplySmall, multiplyFloats, (const SmallProduct& product, const float* a, const float* b, float* y),
        (product, a, b, y))
FORWARD(void, multiplySmall, multiplyDoubles,
        (const SmallProduct& product, const double* a, const double* b, double* y), (product, a, b, y))
FORWARD(void, clampTo, clampAll, (float low, float high, float* y, int64_t count), (low, high, y, count))
FORWARD(void, affine, affineMap, (const float* x, float centre, float factor, float constant, float* y, int64_t count),
        (x, centre, factor, constant, y, count))
FORWARD(void, divide, divideMap, (const float* x, float divisor, float* y, int64_t count), (x, divisor, y, count))
FORWARD(void, squareRoot, squareRootMap, (const float* x, float* y, int64_t count), (x, y, count))
FORWARD(void, divideBy, divideByMap, (const float* x, const float* divisor, float* y, int64_t count),
        (x, divisor, y, count))
FORWARD(void, normalise, normaliseMap,
        (const float* x, double mean, double factor, const float* scale, const float* bias, float* y, int64_t count),
        (x, mean, factor, scale, bias, y, count))
FORWARD(void, normalise, normaliseAlike,
        (const float* x, double mean, double factor, float scale, float bias, float* y, int64_t count),
        (x, mean, factor, scale, bias, y, count))
FORWARD(float, expOf, expRow, (const float* x, float shift, float* y, int64_t count), (x, shift, y, count))
FORWARD(float, expBelow, expRowBelow, (const float* x, float shift, float* y, int64_t count), (x, shift, y, count))
FORWARD(void, expTo, expColumns, (const float* x, const float* shift, float* y, float* sum, int64_t count),
        (x, shift, y, sum, count))
FORWARD(void, logOf, logarithmMap, (const float* x, float* y, int64_t count), (x, y, count))
FORWARD(void, subtract, subtractBoth,
        (const float* x, const float* first, const float* second, float* y, int64_t count),
        (x, first, second, y, count))
FORWARD(void, widenHalves, widen, (const Half* x, float* y, int64_t count), (x, y, count))
FORWARD(void, roundToHalves, roundHalf, (const float* x, Half* y, int64_t count), (x, y, count))

}  // namespace opkit::cpu
#endif
