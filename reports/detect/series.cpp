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

Series Series::pooled(size_t leastRuns, size_t without) const {
  std::vector<std::pair<size_t, size_t>> groups;  // first and last night, the newest group first
  size_t count = 0, last = 0;
  for (size_t i = size() - std::min(without, size()); i-- > 0;) {
    if (count == 0) last = i;
    count += runs(i).size();
    if (count < leastRuns) continue;
    groups.emplace_back(i, last);
    count = 0;
  }
  Series joined;
  joined.key = key;
  joined.kind = kind;
  joined.timeline = timeline;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    const auto [from, to] = *group;
    joined.add(nights_[from], std::span(values_).subspan(firsts_[from], firsts_[to + 1] - firsts_[from]));
    joined.lasts_.push_back(nights_[to]);
  }
  return joined;
}

}  // namespace opkit::reports::detect
