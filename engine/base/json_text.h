// parseJson: the one place where OpKit parses a JSON text. It refuses a text that is nested deeper than anything
// reasonable: nlohmann::json parses without recursion, but copies, compares and prints with it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "engine/base/nesting.h"
#include "engine/base/status.h"

namespace opkit {

/// InvalidArgument if arrays and objects are nested deeper than kMaxNesting. Says nothing else about the text.
inline Status checkJsonDepth(std::string_view text) {
  size_t depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (isString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      isString = !isString;
    else if (!isString && (text[i] == '[' || text[i] == '{'))
      ++depth;
    else if (!isString && depth > 0 && (text[i] == ']' || text[i] == '}'))
      --depth;
    if (depth > kMaxNesting)
      return Status::invalidArgument("JSON may be nested {} deep, found a deeper list", kMaxNesting);
  }
  return Status::ok();
}

/// The value of a text; a discarded one if it is no JSON or is nested too deep. checkJsonDepth tells which.
inline nlohmann::json parseJson(std::string_view text) {
  if (!checkJsonDepth(text).isOk()) return nlohmann::json::value_t::discarded;
  return nlohmann::json::parse(text, nullptr, false);
}
/// The value of a text that checkJsonDepth took; throws nlohmann::json::parse_error, which says where the text is
/// wrong.
inline nlohmann::json parseJsonOrThrow(std::string_view text) { return nlohmann::json::parse(text); }
/// The same as parseJson, of the bytes of a file.
template <class Byte>
nlohmann::json parseJson(const std::vector<Byte>& bytes) {
  return parseJson(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace opkit
