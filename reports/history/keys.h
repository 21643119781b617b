// Keys: short numbers by which the tables of a history find texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace opkit::reports {

/// Condition of SQL on the columns of `run`: the run lacks its end or lines that it planned.
inline constexpr const char* kRunIsCut = "(outcome <> 'complete' OR written < ifnull(planned, 0))";

/// Column `hash` of table `item`: equal for equal items, and small, since an index holds it.
int64_t itemHash(const std::string& kind, const std::string& caseId);

/// The 64 bits of up to 16 hexadecimal digits; nothing for another text.
std::optional<int64_t> bitsOf(const std::string& digits);

}  // namespace opkit::reports
