#include "engine/op/oracle_elements.h"
#include "ops/gather/gather.h"

namespace opkit::ops::gather {
namespace {

/// y[at] = data[source(at)] for every element; stops at the first index out of range.
template <class Source>
Status gatherFrom(const OracleArgs& args, Source source) {
  Status status;
  forEachCoordinates(args.output().shape(), [&](size_t i, const Coordinates& at) {
    if (!status.isOk()) return;
    const Result<Coordinates> from = source(at);
    if (from)
      copyElement(args.input(0), *from, args.output(), i);
    else
      status = from.error();
  });
  return status;
}

Coordinates part(const Coordinates& at, size_t first, size_t last) {
  return {at.begin() + static_cast<ptrdiff_t>(first), at.begin() + static_cast<ptrdiff_t>(last)};
}

}  // namespace

/// The axis is replaced by the axes of the indices.
Status gatherReference(const OracleArgs& args) {
  const OracleTensor &data = args.input(0), &indices = args.input(1);
  const size_t rank = data.shape().size(), depth = indices.shape().size();
  const size_t axis = axisFromFront(args.params<GatherParams>().axis, rank);
  return gatherFrom(args, [&](const Coordinates& at) -> Result<Coordinates> {
    const size_t chosen = elementAt(indices.shape(), part(at, axis, axis + depth));
    Coordinates from = part(at, 0, axis);
    OPKIT_ASSIGN(const int64_t place, resolveIndex("Gather", indices.integer[chosen], data.shape()[axis]));
    from.push_back(place);
    from.insert(from.end(), at.begin() + static_cast<ptrdiff_t>(axis + depth), at.end());
    return from;
  });
}

Status gatherElementsReference(const OracleArgs& args) {
  const OracleTensor &data = args.input(0), &indices = args.input(1);
  const size_t axis = axisFromFront(args.params<GatherParams>().axis, data.shape().size());
  return gatherFrom(args, [&](Coordinates at) -> Result<Coordinates> {
    const int64_t index = indices.integer[elementAt(indices.shape(), at)];
    OPKIT_ASSIGN(at[axis], resolveIndex("GatherElements", index, data.shape()[axis]));
    return at;
  });
}

/// The batch axes, a tuple of indices, and what is left of the data.
Status gatherNdReference(const OracleArgs& args) {
  const OracleTensor &data = args.input(0), &indices = args.input(1);
  const auto batchAxes = static_cast<size_t>(args.params<GatherNdParams>().batch_dims);
  const size_t chosenAxes = indices.shape().size() - 1;
  return gatherFrom(args, [&](const Coordinates& at) -> Result<Coordinates> {
    Coordinates from = part(at, 0, batchAxes), tuple = part(at, 0, chosenAxes);
    for (tuple.push_back(0); tuple.back() < indices.shape().back(); ++tuple.back()) {
      const int64_t index = indices.integer[elementAt(indices.shape(), tuple)];
      OPKIT_ASSIGN(const int64_t place, resolveIndex("GatherND", index, data.shape()[from.size()]));
      from.push_back(place);
    }
    from.insert(from.end(), at.begin() + static_cast<ptrdiff_t>(chosenAxes), at.end());
    return from;
  });
}

}  // namespace opkit::ops::gather
