// Memory that a guest writes into, and how much memory it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/tensor/tensor.h"

namespace opkit::harness {

/// Memory for an output: poison, all bits set, between guard bytes.
Result<Tensor> poisonedOutput(const TensorDesc& desc);

/// The distance to such an output of the first byte that was changed around it; nothing if none was.
std::optional<int64_t> changedAround(const Tensor& output);

/// Memory of this process that is in use; 0 if unknown.
size_t residentBytes();

}  // namespace opkit::harness
