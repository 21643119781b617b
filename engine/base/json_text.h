// parseJson: the one place where OpKit parses a JSON text. It refuses a text that is nested deeper than anything
// reasonable: nlohmann::json parses without recursion, but copies, compares and prints with it.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
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
/// The value of a text; the failure says where it is no JSON: "line 3: this is no JSON".
inline Result<nlohmann::json> jsonOf(std::string_view text) {
  OPKIT_TRY(checkJsonDepth(text));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {  // its text is one for programmers
    const size_t end = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    return error.byte > text.size() ? Status::corrupt("line {}: the JSON ends too early", line)
                                    : Status::corrupt("line {}: this is no JSON", line);
  } catch (const nlohmann::json::out_of_range&) {
    return Status::corrupt("a number exceeds a double");
  }
}
/// The text in a field of an object; "" without such an object, field or text. nlohmann::json::value() throws where a
/// field is of another type.
inline std::string textField(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
/// The same as parseJson, of the bytes of a file.
template <class Byte>
nlohmann::json parseJson(const std::vector<Byte>& bytes) {
  return parseJson(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace opkit
