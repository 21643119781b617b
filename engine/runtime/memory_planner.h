// planMemory: offline placement of tensors with known lifetimes in one arena.
//
// What lives together with everything else stands at the bottom. For the rest a walk in time is tried first, which
// takes the tightest gap there is whenever a tensor begins: O(n log n), and at the lower bound wherever tensors have
// one size. Where it is not, tensors are placed one after the other, each where it overlaps no placed tensor that lives
// at the same time. In which order and in which of the gaps decides how good the plan is, and no rule is always best:
// several are tried until one meets the lower bound, and the smallest plan is taken. Such a try costs as much as there
// are pairs of tensors that live together; the number of tries is limited so that planning stays linear in the model,
// whatever its shape. Deterministic.
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
  size_t meetings = 0;          // how often planning looked at two tensors that live together: its work
};

/// `alignment` is a power of two; every offset is a multiple of it.
MemoryPlan planMemory(const std::vector<Lifetime>& lifetimes, size_t alignment);

}  // namespace opkit
