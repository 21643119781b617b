// The words of docs/ops.md that are written (ops_page.cpp) and read back (ops_parse.cpp).
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/tensor/dtype.h"

namespace opkit::reports::words {

inline constexpr const char* kBackend = "backend";
inline constexpr const char* kDevice = "device";
inline constexpr const char* kKernel = "kernel";
inline constexpr const char* kOperator = "operator";
inline constexpr const char* kErrorClass = "error class";
inline constexpr const char* kSoftware = "software";
inline constexpr const char* kNoCase = "–";
inline constexpr const char* kRefused = "refused";
inline constexpr const char* kSomeRefused = " (some refused)";
inline constexpr const char* kSomeFailed = " (some failed)";
inline constexpr const char* kDTypes = "dtypes";
inline const std::string kStrong = "**";  // around a line about missing cases
inline constexpr const char* kRun = "run";
inline constexpr const char* kRoofRates = "kernel alone, one thread";
inline constexpr const char* kAll = "all";
inline constexpr const char* kSome = "some";

/// Every dtype in the order of the page: floats, bool, integers, narrow types, objects.
std::vector<std::string> order();
std::vector<std::string> sorted(std::vector<std::string> dtypes);
template <class Value>
std::vector<std::string> sorted(const std::map<std::string, Value>& byDType) {
  std::vector<std::string> dtypes;
  for (const auto& [dtype, value] : byDType) dtypes.push_back(dtype);
  return sorted(std::move(dtypes));
}
/// "f32, integers" of sorted dtypes, and back: `floats`, `integers` and `f8` stand for all of their dtypes.
std::string join(const std::vector<std::string>& dtypes);
std::vector<std::string> split(const std::string& text);

}  // namespace opkit::reports::words
