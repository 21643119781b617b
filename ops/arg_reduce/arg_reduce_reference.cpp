#include "ops/arg_reduce/arg_reduce.h"

namespace opkit::ops::arg_reduce {
namespace {

template <class T>
int64_t select(const Rows& rows, size_t first, bool smallest, bool last, const std::vector<T>& xs) {
  int64_t best = 0;
  for (int64_t i = 1; i < rows.extent; ++i) {
    const auto at = [&](int64_t k) { return xs[first + static_cast<size_t>(k * rows.inner)]; };
    if (replaces(at(i), at(best), smallest, last)) best = i;
  }
  return best;
}

Status reference(const OracleArgs& args, bool smallest) {
  const auto params = args.params<ArgReduceParams>();
  const OracleTensor& x = args.input(0);
  const Rows rows = rowsOf(params, x.shape());
  const std::vector<uint64_t> unsignedValues(x.integer.begin(), x.integer.end());
  for (int64_t row = 0; row < rows.outer * rows.inner; ++row) {
    const auto first = static_cast<size_t>(row / rows.inner * rows.extent * rows.inner + row % rows.inner);
    const bool last = params.select_last_index;
    int64_t& index = args.output().integer[static_cast<size_t>(row)];
    if (x.isReal())
      index = select(rows, first, smallest, last, x.real);
    else if (x.desc.dtype == DType::UInt64)
      index = select(rows, first, smallest, last, unsignedValues);
    else
      index = select(rows, first, smallest, last, x.integer);
  }
  return Status::ok();
}

}  // namespace

Status maxReference(const OracleArgs& args) { return reference(args, false); }
Status minReference(const OracleArgs& args) { return reference(args, true); }

}  // namespace opkit::ops::arg_reduce
