// The text of case files: entries on one line, and a place for new ones. Knows no operator. Thread-safe.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/base/status.h"

namespace opkit::harness {

/// On one line, with a space after commas and colons outside of strings.
std::string spaced(const nlohmann::ordered_json& value);

/// The case file with the block, lines of entries that end with a comma, at the top of its cases; InvalidArgument if
/// the place is not found.
Result<std::string> withCases(const std::string& text, const std::string& block);

/// The case file without the lines that hold exactly one entry for which `isOld` is true.
std::string withoutCases(const std::string& text, const std::function<bool(const nlohmann::json& entry)>& isOld);

}  // namespace opkit::harness
