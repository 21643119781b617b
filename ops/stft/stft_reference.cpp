#include "ops/dft/dft_oracles.h"
#include "ops/stft/stft_parts.h"

namespace opkit::ops::stft {

Status reference(const OracleArgs& args) {
  dft::TransformFacts facts{.onesided = args.params<StftParams>().onesided};
  if (args.hasInput(3))
    facts.length = args.input(3).integer[0];
  else
    facts.length = args.hasInput(2) ? args.input(2).shape()[0] : args.input(0).shape()[1];
  return dft::framesReference(args, facts, args.input(1).integer[0], 2);
}

}  // namespace opkit::ops::stft
