#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/top_k/top_k_parts.h"

namespace opkit::ops::top_k {
namespace {

/// NaN is larger than every number.
bool isLess(double a, double b, DType) { return std::isnan(a) ? false : std::isnan(b) || a < b; }
bool isLess(int64_t a, int64_t b, DType dtype) {
  return dtype == DType::UInt64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

}  // namespace

/// A stable sort leaves equal elements in the order of their positions.
Status reference(const OracleArgs& args) {
  const auto params = args.params<TopKParams>();
  const OracleTensor& x = args.input(0);
  OracleTensor& values = args.outputs[0];
  std::vector<std::vector<size_t>> ranked;  // of each row, the positions in it
  std::vector<std::vector<size_t>> sources;
  visitElements(x, values, [&](const auto& from, auto&) {
    forEachRowAlong(x.shape(), params.axis, [&](size_t, const std::vector<size_t>& elements) {
      std::vector<size_t> order(elements.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::stable_sort(order, [&](size_t a, size_t b) {
        const auto left = from[elements[a]], right = from[elements[b]];
        return params.largest ? isLess(right, left, x.desc.dtype) : isLess(left, right, x.desc.dtype);
      });
      ranked.push_back(std::move(order));
      sources.push_back(elements);
    });
  });
  forEachRowAlong(values.shape(), params.axis, [&](size_t row, const std::vector<size_t>& elements) {
    for (size_t j = 0; j < elements.size(); ++j) {
      const size_t place = ranked[row][j];
      copyElement(x, sources[row][place], values, elements[j]);
      if (args.outputs.size() > 1) args.output(1).integer[elements[j]] = static_cast<int64_t>(place);
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::top_k
