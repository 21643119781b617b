#include "engine/op/loops.h"
#include "ops/where/where_parts.h"

namespace opkit::ops::where {

Status reference(const OracleArgs& args) {
  const OracleTensor &condition = args.input(0), &x = args.input(1), &y = args.input(2);
  OracleTensor& z = args.output();
  const Loops loops = loopsOver(z.shape(), {condition.shape(), x.shape(), y.shape()});
  forEachElement(loops, [&](size_t i, const std::vector<int64_t>& at) {
    const bool first = condition.integer[static_cast<size_t>(at[0])] != 0;
    const OracleTensor& from = first ? x : y;
    const auto index = static_cast<size_t>(at[first ? 1 : 2]);
    if (z.isReal())
      z.real[i] = from.real[index];
    else
      z.integer[i] = from.integer[index];
  });
  return Status::ok();
}

}  // namespace opkit::ops::where
