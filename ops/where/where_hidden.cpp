// Hidden elements of Where: those of x and y that the condition chooses for no element of z.
#include "engine/op/oracle_elements.h"
#include "ops/where/where_parts.h"

namespace opkit::ops::where {

HiddenElements hidden(const OracleArgs& args) {
  HiddenElements result(args.inputs.size());
  for (const size_t i : {size_t{1}, size_t{2}}) result[i].assign(static_cast<size_t>(args.input(i).elements()), true);
  const OracleTensor& condition = args.input(0);
  forEachCoordinates(args.output().shape(), [&](size_t, const Coordinates& at) {
    const size_t chosen = condition.integer[broadcastElementAt(condition.shape(), at)] != 0 ? 1 : 2;
    result[chosen][broadcastElementAt(args.input(chosen).shape(), at)] = false;
  });
  return result;
}

}  // namespace opkit::ops::where
