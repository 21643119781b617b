// Alterations of a tensor that imitate how a kernel may read it wrongly. Plain functions; parts of hypotheses.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/op/oracle.h"

namespace opkit::harness {

/// The parameters as JSON, with the defaults of scalars, but for infinite ones: JSON has no infinities.
std::string paramsWithDefaults(const ParamsSchema& schema, std::span<const uint8_t> bytes);

/// Calls body(elements) with the doubles or the int64s of the tensor, whichever it holds.
template <class Body>
void visitValues(OracleTensor& tensor, Body&& body) {
  if (tensor.isReal())
    body(tensor.real);
  else
    body(tensor.integer);
}

inline double valueAt(const OracleTensor& tensor, size_t i) {
  return tensor.isReal() ? tensor.real[i] : static_cast<double>(tensor.integer[i]);
}

/// Element `to` of `copy` becomes element `from` of `tensor`, of the same kind, with its magnitude if there is one.
void copyElement(const OracleTensor& tensor, size_t from, OracleTensor& copy, size_t to);

/// Every element becomes element `index`.
void fillWithElement(OracleTensor& tensor, size_t index);

/// Each element becomes the one at the coordinates to which `move` changes its own.
void reindex(OracleTensor& tensor, const std::function<void(DimVector& at)>& move);

/// The memory is read as if the extents of two axes were exchanged.
void exchangeStrides(OracleTensor& tensor, size_t a, size_t b);

/// Elements whose index along the axis is in [first, last) become zero.
void zeroBetween(OracleTensor& tensor, size_t axis, int64_t first, int64_t last);

/// A copy without the last `count` of an axis; nullopt if out of memory.
std::optional<Tensor> withoutEnd(const Tensor& tensor, size_t axis, int64_t count);

/// A copy with so many zeros before and after the elements of each axis; nullopt if out of memory.
std::optional<Tensor> withZeros(const Tensor& tensor, const std::vector<int64_t>& before,
                                const std::vector<int64_t>& after);

/// How much may be missing at the end of an axis: a tile of a usual width, or the rest behind the last whole one.
std::vector<int64_t> lastTiles(int64_t extent);

}  // namespace opkit::harness
