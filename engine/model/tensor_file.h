// Tensor files: NumPy's .npy and ONNX's serialised TensorProto (.pb).
//
// Reading recognises the form by its first bytes, writing by the path's extension. Both are whole-file
// operations and keep no state; use them from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace opkit {

/// Reads .npy of version 1 to 3 or TensorProto bytes. InvalidArgument if the file cannot be read; Corrupt if it is
/// damaged or has neither form; Unsupported names an element type or layout that OpKit tensors do not have.
Result<Tensor> loadTensor(const std::string& path, DType kind = DType::Float32);
/// Writes a host tensor; the extension must be .npy or .pb. Replaces the file in one step or not at all.
Status saveTensor(const std::string& path, const Tensor& tensor);

/// The bytes of an .npy file; row-major, little-endian elements only (Fortran order is Unsupported).
Result<Tensor> tensorFromNpy(std::span<const uint8_t> bytes);
/// A host tensor as .npy, version 1.0.
std::vector<uint8_t> tensorToNpy(const Tensor& tensor);

}  // namespace opkit
