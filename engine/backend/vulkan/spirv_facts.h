// SpirvFacts: the work group of a compiled compute shader, read from its SPIR-V before a pipeline is created: a driver
// need not refuse a shader beyond its limits. Plain functions, thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>

namespace opkit::vulkan {

struct SpirvFacts {
  size_t sharedBytes = 0;                      // of work group memory, at the given specialisation
  std::map<uint32_t, size_t> shared;           // the same by the id of the variable
  std::array<uint32_t, 3> localSize{1, 1, 1};  // at the given specialisation

  uint64_t invocations() const { return uint64_t{localSize[0]} * localSize[1] * localSize[2]; }
};

/// `constants` are the values of the specialisation constants with ids 0, 1, ...; missing ones keep their defaults.
/// Invalid SPIR-V gives zeros.
SpirvFacts factsOf(std::span<const uint32_t> spirv, std::span<const uint32_t> constants);

}  // namespace opkit::vulkan
