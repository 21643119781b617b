// Memory that ends at an inaccessible page, and a way to survive an access to it.
#pragma once

#include <functional>

#include "engine/tensor/tensor.h"

namespace opkit::harness {

/// A host tensor at a multiple of `alignment`, which is at most 64. Its last byte is followed, after less than
/// `alignment` bytes, by a protected page; another precedes its first page. OutOfMemory if the system refuses.
Result<Tensor> onGuardedPages(const TensorDesc& desc, size_t alignment = 64);

/// Runs `body` on this thread; touching a guard page ends it at once (its locals are never destroyed) and returns
/// Internal with the tensor and the distance past its end. Work on other threads is not protected.
Status withGuardPages(const std::function<Status()>& body);

}  // namespace opkit::harness
