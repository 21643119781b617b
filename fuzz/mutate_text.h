// Seeded damage to texts that OpKit's programs read: JSON, lines of JSON, tables, lists of lines.
#pragma once

#include "fuzz/mutate.h"

namespace opkit::fuzz {

/// One mutant of `original`, which must not be empty. Bytes are damaged as mutate() does it; lines are dropped,
/// repeated, swapped or joined; numbers become extremes; words become long, empty, control characters or no UTF-8. In
/// JSON, a value takes another's place, a key is renamed or dropped, an element is repeated, a value is nested deep.
Mutant mutateText(const std::vector<uint8_t>& original, std::mt19937_64& random);

inline constexpr size_t kLongestQuote = 40;  // of what was replaced, in Mutant::what

/// A word that often causes errors.
std::string hostileWord(std::mt19937_64& random);
/// A number that often causes errors, as text; some are no JSON.
std::string hostileNumber(std::mt19937_64& random);

}  // namespace opkit::fuzz
