// Seeded damage to files: truncation, flipped bits, overwritten numbers, moved and repeated stretches.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace opkit::fuzz {

struct Mutant {
  std::string what;  // "flip bit 3 of byte 77"; enough to make it again by hand
  std::vector<uint8_t> bytes;
};

/// One mutant of `original`, which must not be empty.
Mutant mutate(const std::vector<uint8_t>& original, std::mt19937_64& random);

}  // namespace opkit::fuzz
