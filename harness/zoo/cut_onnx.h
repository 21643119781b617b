// cutOnnx: cuts a part of an ONNX network into a separate network.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/tensor/tensor.h"

namespace opkit {

struct CutInput {
  std::string name;
  TensorDesc desc;
};

/// The nodes between `inputs` and `outputs` with the initializers they use. InvalidArgument if an output cannot be
/// computed from the inputs or a name is no tensor of the graph.
Result<std::vector<uint8_t>> cutOnnx(std::span<const uint8_t> bytes, const std::vector<CutInput>& inputs,
                                     const std::vector<std::string>& outputs);

}  // namespace opkit
