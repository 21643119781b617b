// Seeded damage to files: truncation, flipped bits, overwritten numbers, moved and repeated stretches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace opkit::fuzz {

struct Mutant {
  std::string what;  // "flip bit 3 of byte 77"; enough to make it again by hand
  std::vector<uint8_t> bytes;
};

/// A stretch of a file.
struct Stretch {
  size_t begin = 0;
  size_t size = 0;
};

/// A number below `limit`, which is above 0.
inline size_t below(size_t limit, std::mt19937_64& random) { return static_cast<size_t>(random() % limit); }

/// One mutant of `original`, which must not be empty: damage anywhere, in any of the ways above.
Mutant mutate(const std::vector<uint8_t>& original, std::mt19937_64& random);

/// One mutant of `original` whose size and structure stay: bits flip or numbers are overwritten within `payload`, the
/// values of its constants, of which there must be some. Mutants that the reader accepts are planned and run.
Mutant mutatePayload(const std::vector<uint8_t>& original, const std::vector<Stretch>& payload,
                     std::mt19937_64& random);

}  // namespace opkit::fuzz
