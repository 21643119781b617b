#include "ops/unary/fuse_clamp.h"

#include "ops/unary/unary_generated.h"

namespace opkit::ops::unary {

std::optional<Clamp> clampOfNode(std::string_view type, const ParamBytes& paramBytes) {
  Clamp clamp;
  if (type == "Relu") {
    clamp.low = 0;
  } else if (type == "Clip") {
    const auto params = unpackParams<UnaryParams>(paramBytes);
    clamp.low = params.alpha.value_or(clamp.low);
    clamp.high = params.beta.value_or(clamp.high);
  } else {
    return std::nullopt;
  }
  if (!clamp.check().isOk()) return std::nullopt;
  return clamp;
}

std::optional<Clamp> composed(const Clamp& inner, const Clamp& outer) {
  if (!inner.check().isOk()) return std::nullopt;
  return Clamp{std::clamp(inner.low, outer.low, outer.high), std::clamp(inner.high, outer.low, outer.high)};
}

}  // namespace opkit::ops::unary
