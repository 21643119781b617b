// Values that kernels do not read: tensors of strings, sequences of tensors, optional values. Operators of the host
// compute with them (OpDef::control); ONNX models have them as inputs, outputs and between nodes.
//
// Each is a Tensor whose buffer holds objects. Strings have any shape. A sequence has the shape [n] and n values, host
// tensors. An optional has the shape [1] or [0] and one value or none, a host tensor or a sequence. So no value is
// deep. Immutable once made: copies of a Tensor share the buffer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace opkit {

/// REQUIRES as many strings as the shape has elements.
Tensor stringTensor(Shape shape, std::vector<std::string> strings);
/// InvalidArgument if a `list`, Sequence or Optional, cannot hold a value of that dtype.
Status checkHeld(DType list, DType value);
/// REQUIRES checkHeld of each value.
Tensor sequenceOf(std::vector<Tensor> values);
/// REQUIRES checkHeld of the value.
Tensor optionalOf(std::optional<Tensor> value);

/// The strings of a tensor, row-major. REQUIRES dtype String.
const std::vector<std::string>& stringsOf(const Tensor& tensor);
/// The values of a sequence or an optional. REQUIRES such a tensor.
const std::vector<Tensor>& valuesOf(const Tensor& tensor);

/// Strings without text, a sequence without tensors or an empty optional. REQUIRES isObject(dtype).
Tensor emptyObject(const TensorDesc& desc);

/// A host tensor of its own, with the same elements. Objects are shared.
Result<Tensor> copyOf(const Tensor& tensor);

/// A tensor inside a value and its place there: "[2]", or "" for the value itself.
struct Leaf {
  std::string place;
  Tensor tensor;
};
std::vector<Leaf> leavesOf(const Tensor& value);

/// "f32[2,3]", "string[4]", "sequence[f32[2], f32[5]]", "optional[]".
std::string describe(const Tensor& value);

}  // namespace opkit
