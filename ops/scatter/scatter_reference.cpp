#include "engine/op/oracle_elements.h"
#include "engine/op/scatter.h"
#include "ops/scatter/scatter.h"

namespace opkit::ops::scatter {
namespace {

using Places = Result<std::vector<int64_t>>;  // of the data, one per update

/// The update at `at` goes to the same coordinates, but for the axis, where the index stands.
Places elementPlaces(const OracleArgs& args) {
  const OracleTensor &data = args.input(0), &indices = args.input(1);
  const size_t axis = axisFromFront(args.params<ScatterParams>().axis, data.shape().size());
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
  return places;
}

/// The coordinates of an update are those of its tuple, then those inside its slice.
Places ndPlaces(const OracleArgs& args) {
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
  return places;
}

/// Where updates replace: data that some update replaces, and updates that a later one replaces.
HiddenElements replaced(const OracleArgs& args, const Places& places) {
  HiddenElements hidden(args.inputs.size());
  if (!places) return hidden;
  hidden[0].resize(static_cast<size_t>(args.input(0).elements()));
  hidden[2].resize(places->size());
  for (size_t update = places->size(); update-- > 0;) {
    const auto place = static_cast<size_t>((*places)[update]);
    hidden[2][update] = hidden[0][place];
    hidden[0][place] = true;
  }
  return hidden;
}

}  // namespace

Status elementsReference(const OracleArgs& args) {
  OPKIT_ASSIGN(const std::vector<int64_t> places, elementPlaces(args));
  return scatterAt(static_cast<Combine>(args.params<ScatterParams>().reduction), places, args);
}

Status ndReference(const OracleArgs& args) {
  OPKIT_ASSIGN(const std::vector<int64_t> places, ndPlaces(args));
  return scatterAt(static_cast<Combine>(args.params<ScatterNdParams>().reduction), places, args);
}

HiddenElements elementsHidden(const OracleArgs& args) {
  const bool replaces = args.params<ScatterParams>().reduction == ScatterReduction::None;
  return replaces ? replaced(args, elementPlaces(args)) : HiddenElements(args.inputs.size());
}

HiddenElements ndHidden(const OracleArgs& args) {
  const bool replaces = args.params<ScatterNdParams>().reduction == ScatterNdReduction::None;
  return replaces ? replaced(args, ndPlaces(args)) : HiddenElements(args.inputs.size());
}

}  // namespace opkit::ops::scatter
