// Plain loops that the compiler turns into vectors of each instruction set.
#include "ops/cum_sum/cum_sum_wide.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cum_sum/cum_sum_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::cum_sum {
namespace HWY_NAMESPACE {

/// `kFew` columns, so that their sums stay in registers; 0: rows.columns of them.
template <int64_t kFew, bool kExclusive, class T>
HWY_INLINE void addRows(const Columns& rows, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  const int64_t columns = kFew > 0 ? kFew : rows.columns;
  Sum sums[kFew > 0 ? kFew : kMostColumns] = {};
  for (int64_t i = 0; i < rows.extent; ++i, x += rows.step, y += rows.step) {
    for (int64_t c = 0; c < columns; ++c) {
      const Sum next = sums[c] + static_cast<Sum>(x[c]);
      y[c] = static_cast<T>(kExclusive ? sums[c] : next);
      sums[c] = next;
    }
  }
}
template <bool kExclusive, class T>
HWY_INLINE void addAll(const Columns& rows, const T* x, T* y) {
  if (rows.columns == 2) return addRows<2, kExclusive>(rows, x, y);
  if (rows.columns == 3) return addRows<3, kExclusive>(rows, x, y);
  if (rows.columns == 4) return addRows<4, kExclusive>(rows, x, y);
  addRows<0, kExclusive>(rows, x, y);
}
template <class T>
HWY_INLINE void add(const Columns& rows, const T* x, T* y) {
  rows.exclusive ? addAll<true>(rows, x, y) : addAll<false>(rows, x, y);
}
void addFloats(const Columns& rows, const float* x, float* y) { add(rows, x, y); }
void addDoubles(const Columns& rows, const double* x, double* y) { add(rows, x, y); }
void addWords(const Columns& rows, const uint32_t* x, uint32_t* y) { add(rows, x, y); }
void addLongWords(const Columns& rows, const uint64_t* x, uint64_t* y) { add(rows, x, y); }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::cum_sum
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::cum_sum {

#define OPKIT_SUMS(Type, name) \
  HWY_EXPORT(name);            \
  void sumColumns(const Columns& rows, const Type* x, Type* y) { HWY_DYNAMIC_DISPATCH(name)(rows, x, y); }
OPKIT_SUMS(float, addFloats)
OPKIT_SUMS(double, addDoubles)
OPKIT_SUMS(uint32_t, addWords)
OPKIT_SUMS(uint64_t, addLongWords)
#undef OPKIT_SUMS

}  // namespace opkit::ops::cum_sum
#endif
