#include "reports/detect/series.h"

#include <cmath>

#include "engine/base/check.h"

namespace opkit::reports::detect {

bool Series::isResult(double value) const {
  if (kind == MetricKind::Accuracy) return true;  // NaN and infinity are results of a broken kernel
  return std::isfinite(value) && (value > 0 || !isNoisy(kind));
}

void Series::add(uint32_t night, std::span<const double> runs) {
  OPKIT_CHECK(nights_.empty() || nights_.back() < night);
  const size_t before = values_.size();
  for (const double value : runs)
    if (isResult(value)) values_.push_back(value);
  if (values_.size() == before) return;
  nights_.push_back(night);
  firsts_.push_back(static_cast<uint32_t>(values_.size()));
}

void Series::addDigest(uint32_t night, uint64_t digest) {
  OPKIT_CHECK(nights_.empty() || nights_.back() < night);
  nights_.push_back(night);
  firsts_.push_back(static_cast<uint32_t>(values_.size()));
  digests_.push_back(digest);
}

}  // namespace opkit::reports::detect
