// Memory of CPU kernels: scratch sizes in floats, and constants packed into floats once per device.
#pragma once

#include <functional>

#include "engine/backend/backend.h"

namespace opkit::cpu {

/// Floats of one part of a kernel's scratch, rounded so that the next part is 64-byte aligned too.
inline int64_t scratchPart(int64_t floats) { return (floats + 15) / 16 * 16; }
inline size_t scratchBytesOf(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }
/// Float `first` of an Execution's scratch; null if it has none.
inline float* scratchFloats(const Tensor& scratch, int64_t first = 0) {
  return scratch.buffer ? reinterpret_cast<float*>(scratch.bytes().data()) + first : nullptr;
}

/// The `count` floats, 64-byte aligned, that `pack` writes from `constant`; packed once and shared through `backend`'s
/// store. `pack` reads its first argument: `constant`, or a copy of it for the time of the call (lazy_buffer.h).
/// `form` names the packing and everything it depends on. OutOfMemory when refused.
Result<std::shared_ptr<const Tensor>> packConstant(Backend& backend, const Tensor& constant, const std::string& form,
                                                   int64_t count,
                                                   const std::function<void(const Tensor&, float*)>& pack);

}  // namespace opkit::cpu
