// checkJsonDepth: refuses a JSON text that is nested deeper than anything reasonable. nlohmann::json parses without
// recursion, but copies and prints with it.
#pragma once

#include <string_view>

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

}  // namespace opkit
