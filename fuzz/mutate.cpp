#include "fuzz/mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace opkit::fuzz {
namespace {

/// Numbers that programs trip over.
constexpr uint64_t kNumbers[] = {0,          1,          0x7F,       0x80,       0xFF,
                                 0x7FFF,     0xFFFF,     0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                 1ull << 33, 1ull << 40, ~0ull >> 1, ~0ull,      1ull << 63};

size_t below(size_t limit, std::mt19937_64& random) { return static_cast<size_t>(random() % limit); }

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
    case 3: {
      const unsigned flips = 1 + static_cast<unsigned>(random() % 4);
      for (unsigned i = 0; i < flips; ++i) {
        const size_t byte = below(bytes.size(), random);
        const auto bit = static_cast<unsigned>(random() % 8);
        bytes[byte] = static_cast<uint8_t>(bytes[byte] ^ (1u << bit));
        mutant.what += fmt::format("flip bit {} of byte {}; ", bit, byte);
      }
      break;
    }
    case 4:
    case 5: {
      const uint64_t number = kNumbers[below(std::size(kNumbers), random)];
      const size_t width = std::min(size_t{1} << (random() % 4), bytes.size() - at);
      std::memcpy(bytes.data() + at, &number, width);
      mutant.what = fmt::format("{} bytes at {} become {:#x}", width, at, number);
      break;
    }
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

}  // namespace opkit::fuzz
