#include <cmath>
#include <map>

#include "engine/op/oracle_elements.h"
#include "ops/unique/unique_parts.h"

namespace opkit::ops::unique {
namespace {

/// NaN is equal to itself and larger than every number; both zeros are equal.
bool isLess(double a, double b, bool) { return std::isnan(a) ? false : std::isnan(b) || a < b; }
bool isLess(int64_t a, int64_t b, bool isUnsigned) {
  return isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

/// A slice that differs from all others.
struct Found {
  size_t first;
  int64_t count = 0;
  size_t number = 0;  // in the output
};

/// Elements of each slice, in row-major order.
std::vector<std::vector<size_t>> slicesOf(const UniqueParamsT& params, const Shape& shape) {
  std::vector<std::vector<size_t>> slices;
  if (!params.axis.has_value()) {
    for (size_t i = 0; i < static_cast<size_t>(elementCount(shape)); ++i) slices.push_back({i});
    return slices;
  }
  std::vector<bool> together(shape.size(), true);
  together[axisFromFront(*params.axis, shape.size())] = false;
  forEachGroup(shape, together, [&](size_t, const std::vector<size_t>& elements) { slices.push_back(elements); });
  return slices;
}

template <class T>
Status run(const OracleArgs& args, const std::vector<T>& x, std::vector<T>& y) {
  const auto params = args.params<UniqueParams>();
  const bool isUnsigned = args.input(0).desc.dtype == DType::UInt64;
  const std::vector<std::vector<size_t>> slices = slicesOf(params, args.input(0).shape());
  const auto comesFirst = [&](size_t a, size_t b) {
    return std::ranges::lexicographical_compare(
        slices[a], slices[b], [&](size_t left, size_t right) { return isLess(x[left], x[right], isUnsigned); });
  };
  std::map<size_t, Found, decltype(comesFirst)> found(comesFirst);  // by the first slice of each value
  for (size_t i = 0; i < slices.size(); ++i) ++found.emplace(i, Found{i}).first->second.count;
  std::vector<Found*> order;
  for (auto& [first, entry] : found) order.push_back(&entry);
  if (!params.sorted) std::ranges::sort(order, {}, &Found::first);
  const std::vector<std::vector<size_t>> targets = slicesOf(params, args.output(0).shape());
  const auto put = [&](size_t output, size_t at, int64_t value) {
    if (output < args.outputs.size()) args.output(output).integer[at] = value;
  };
  for (size_t n = 0; n < order.size(); ++n) {
    order[n]->number = n;
    put(1, n, static_cast<int64_t>(order[n]->first));
    put(3, n, order[n]->count);
    for (size_t k = 0; k < targets[n].size(); ++k) y[targets[n][k]] = x[slices[order[n]->first][k]];
  }
  for (size_t i = 0; i < slices.size(); ++i) put(2, i, static_cast<int64_t>(found.find(i)->second.number));
  put(4, 0, static_cast<int64_t>(order.size()));
  return Status::ok();
}

}  // namespace

Status reference(const OracleArgs& args) {
  if (args.input(0).isReal()) return run(args, args.input(0).real, args.output(0).real);
  return run(args, args.input(0).integer, args.output(0).integer);
}

}  // namespace opkit::ops::unique
