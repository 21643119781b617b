// SpirvCounts: the size of a compiled compute shader, for lists of shaders. A pure function.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/status.h"

namespace opkit::harness {

/// Inside functions.
struct SpirvCounts {
  size_t instructions = 0;
  size_t loads = 0, stores = 0;  // OpLoad, OpStore and image accesses
  size_t arithmetic = 0;         // integer, floating and bit operations, extended instructions
  size_t branches = 0;           // conditional branches and switches
  size_t barriers = 0;           // control and memory barriers
};

/// InvalidArgument if the words are not SPIR-V.
Result<SpirvCounts> countsOf(std::span<const uint32_t> spirv);

}  // namespace opkit::harness
