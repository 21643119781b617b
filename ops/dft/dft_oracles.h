// The oracles of DFT and FourierTransform, and their parts that the oracle of STFT uses.
#pragma once

#include "engine/op/oracle.h"

namespace opkit::ops::dft {

/// The transform of each row.
struct TransformFacts {
  int64_t length = 1;
  bool inverse = false;
  bool onesided = false;
};

/// Frames of a signal [batch, samples, parts], `step` samples apart, times the values of input `window` if it is there.
Status framesReference(const OracleArgs& args, const TransformFacts& facts, int64_t step, size_t window);
Status transformReference(const OracleArgs& args);

}  // namespace opkit::ops::dft
