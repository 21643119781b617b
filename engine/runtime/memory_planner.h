// planMemory: offline placement of tensors with known lifetimes in one arena.
//
// Tensors that live together with all others are placed at the bottom. For the rest a walk in time is tried first: each
// tensor takes the tightest gap when it begins. This is O(n log n) and meets the lower bound if all tensors have one
// size. If it misses the bound, tensors are placed by size and then by size times life, the largest first, each where
// it overlaps no placed tensor that lives at the same time; the smallest plan is taken. Large models keep the first, so
// that planning stays linear in the size of any model. Deterministic.
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
  size_t meetings = 0;          // pairs of tensors examined by planning: its work
};

/// `alignment` is a power of two; every offset is a multiple of it.
MemoryPlan planMemory(const std::vector<Lifetime>& lifetimes, size_t alignment);

}  // namespace opkit
