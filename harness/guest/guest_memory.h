// Memory that a guest writes into.
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

}  // namespace opkit::harness
