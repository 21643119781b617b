// Hidden elements of STFT: samples between frames and behind the last one.
#include "ops/dft/dft_oracles.h"
#include "ops/stft/stft_parts.h"

namespace opkit::ops::stft {

HiddenElements hidden(const OracleArgs& args) {
  const Shape& frame = args.hasInput(2) ? args.input(2).shape() : Shape{args.input(0).shape()[1]};
  const int64_t length = args.hasInput(3) ? args.input(3).integer[0] : frame[0];
  return dft::framesHidden(args, {.length = length}, args.input(1).integer[0]);
}

}  // namespace opkit::ops::stft
