// The zoo: well-known networks built in memory as ONNX models, with seeded random weights.
//
// Nothing is downloaded, so that whole networks run on any machine. Weights are scaled by fan-in and drawn with
// integer arithmetic alone: a network has the same bytes on every platform and standard library. The batch is
// symbolic ("N"), and so are the height and width of images (sessions start with 224x224) and the transformer's
// sequence length ("S").
// Thread-safe: every call builds afresh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit {

/// The networks of the zoo, sorted.
std::vector<std::string> zooNames();

/// The bytes of an ONNX model; InvalidArgument lists the known names.
Result<std::vector<uint8_t>> buildZoo(const std::string& name);

}  // namespace opkit
