#include "engine/op/oracle_elements.h"
#include "ops/reverse_sequence/reverse_sequence_parts.h"

namespace opkit::ops::reverse_sequence {

Status reference(const OracleArgs& args) {
  const auto params = args.params<ReverseSequenceParams>();
  const auto timeAxis = static_cast<size_t>(params.time_axis), batchAxis = static_cast<size_t>(params.batch_axis);
  const OracleTensor &x = args.input(0), &lengths = args.input(1);
  for (const int64_t length : lengths.integer)
    if (length < 0 || length > x.shape()[timeAxis])
      return Status::invalidArgument("ReverseSequence: sequence_lens must be in [0, {}], got {}", x.shape()[timeAxis],
                                     length);
  forEachCoordinates(args.output().shape(), [&](size_t i, Coordinates& at) {
    const int64_t length = lengths.integer[static_cast<size_t>(at[batchAxis])];
    if (at[timeAxis] < length) at[timeAxis] = length - 1 - at[timeAxis];
    copyElement(x, at, args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::reverse_sequence
