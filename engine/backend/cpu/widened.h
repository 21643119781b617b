// Widened kernels: a CPU kernel for f32 runs nodes of f16. Inputs and constants are widened, outputs are rounded.
#pragma once

#include <vector>

#include "engine/backend/creator.h"

namespace opkit::cpu {

/// A Creator for f16 made of one for f32. It computes in f32 in planned scratch memory; the result is rounded to f32
/// and then to f16. Constants are widened once per device. Kernels that fall apart into rows (row_kernel.h) run in
/// blocks of rows whose copies stay in a cache.
Creator widenedKernel(const Creator& inner);

/// The widened forms of the kernels of `table` by the operator's own author: those for f32 of provider "opkit" if none
/// of that provider takes f16, and all for f32 of an operator of a plugin, which may refuse f16 only when asked.
std::vector<Creator> widenedKernels(const OpDef& def, std::span<const Creator> table);

}  // namespace opkit::cpu
