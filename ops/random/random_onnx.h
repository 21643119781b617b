// ONNX rules of random numbers that share how a node gets its stream.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::random {

/// The key that belongs to a name: a hash of 64 bits.
uint64_t keyOfName(const std::string& name);
/// The key of a node's stream: the bits of its seed, or else a hash of its name, which the importer makes unique in
/// the file.
uint64_t keyOf(const OnnxNode& node);

/// Dropout to opset 6: is_test decides whether it trains.
Status legacyDropout(OnnxNode& node);
/// Dropout of opsets 7 to 11 infers.
Status inferenceDropout(OnnxNode& node);
/// Dropout from opset 12 on: an input decides.
Status dropout(OnnxNode& node);

}  // namespace opkit::ops::random
