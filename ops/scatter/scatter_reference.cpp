#include "engine/op/oracle_elements.h"
#include "engine/op/scatter.h"
#include "ops/scatter/scatter.h"

namespace opkit::ops::scatter {

/// The update at `at` goes to the same coordinates, but for the axis, where the index stands.
Status elementsReference(const OracleArgs& args) {
  const auto params = args.params<ScatterParams>();
  const OracleTensor &data = args.input(0), &indices = args.input(1);
  const size_t axis = axisFromFront(params.axis, data.shape().size());
  std::vector<int64_t> places;
  Status status;
  forEachCoordinates(indices.shape(), [&](size_t i, Coordinates& at) {
    const Result<int64_t> place = resolveIndex("ScatterElements", indices.integer[i], data.shape()[axis]);
    if (!place) {
      if (status.isOk()) status = place.error();
      return;
    }
    at[axis] = *place;
    places.push_back(static_cast<int64_t>(elementAt(data.shape(), at)));
  });
  OPKIT_TRY(status);
  return scatterAt(static_cast<Combine>(params.reduction), places, args);
}

/// The coordinates of an update are those of its tuple, then those inside its slice.
Status ndReference(const OracleArgs& args) {
  const OracleTensor &data = args.input(0), &indices = args.input(1);
  const auto tupleAxes = static_cast<ptrdiff_t>(indices.shape().size()) - 1;
  std::vector<int64_t> places;
  Status status;
  forEachCoordinates(args.input(2).shape(), [&](size_t, const Coordinates& at) {
    Coordinates to, tuple(at.begin(), at.begin() + tupleAxes);
    for (tuple.push_back(0); tuple.back() < indices.shape().back() && status.isOk(); ++tuple.back()) {
      const int64_t index = indices.integer[elementAt(indices.shape(), tuple)];
      const Result<int64_t> place = resolveIndex("ScatterND", index, data.shape()[to.size()]);
      if (place)
        to.push_back(*place);
      else
        status = place.error();
    }
    if (!status.isOk()) return;
    to.insert(to.end(), at.begin() + tupleAxes, at.end());
    places.push_back(static_cast<int64_t>(elementAt(data.shape(), to)));
  });
  OPKIT_TRY(status);
  return scatterAt(static_cast<Combine>(args.params<ScatterNdParams>().reduction), places, args);
}

}  // namespace opkit::ops::scatter
