// Hidden elements of DFT, FourierTransform and STFT: what dft_length cuts off, samples in no frame, and, of half a
// spectrum that becomes a real row, the imaginary parts of the first number and of the one opposite to it.
#include "engine/op/oracle_elements.h"
#include "ops/dft/dft_oracles.h"
#include "ops/dft/dft_parts.h"

namespace opkit::ops::dft {
namespace {

/// Whether a transform reads a part (0: real, 1: imaginary) of number `at` of its row.
bool reads(const TransformFacts& facts, int64_t at, int64_t part) {
  if (!facts.onesided || !facts.inverse) return at < facts.length;
  return 2 * at <= facts.length && (part == 0 || (at != 0 && 2 * at != facts.length));
}

HiddenElements ofAxis(const OracleArgs& args, size_t axis, const TransformFacts& facts) {
  HiddenElements result(args.inputs.size());
  const OracleTensor& x = args.input(0);
  result[0].resize(x.real.size());
  forEachCoordinates(x.shape(),
                     [&](size_t i, const Coordinates& at) { result[0][i] = !reads(facts, at[axis], at.back()); });
  return result;
}

}  // namespace

HiddenElements framesHidden(const OracleArgs& args, const TransformFacts& facts, int64_t step) {
  HiddenElements result(args.inputs.size());
  const OracleTensor& x = args.input(0);
  const int64_t frames = args.output().shape()[1];
  result[0].assign(x.real.size(), true);
  forEachCoordinates({x.shape()[0], frames, facts.length, x.shape()[2]}, [&](size_t, const Coordinates& at) {
    if (reads(facts, at[2], at[3])) result[0][elementAt(x.shape(), {at[0], at[1] * step + at[2], at[3]})] = false;
  });
  return result;
}

HiddenElements transformHidden(const OracleArgs& args) {
  const auto params = args.params<FourierTransformParams>();
  const TransformFacts facts = transformFacts(args);
  if (params.frame_step > 0) return framesHidden(args, facts, params.frame_step);
  return ofAxis(args, static_cast<size_t>(params.axis), facts);
}

HiddenElements hidden(const OracleArgs& args) {
  const auto [axis, facts] = dftFacts(args);
  return ofAxis(args, axis, facts);
}

}  // namespace opkit::ops::dft
