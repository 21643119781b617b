// Hidden elements of RNN, GRU and LSTM: the rows of x, or of the products, behind the length of their sequence.
#include "engine/op/oracle_elements.h"
#include "ops/recurrent/recurrent_oracles.h"
#include "ops/recurrent/recurrent_parts.h"

namespace opkit::ops::recurrent {
namespace {

/// `lengths` is the index of sequence_lens.
HiddenElements behindSequences(const OracleArgs& args, size_t lengths) {
  HiddenElements result(args.inputs.size());
  if (!args.hasInput(lengths)) return result;
  const bool batchFirst = args.params<RecurrentParams>().batch_first;
  result[0].resize(args.input(0).real.size());
  forEachCoordinates(args.input(0).shape(), [&](size_t i, const Coordinates& at) {
    const int64_t batch = at[batchFirst ? 0 : 1], time = at[batchFirst ? 1 : 0];
    result[0][i] = time >= args.input(lengths).integer[static_cast<size_t>(batch)];
  });
  return result;
}

}  // namespace

HiddenElements hidden(const OracleArgs& args) { return behindSequences(args, 4); }
HiddenElements stepsHidden(const OracleArgs& args) { return behindSequences(args, 3); }

}  // namespace opkit::ops::recurrent
