// Plain loops that the compiler turns into vectors of each instruction set.
#include "engine/backend/cpu/integer_products.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/integer_products.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu {
namespace HWY_NAMESPACE {

/// A block of sums, which stays in the first-level cache while the depth passes by.
template <class T, int kRows, int kColumns>
void wrapBlock(const SmallProduct& p, const T* a, const T* b, T* y) {
  T sums[kRows][kColumns] = {};
  for (int64_t k = 0; k < p.depth; ++k) {
    const T* right = b + k * p.bDepth;
    for (int row = 0; row < kRows; ++row) {
      const T left = a[row * p.aRow + k * p.aDepth];
      for (int c = 0; c < kColumns; ++c) sums[row][c] += left * right[c];
    }
  }
  for (int row = 0; row < kRows; ++row) std::copy_n(sums[row], kColumns, y + row * p.yRow);
}

template <class T, int kRows>
void wrapRows(const SmallProduct& p, const T* a, const T* b, T* y) {
  constexpr int kWide = 128 / sizeof(T), kNarrow = 4;
  int64_t c = 0;
  for (; c + kWide <= p.columns; c += kWide) wrapBlock<T, kRows, kWide>(p, a, b + c, y + c);
  for (; c + kNarrow <= p.columns; c += kNarrow) wrapBlock<T, kRows, kNarrow>(p, a, b + c, y + c);
  for (; c < p.columns; ++c) wrapBlock<T, kRows, 1>(p, a, b + c, y + c);
}

template <class T>
void wrapAll(const SmallProduct& p, const T* a, const T* b, T* y) {
  int64_t row = 0;
  for (; row + 4 <= p.rows; row += 4) wrapRows<T, 4>(p, a + row * p.aRow, b, y + row * p.yRow);
  for (; row < p.rows; ++row) wrapRows<T, 1>(p, a + row * p.aRow, b, y + row * p.yRow);
}
void multiply32(const SmallProduct& p, const uint32_t* a, const uint32_t* b, uint32_t* y) { wrapAll(p, a, b, y); }
void multiply64(const SmallProduct& p, const uint64_t* a, const uint64_t* b, uint64_t* y) { wrapAll(p, a, b, y); }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu {
HWY_EXPORT(multiply32);
HWY_EXPORT(multiply64);
void multiplyIntegers(const SmallProduct& product, const uint32_t* a, const uint32_t* b, uint32_t* y) {
  HWY_DYNAMIC_DISPATCH(multiply32)(product, a, b, y);
}
void multiplyIntegers(const SmallProduct& product, const uint64_t* a, const uint64_t* b, uint64_t* y) {
  HWY_DYNAMIC_DISPATCH(multiply64)(product, a, b, y);
}
}  // namespace opkit::cpu
#endif
