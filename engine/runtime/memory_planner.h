// planMemory: offline placement of tensors with known lifetimes in one arena.
//
// Tensors are placed one after the other, each where it overlaps no placed tensor that lives at the same time. In which
// order and in which of the gaps decides how good the plan is, and no rule is always best: several are tried until one
// meets the lower bound, and the smallest plan is taken. Deterministic. O(n^2) in the number of tensors per try.
#pragma once

#include <cstddef>
#include <vector>

namespace opkit {

struct Lifetime {
  size_t sizeBytes = 0;
  size_t first = 0;  // command that writes it
  size_t last = 0;   // last command that touches it; >= first
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // per lifetime, bytes
  size_t peakBytes = 0;         // arena size
  size_t lowerBoundBytes = 0;   // largest sum of live (aligned) sizes: no plan can be smaller
};

/// `alignment` is a power of two; every offset is a multiple of it.
MemoryPlan planMemory(const std::vector<Lifetime>& lifetimes, size_t alignment);

}  // namespace opkit
