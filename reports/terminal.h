// Terminal text: lines that fit, of texts that may hold anything.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opkit::reports {

/// How wide a terminal is, in characters, and what it can show.
struct Terminal {
  bool utf8 = true;
  size_t columns = 100;

  /// UTF-8 if LC_ALL, else LC_CTYPE, else LANG says so.
  static Terminal ofEnvironment();

  /// The text on one line without characters that could steer a terminal: controls and marks of writing direction
  /// become
  /// "\x1b", "\u202e"; without UTF-8 all others beyond ASCII become '?', "µ" becomes "u".
  std::string plain(std::string_view text) const;
  /// At most `width` characters of a plain text: longer ones lose their middle to "…", or "..." without UTF-8.
  std::string cut(std::string_view text, size_t width) const;
  /// Lines of at most `columns` characters that begin with `indent` spaces, broken at spaces; longer words are broken.
  /// The first line begins with `lead` instead, if there is one.
  std::vector<std::string> wrap(std::string_view text, size_t indent, std::string_view lead = "") const;
  /// One character per value, from the least (U+2581, or 0) to the largest (U+2588, or 9); a blank if it is not finite.
  std::string levels(std::span<const double> values) const;
};

/// Characters of a UTF-8 text.
size_t charactersOf(std::string_view text);

}  // namespace opkit::reports
