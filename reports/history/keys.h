// Keys: short numbers by which the tables of a history find texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace opkit::reports {

/// Column `hash` of table `item`: equal for equal items, and small, since an index holds it.
int64_t itemHash(const std::string& kind, const std::string& caseId);

/// The 64 bits of up to 16 hexadecimal digits; nothing for another text.
std::optional<int64_t> bitsOf(const std::string& digits);

}  // namespace opkit::reports
