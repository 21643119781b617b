#include "engine/backend/cpu/gemm/byte_column.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/gemm/byte_column.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/byte_finish-inl.h"
#include "engine/backend/cpu/gemm/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::bytes {
namespace HWY_NAMESPACE {

constexpr int64_t kMostSums = 256;  // of rows between two requantisations

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128  // has Shorts
constexpr int64_t kShorts = static_cast<int64_t>(hn::MaxLanes(Shorts()));

/// The product of a row with the column. Bytes of A behind the row meet zeros; `end` ends A.
template <class T>
HWY_INLINE int32_t dotOf(const T* row, const T* end, const int16_t* column, int64_t k, int32_t zeroPoint) {
  const hn::Rebind<T, Shorts> narrow;
  const auto zero = hn::Set(Shorts(), static_cast<int16_t>(zeroPoint));
  I sums[2] = {hn::Zero(Ints()), hn::Zero(Ints())}, unused = hn::Zero(Ints());
  const auto add = [&](const T* from, int64_t at, I& sum) HWY_ATTR {
    const auto a = hn::Sub(hn::PromoteTo(Shorts(), hn::LoadU(narrow, from)), zero);
    sum = hn::ReorderWidenMulAccumulate(Ints(), a, hn::LoadU(Shorts(), column + at), sum, unused);
  };
  int64_t p = 0;
  for (; p + 2 * kShorts <= k; p += 2 * kShorts) {
    add(row + p, p, sums[0]);
    add(row + p + kShorts, p + kShorts, sums[1]);
  }
  for (; p < k; p += kShorts) {
    if (end - row >= p + kShorts) {
      add(row + p, p, sums[0]);
      continue;
    }
    HWY_ALIGN T rest[kShorts] = {};
    std::memcpy(rest, row + p, static_cast<size_t>(k - p));
    add(rest, p, sums[1]);
  }
  return hn::GetLane(hn::SumOfLanes(Ints(), hn::Add(sums[0], sums[1])));
}
#else
constexpr int64_t kShorts = 1;

template <class T>
int32_t dotOf(const T* row, const T*, const int16_t* column, int64_t k, int32_t zeroPoint) {
  uint32_t sum = 0;
  for (int64_t p = 0; p < k; ++p) sum += static_cast<uint32_t>((row[p] - zeroPoint) * column[p]);
  return static_cast<int32_t>(sum);
}
#endif

int64_t roundedUp(int64_t k) { return (k + kShorts - 1) / kShorts * kShorts; }

void requantizeSums(const ColumnProblem& problem, const int32_t* sums, int64_t first, int64_t count) {
  const Requantization& to = problem.requantization;
  const F right = hn::Set(Reals(), *to.right.data), target = hn::Set(Reals(), to.target);
  for (int64_t i = 0; i < count; i += kLanes) {
    const int used = static_cast<int>(std::min<int64_t>(kLanes, count - i));
    const F multiplier = hn::Div(hn::Mul(loadLine(to.left, first + i, used), right), target);
    storeBytes(requantized(hn::Load(Ints(), sums + i), multiplier, to), problem.y + first + i, used);
  }
}

template <class T>
void multiplyRows(const ColumnProblem& problem, int64_t begin, int64_t end) {
  const T* a = reinterpret_cast<const T*>(problem.left.data);
  const T* last = a + problem.rows * problem.k;
  HWY_ALIGN int32_t block[kMostSums] = {};
  for (int64_t first = begin; first < end; first += kMostSums) {
    const int64_t count = std::min(kMostSums, end - first);
    int32_t* sums = problem.y ? block : problem.c + first;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t packed = problem.leftZeroPoint.data[(first + i) * problem.leftZeroPoint.step];
      sums[i] = dotOf(a + (first + i) * problem.k, last, problem.column, problem.k,
                      packed - leftOffset(problem.left.isSigned));
    }
    if (problem.y) requantizeSums(problem, block, first, count);
  }
}

void multiplyAll(const ColumnProblem& problem, int64_t begin, int64_t end) {
  problem.left.isSigned ? multiplyRows<int8_t>(problem, begin, end) : multiplyRows<uint8_t>(problem, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::bytes
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu::bytes {

HWY_EXPORT(roundedUp);
HWY_EXPORT(multiplyAll);

int64_t widenedElements(int64_t k) { return HWY_DYNAMIC_DISPATCH(roundedUp)(k); }

void widenColumn(const uint8_t* data, bool isSigned, int32_t zeroPoint, int64_t k, int16_t* column) {
  const int32_t zero = zeroPoint - rightOffset(isSigned);
  for (int64_t p = 0; p < k; ++p) {
    const int32_t value = isSigned ? static_cast<int8_t>(data[p]) : data[p];
    column[p] = static_cast<int16_t>(value - zero);
  }
  std::fill(column + k, column + widenedElements(k), int16_t{0});
}

void multiplyColumn(const ColumnProblem& problem, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(multiplyAll)(problem, begin, end);
}

}  // namespace opkit::cpu::bytes
#endif
