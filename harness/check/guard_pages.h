// Memory that ends at a page nobody may touch, and a way to survive touching it.
#pragma once

#include <functional>

#include "engine/tensor/tensor.h"

namespace opkit::harness {

/// A host tensor whose last byte is followed, after at most 63 bytes of alignment, by a protected page; another lies
/// in front of its first page. OutOfMemory when the system refuses.
Result<Tensor> onGuardedPages(const TensorDesc& desc);

/// Runs `body` on this thread; touching a guard page ends it at once (its locals are never destroyed) and gives
/// Internal with the number of bytes past the end of which tensor. Work on other threads is not protected.
Status withGuardPages(const std::function<Status()>& body);

}  // namespace opkit::harness
