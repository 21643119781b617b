#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/group_norm/group_norm_parts.h"

namespace opkit::ops::group_norm {

/// Sums over all elements of an image's group first, then each element by its channel.
Status reference(const OracleArgs& args) {
  const auto params = args.params<GroupNormParams>();
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  y.magnitude.assign(y.real.size(), 0.0);
  if (x.real.empty()) return Status::ok();
  const int64_t perGroup = x.shape()[1] / params.num_groups;
  const int64_t perRow = x.elements() / x.shape()[0] / params.num_groups;
  y.terms = termsOfNorm(static_cast<size_t>(perRow));
  std::vector<size_t> groupOf(x.real.size()), column(x.real.size());
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    const int64_t group = at[1] / perGroup;
    groupOf[i] = static_cast<size_t>(at[0] * params.num_groups + group);
    column[i] = static_cast<size_t>(params.by_group ? group : at[1]);
  });
  const auto count = static_cast<double>(perRow);
  std::vector<double> mean(static_cast<size_t>(x.shape()[0] * params.num_groups)), variance(mean.size());
  for (size_t i = 0; i < x.real.size(); ++i) mean[groupOf[i]] += x.real[i] / count;
  for (size_t i = 0; i < x.real.size(); ++i) {
    const double centred = x.real[i] - mean[groupOf[i]];
    variance[groupOf[i]] += centred * centred / count;
  }
  for (size_t i = 0; i < x.real.size(); ++i) {
    const double deviation = std::sqrt(variance[groupOf[i]] + params.epsilon), scale = args.input(1).real[column[i]];
    y.real[i] = (x.real[i] - mean[groupOf[i]]) / deviation * scale + args.input(2).real[column[i]];
    y.magnitude[i] = (1 + std::fabs(mean[groupOf[i]]) / deviation) * std::fabs(scale);
  }
  return Status::ok();
}

}  // namespace opkit::ops::group_norm
