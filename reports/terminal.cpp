#include "reports/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace opkit::reports {
namespace {

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The length in bytes of the character at `at`.
size_t lengthAt(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && isContinuation(text[end])) ++end;
  return end - at;
}

/// The code point of one character of valid UTF-8.
uint32_t codePoint(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]);
  uint32_t value = static_cast<unsigned char>(character[0]) & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return value;
}

/// Controls, and characters that are invisible or turn the writing direction.
bool steers(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0x061C || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB);
}

/// The byte after the first `count` characters.
size_t endOf(std::string_view text, size_t count) {
  size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += lengthAt(text, at);
  return at;
}

}  // namespace

size_t charactersOf(std::string_view text) {
  return text.size() - static_cast<size_t>(std::ranges::count_if(text, isContinuation));
}

Terminal Terminal::ofEnvironment() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); locale.empty() && value) locale = value;
  std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return std::tolower(c); });
  return {.utf8 = locale.ends_with("utf-8") || locale.ends_with("utf8")};
}

std::string Terminal::plain(std::string_view text) const {
  std::string shown;
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    length = lengthAt(text, at);
    const std::string_view character = text.substr(at, length);
    const uint32_t code = codePoint(character);
    if (code == '\n' || code == '\t')
      shown += ' ';
    else if (steers(code))
      shown += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    else if (code < 0x80 || utf8)
      shown += character;
    else
      shown += code == 0xB5 ? 'u' : '?';
  }
  return shown;
}

std::string Terminal::cut(std::string_view text, size_t width) const {
  const size_t count = charactersOf(text);
  if (count <= width) return std::string(text);
  const std::string_view dots = utf8 ? "…" : "...";
  const size_t left = width - std::min(width, charactersOf(dots)), before = (left + 1) / 2, after = left / 2;
  return fmt::format("{}{}{}", text.substr(0, endOf(text, before)), dots, text.substr(endOf(text, count - after)));
}

std::vector<std::string> Terminal::wrap(std::string_view text, size_t indent, std::string_view lead) const {
  std::vector<std::string> lines;
  const std::string margin(indent, ' ');
  std::string start(lead.empty() ? std::string_view(margin) : lead);
  do {
    const size_t room = columns - std::min(columns - 1, charactersOf(start));
    size_t end = endOf(text, room);
    if (end < text.size()) {
      const size_t space = text.substr(0, end + 1).rfind(' ');
      if (space != std::string_view::npos && space > 0) end = space;
    }
    lines.push_back(start.append(text.substr(0, end)));
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
    start = margin;
  } while (!text.empty());
  return lines;
}

std::string Terminal::levels(std::span<const double> values) const {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double least = INFINITY, most = -INFINITY;
  for (const double value : values)
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  const double range = most / 2 - least / 2;  // halves: the difference of two large numbers may be infinite
  const double top = utf8 ? 7 : 9;
  std::string line;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      line += ' ';
      continue;
    }
    const auto level = range > 0 ? static_cast<size_t>(std::lround((value / 2 - least / 2) / range * top)) : 0;
    line += utf8 ? kBlocks[level] : std::to_string(level);
  }
  return line;
}

}  // namespace opkit::reports
