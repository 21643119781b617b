#include "ops/space_depth/space_depth.h"

#include "engine/op/oracle_elements.h"

namespace opkit::ops::space_depth {
namespace {

/// Coordinates with blocks in the channels, of an element with coordinates `wide` of the image with blocks in its
/// pixels; `depth` channels there.
Coordinates inChannels(const Coordinates& wide, const SpaceDepthParamsT& params, int64_t depth) {
  const int64_t block = params.block, row = wide[2] % block, column = wide[3] % block;
  const int64_t channel = params.order == Order::DepthColumnRow ? (row * block + column) * depth + wide[1]
                                                                : (wide[1] * block + row) * block + column;
  return {wide[0], channel, wide[2] / block, wide[3] / block};
}

}  // namespace

Status depthToSpaceReference(const OracleArgs& args) {
  const auto params = args.params<SpaceDepthParams>();
  const OracleTensor& deep = args.input(0);
  OracleTensor& wide = args.output();
  forEachCoordinates(wide.shape(), [&](size_t i, const Coordinates& at) {
    copyElement(deep, inChannels(at, params, wide.shape()[1]), wide, i);
  });
  return Status::ok();
}

Status spaceToDepthReference(const OracleArgs& args) {
  const auto params = args.params<SpaceDepthParams>();
  const OracleTensor& wide = args.input(0);
  OracleTensor& deep = args.output();
  forEachCoordinates(wide.shape(), [&](size_t i, const Coordinates& at) {
    copyElement(wide, i, deep, elementAt(deep.shape(), inChannels(at, params, wide.shape()[1])));
  });
  return Status::ok();
}

}  // namespace opkit::ops::space_depth
