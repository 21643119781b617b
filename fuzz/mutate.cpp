#include "fuzz/mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace opkit::fuzz {
namespace {

/// Numbers that often cause errors.
constexpr uint64_t kNumbers[] = {0,          1,          0x7F,       0x80,       0xFF,
                                 0x7FFF,     0xFFFF,     0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                 1ull << 33, 1ull << 40, ~0ull >> 1, ~0ull,      1ull << 63};

/// One to four bits of the stretch.
void flipBits(Mutant& mutant, Stretch where, std::mt19937_64& random) {
  const unsigned flips = 1 + static_cast<unsigned>(random() % 4);
  for (unsigned i = 0; i < flips; ++i) {
    const size_t byte = where.begin + below(where.size, random);
    const auto bit = static_cast<unsigned>(random() % 8);
    mutant.bytes[byte] = static_cast<uint8_t>(mutant.bytes[byte] ^ (1u << bit));
    mutant.what += fmt::format("flip bit {} of byte {}; ", bit, byte);
  }
}

/// A number of 1 to 8 bytes at `at`, which lies in the stretch.
void overwrite(Mutant& mutant, Stretch where, size_t at, std::mt19937_64& random) {
  const uint64_t number = kNumbers[below(std::size(kNumbers), random)];
  const size_t width = std::min(size_t{1} << (random() % 4), where.begin + where.size - at);
  std::memcpy(mutant.bytes.data() + at, &number, width);
  mutant.what = fmt::format("{} bytes at {} become {:#x}", width, at, number);
}

}  // namespace

Mutant mutate(const std::vector<uint8_t>& original, std::mt19937_64& random) {
  Mutant mutant{"", original};
  std::vector<uint8_t>& bytes = mutant.bytes;
  const size_t at = below(bytes.size(), random);
  switch (random() % 8) {
    case 0:
      mutant.what = fmt::format("truncate to {} bytes", at);
      bytes.resize(at);
      break;
    case 1:
    case 2:
    case 3: flipBits(mutant, {0, bytes.size()}, random); break;
    case 4:
    case 5: overwrite(mutant, {0, bytes.size()}, at, random); break;
    case 6: {
      const size_t count = 1 + below(std::min<size_t>(32, bytes.size() - at), random);
      bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(at + count));
      mutant.what = fmt::format("remove {} bytes at {}", count, at);
      break;
    }
    default: {
      const size_t count = 1 + below(std::min<size_t>(32, bytes.size() - at), random), to = below(bytes.size(), random);
      const std::vector<uint8_t> stretch(original.begin() + static_cast<ptrdiff_t>(at),
                                         original.begin() + static_cast<ptrdiff_t>(at + count));
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(to), stretch.begin(), stretch.end());
      mutant.what = fmt::format("insert {} bytes of {} at {}", count, at, to);
    }
  }
  return mutant;
}

Mutant mutatePayload(const std::vector<uint8_t>& original, const std::vector<Stretch>& payload,
                     std::mt19937_64& random) {
  Mutant mutant{"", original};
  const Stretch where = payload[below(payload.size(), random)];
  if (random() % 2 == 0)
    flipBits(mutant, where, random);
  else
    overwrite(mutant, where, where.begin + below(where.size, random), random);
  return mutant;
}

}  // namespace opkit::fuzz
