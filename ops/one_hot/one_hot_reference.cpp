#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/one_hot/one_hot_parts.h"

namespace opkit::ops::one_hot {
namespace {

/// Whether index `i` names the class; a real one is rounded towards zero.
bool names(const OracleTensor& indices, size_t i, int64_t chosen, int64_t depth) {
  if (indices.isReal()) {
    const double index = std::trunc(indices.real[i]);
    return index == static_cast<double>(chosen) || index == static_cast<double>(chosen - depth);
  }
  const bool isLarge = indices.desc.dtype == DType::UInt64 && indices.integer[i] < 0;
  return !isLarge && (indices.integer[i] == chosen || indices.integer[i] == chosen - depth);
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor &indices = args.input(0), &values = args.input(2);
  OracleTensor& y = args.output();
  const size_t axis = axisFromFront(args.params<OneHotParams>().axis, y.shape().size());
  forEachCoordinates(y.shape(), [&](size_t i, Coordinates& at) {
    const int64_t chosen = at[axis];
    at.erase(at.begin() + static_cast<ptrdiff_t>(axis));
    const bool isOn = names(indices, elementAt(indices.shape(), at), chosen, y.shape()[axis]);
    copyElement(values, size_t{isOn}, y, i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::one_hot
