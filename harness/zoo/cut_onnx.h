// cutOnnx: a part of an ONNX network as a network of its own.
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

/// The nodes between `inputs` and `outputs` with the initializers they use. InvalidArgument when an output cannot be
/// computed from the inputs, or the names are not those of the graph's tensors.
Result<std::vector<uint8_t>> cutOnnx(std::span<const uint8_t> bytes, const std::vector<CutInput>& inputs,
                                     const std::vector<std::string>& outputs);

}  // namespace opkit
