#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/rotary_embedding/rotary_embedding_parts.h"

namespace opkit::ops::rotary_embedding {

Status reference(const OracleArgs& args) {
  const auto params = args.params<RotaryEmbeddingParams>();
  const OracleTensor &x = args.input(0), &cosines = args.input(1), &sines = args.input(2);
  OracleTensor& y = args.output();
  const bool isPacked = x.shape().size() == 3;
  const int64_t size = isPacked ? x.shape()[2] / params.num_heads : x.shape()[3];
  const int64_t turned = params.rotary_dim == 0  ? size
                         : params.rotary_dim < 0 ? 2 * cosines.shape()[2]
                                                 : params.rotary_dim;
  y.terms = 2;
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  forEachCoordinates(x.shape(), [&](size_t i, Coordinates& at) {
    const int64_t token = isPacked ? at[1] : at[2], d = at.back() % size;
    y.real[i] = x.real[i];
    if (args.wantMagnitude) y.magnitude[i] = std::fabs(x.real[i]);
    if (d >= turned) return;
    const bool isFirst = params.interleaved ? d % 2 == 0 : d < turned / 2;
    const int64_t pair = params.interleaved ? d / 2 : d % (turned / 2);
    const int64_t distance = params.interleaved ? 1 : turned / 2;
    const size_t angle = elementAt(cosines.shape(), {at[0], token, pair});
    at.back() += isFirst ? distance : -distance;
    const double other = x.real[elementAt(x.shape(), at)] * (isFirst ? -1 : 1);
    y.real[i] = x.real[i] * cosines.real[angle] + other * sines.real[angle];
    if (args.wantMagnitude)
      y.magnitude[i] = std::fabs(x.real[i] * cosines.real[angle]) + std::fabs(other * sines.real[angle]);
  });
  return Status::ok();
}

}  // namespace opkit::ops::rotary_embedding
