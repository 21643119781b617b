#include "engine/op/oracle_elements.h"
#include "ops/arg_reduce/arg_reduce.h"

namespace opkit::ops::arg_reduce {
namespace {

/// Where the best of a row's values is, as NumPy finds it: a NaN if there is one, else the extreme value; the first
/// such place, or the last.
template <class T>
int64_t placeOf(const std::vector<T>& row, bool smallest, bool last) {
  const auto isNan = [](T x) { return x != x; };
  const bool hasNan = std::ranges::any_of(row, isNan);
  const T best = smallest ? *std::ranges::min_element(row) : *std::ranges::max_element(row);
  const auto isBest = [&](T x) { return hasNan ? isNan(x) : x == best; };
  if (last) return row.rend() - std::find_if(row.rbegin(), row.rend(), isBest) - 1;
  return std::ranges::find_if(row, isBest) - row.begin();
}

Status reference(const OracleArgs& args, bool smallest) {
  const auto params = args.params<ArgReduceParams>();
  const OracleTensor& x = args.input(0);
  const auto choose = [&]<class T, class From>(T, const std::vector<From>& values) {
    std::vector<T> row;
    forEachRowAlong(x.shape(), params.axis, [&](size_t i, const std::vector<size_t>& elements) {
      row.clear();
      for (const size_t element : elements) row.push_back(static_cast<T>(values[element]));
      args.output().integer[i] = placeOf(row, smallest, params.select_last_index);
    });
  };
  if (x.isReal())
    choose(double(), x.real);
  else if (x.desc.dtype == DType::UInt64)
    choose(uint64_t(), x.integer);
  else
    choose(int64_t(), x.integer);
  return Status::ok();
}

}  // namespace

Status maxReference(const OracleArgs& args) { return reference(args, false); }
Status minReference(const OracleArgs& args) { return reference(args, true); }

}  // namespace opkit::ops::arg_reduce
