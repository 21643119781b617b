#include "ops/grid_sample/grid_places_wide.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/grid_sample/grid_places_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::grid_sample::places {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class P>
class Axis {
 public:
  explicit Axis(const PlaceRule& rule)
      : rule_(rule),
        count_(static_cast<P>(rule.extent)),
        low_(rule.alignCorners ? P{0} : P(-0.5)),
        high_(rule.alignCorners ? count_ - 1 : count_ - P(0.5)) {}

  template <class V>
  HWY_INLINE V placeOf(V coordinate) const {
    const V one = set(1), half = set(P(0.5)), from1 = hn::Add(coordinate, one);
    V at = rule_.alignCorners ? hn::Mul(hn::Mul(from1, half), set(count_ - 1))
                              : hn::Mul(hn::Sub(hn::Mul(from1, set(count_)), one), half);
    if (rule_.mode == GridMode::Nearest) at = hn::Round(at);
    if (rule_.padding == GridPadding::Border) {
      at = hn::IfThenElse(hn::Lt(at, set(low_)), set(0), at);
      at = hn::IfThenElse(hn::Gt(at, set(high_)), set(count_ - 1), at);
    }
    if (rule_.padding == GridPadding::Reflection) at = reflected(at);
    at = hn::IfThenElse(hn::Gt(at, set(-3)), at, set(-3));  // NaN too
    return hn::IfThenElse(hn::Lt(at, set(count_ + 2)), at, set(count_ + 2));
  }
  template <class V>
  HWY_INLINE V belowOf(V at) const {
    return rule_.mode == GridMode::Nearest ? hn::Round(at) : hn::Floor(at);
  }

 private:
  static HWY_INLINE auto set(P value) { return hn::Set(hn::ScalableTag<P>(), value); }

  template <class V>
  HWY_INLINE V reflected(V at) const {
    const V range = set(high_ - low_), low = set(low_), high = set(high_);
    if (!(high_ - low_ > 0)) return low;
    const auto isBelow = hn::Lt(at, low);
    const V distance = hn::IfThenElse(isBelow, hn::Sub(low, at), hn::Sub(at, high));
    const V times = hn::Floor(hn::Div(distance, range)), rest = hn::Sub(distance, hn::Mul(times, range));
    const V twice = hn::Mul(set(2), hn::Floor(hn::Mul(times, set(P(0.5)))));
    const auto startsHigh = hn::Xor(isBelow, hn::Eq(times, twice));  // below and odd, or above and even
    const V turned = hn::IfThenElse(startsHigh, hn::Sub(high, rest), hn::Add(low, rest));
    return hn::IfThenElse(hn::Gt(distance, set(0)), turned, at);
  }

  const PlaceRule& rule_;
  const P count_, low_, high_;
};

template <class P>
void findAll(const PlaceRule& rule, const P* coordinates, int64_t step, int64_t count, P* places, P* below) {
  const hn::ScalableTag<P> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<P>()));
  const Axis<P> axis(rule);
  for (int64_t first = 0; first < count; first += kLanes) {
    const int64_t used = std::min(kLanes, count - first);
    HWY_ALIGN P lanes[kLanes] = {};
    for (int64_t i = 0; i < used; ++i) lanes[i] = coordinates[(first + i) * step];
    const auto at = axis.placeOf(hn::Load(d, lanes)), floor = axis.belowOf(at);
    if (used == kLanes) {
      hn::StoreU(at, d, places + first);
      hn::StoreU(floor, d, below + first);
      continue;
    }
    hn::Store(at, d, lanes);
    std::copy_n(lanes, used, places + first);
    hn::Store(floor, d, lanes);
    std::copy_n(lanes, used, below + first);
  }
}

void findFloat(const PlaceRule& rule, const float* coordinates, int64_t step, int64_t count, float* places,
               float* below) {
  findAll(rule, coordinates, step, count, places, below);
}
void findDouble(const PlaceRule& rule, const double* coordinates, int64_t step, int64_t count, double* places,
                double* below) {
  findAll(rule, coordinates, step, count, places, below);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::grid_sample::places
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::grid_sample {
namespace places {

HWY_EXPORT(findFloat);
HWY_EXPORT(findDouble);
void forward(const PlaceRule& rule, const float* coordinates, int64_t step, int64_t count, float* at, float* below) {
  HWY_DYNAMIC_DISPATCH(findFloat)(rule, coordinates, step, count, at, below);
}
void forward(const PlaceRule& rule, const double* coordinates, int64_t step, int64_t count, double* at, double* below) {
  HWY_DYNAMIC_DISPATCH(findDouble)(rule, coordinates, step, count, at, below);
}

}  // namespace places

void findPlaces(const PlaceRule& rule, const float* coordinates, int64_t step, int64_t count, float* at, float* below) {
  places::forward(rule, coordinates, step, count, at, below);
}
void findPlaces(const PlaceRule& rule, const double* coordinates, int64_t step, int64_t count, double* at,
                double* below) {
  places::forward(rule, coordinates, step, count, at, below);
}

}  // namespace opkit::ops::grid_sample
#endif
