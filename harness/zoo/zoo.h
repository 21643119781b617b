// The zoo: well-known networks built in memory as ONNX models, with seeded random weights.
//
// Nothing is downloaded, so that whole networks run on any machine. Weights are scaled by fan-in and drawn with
// integer arithmetic alone: a network has the same bytes on every platform and standard library. The batch is
// symbolic ("N"), and so are the height and width of images (sessions start with 224x224), the sequence length of the
// transformer and the decoder ("S") and the decoder's cached tokens ("P").
//
// A network is named NAME, or NAME:PARAMETER=NUMBER,... if it has sizes to choose. The decoder has
// layers (2), model (64), heads (4), kv_heads (2), hidden (176), vocabulary (256) and context (256).
// Thread-safe: every call builds afresh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit {

/// The networks of the zoo, sorted, without parameters.
std::vector<std::string> zooNames();

/// OK if buildZoo takes the name. InvalidArgument lists the known names, or says which parameter is wrong.
Status checkZoo(const std::string& name);

/// The bytes of an ONNX model; the errors of checkZoo.
Result<std::vector<uint8_t>> buildZoo(const std::string& name);

}  // namespace opkit
