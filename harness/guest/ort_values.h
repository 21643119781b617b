// Tensors of OpKit as values of ONNX Runtime, and back.
#pragma once

#include "engine/tensor/tensor.h"
#include "harness/guest/ort_library.h"

namespace opkit::harness::ort {

/// A value over the memory of a host tensor, which must outlive it. Packed elements are stored alike: the first in the
/// lowest bits. Unsupported: objects, and types that the library does not know.
Result<Owned<OrtValue>> borrowed(const OrtLibrary& library, const OrtMemoryInfo* memory, const Tensor& tensor);

/// The type and shape of a value. Unsupported: it is no tensor, or of a type that OpKit lacks or calls an object.
Result<TensorDesc> descOf(const OrtLibrary& library, const OrtValue* value);

/// A copy of a value in host memory; Unsupported as above.
Result<Tensor> copied(const OrtLibrary& library, OrtValue* value);

}  // namespace opkit::harness::ort
