// The oracles of DFT and FourierTransform and their hidden elements, and the parts that STFT uses.
#pragma once

#include "engine/op/hidden.h"

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

/// The transform that a node of FourierTransform asks for.
TransformFacts transformFacts(const OracleArgs& args);
/// The axis of a node of DFT, and its transform.
std::pair<size_t, TransformFacts> dftFacts(const OracleArgs& args);

/// Samples in no frame.
HiddenElements framesHidden(const OracleArgs& args, const TransformFacts& facts, int64_t step);
HiddenElements transformHidden(const OracleArgs& args);

}  // namespace opkit::ops::dft
