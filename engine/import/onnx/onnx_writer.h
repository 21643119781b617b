// writeOnnx: one node as an ONNX file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_form.h"

namespace opkit {

/// An input or output of a model, by the node's number of it.
struct OnnxPort {
  std::string name;
  TensorDesc desc;
  std::vector<std::string> symbols;  // by axis, of extents that are free; "" or beyond the end: as in `desc`
  const Tensor* constant = nullptr;  // an initializer in place of an input
};

/// A file with one node of `form`. `inputs` are those of the OpNode; an input that the form does not use is left out.
/// Unsupported for a value that ONNX cannot hold or a file above protobuf's size limit.
Result<std::vector<uint8_t>> writeOnnx(const OnnxForm& form, const std::vector<std::optional<OnnxPort>>& inputs,
                                       const std::vector<OnnxPort>& outputs);

/// The numbers of the inputs that writeOnnx makes inputs of the model, in its order.
std::vector<size_t> modelInputsOf(const OnnxForm& form, const std::vector<std::optional<OnnxPort>>& inputs);

}  // namespace opkit
