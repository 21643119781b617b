#include "engine/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace opkit {
namespace {

constexpr std::string_view kGap = " ... ";
constexpr std::array<std::string_view, 2> kWhole = {"  repeat ", "  compare "};  // begin a command to copy
constexpr size_t kLongestHead = 10;
constexpr size_t kLongestRest = 8;  // of a character or a sequence that is unfinished
constexpr size_t kLongestName = 4;  // in place of a byte: "\\x1b"
constexpr size_t kLongestTail = 4;  // in limits of a line
constexpr std::string_view kRedraw = "\r\x1b[K";
constexpr std::array<std::string_view, 5> kSequences = {"\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m", kRedraw};

/// One character of a text: its bytes and its code point; bytes that are no UTF-8 are one byte each.
struct Character {
  size_t length = 1;
  uint32_t point = 0;
  bool isValid = false;
  bool isCut = false;  // the text ends inside it
};

/// The bytes of the character that begins with `lead`; 0 for a byte that begins none.
size_t lengthOf(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

Character characterAt(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const size_t length = lengthOf(byte(0));
  if (length == 1) return {1, byte(0), true};
  if (length == 0) return {.point = byte(0)};
  uint32_t point = byte(0) & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (at + i == text.size()) return {.point = byte(0), .isCut = true};
    if ((byte(i) & 0xC0) != 0x80) return {.point = byte(0)};
    point = point << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool isSurrogate = point >= 0xD800 && point < 0xE000;
  if (point < kLeast[length] || point > 0x10FFFF || isSurrogate) return {.point = byte(0)};
  return {length, point, true};
}

/// Controls, and characters that are invisible or turn the writing direction.
bool steers(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0x061C || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

/// The text in place of a character that may not be printed.
std::string nameOf(const Character& c) {
  if (!c.isValid || c.point < 0x80) return fmt::format("\\x{:02x}", c.point);
  return c.point < 0x10000 ? fmt::format("\\u{:04x}", c.point) : fmt::format("\\U{:08x}", c.point);
}

/// The last byte before `at` at which a character ends.
size_t endBefore(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const Character c = characterAt(text, at);
    if (c.isValid && !steers(c.point))
      line += text.substr(at, c.length);
    else
      line += nameOf(c);
    at += c.length;
  }
  return line;
}

void printNote(const char* program, std::string_view note) {
  fmt::print(stderr, "{}: note: {}\n", program, printable(note));
}

PrintedLines::PrintedLines(bool isTerminal, size_t mostOfALine) : isTerminal_(isTerminal), most_(mostOfALine) {
  constexpr size_t kMostRest = kPiece + kLongestRest;
  const size_t tail = most_ == kNoLimit ? 0 : kLongestTail * std::min(most_, kPiece) + kMostRest;
  rest_.reserve(kMostRest);
  tail_.reserve(tail);
  head_.reserve(kLongestHead);
  out_.reserve(kLongestName * kMostRest + tail);
}

std::string_view PrintedLines::add(std::string_view piece) {
  out_.clear();
  rest_ += piece;
  take(false);
  return out_;
}

std::string_view PrintedLines::finish() {
  out_.clear();
  take(true);
  endLine();
  return out_;
}

void PrintedLines::take(bool isLast) {
  const std::string_view text = rest_;
  size_t at = 0;
  while (at < text.size()) {
    const size_t taken = takeOne(text.substr(at), isLast);
    if (taken == 0) break;
    at += taken;
  }
  rest_.erase(0, at);
}

size_t PrintedLines::takeOne(std::string_view text, bool isLast) {
  // Most of a text at once; no further than to the half of a line that may have to lose its middle.
  const size_t most = length_ < most_ / 2 ? most_ / 2 - length_ : text.size();
  const auto isPlain = [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); };
  const auto plainEnd =
      std::find_if_not(text.begin(), text.begin() + static_cast<ptrdiff_t>(std::min(most, text.size())), isPlain);
  if (plainEnd != text.begin()) {
    const auto taken = static_cast<size_t>(plainEnd - text.begin());
    put(text.substr(0, taken));
    return taken;
  }
  const auto begins = [&](std::string_view sequence) { return isTerminal_ && text.starts_with(sequence); };
  const auto mayBegin = [&](std::string_view sequence) { return isTerminal_ && sequence.starts_with(text); };
  const Character c = characterAt(text, 0);
  const bool isUnfinished = c.isCut || text == "\r" || std::ranges::any_of(kSequences, mayBegin);
  const auto* const known = std::ranges::find_if(kSequences, begins);
  if (known == kSequences.end() && isUnfinished && !isLast) return 0;
  for (const std::string_view end : {std::string_view("\n"), std::string_view("\r\n"), kRedraw}) {
    if (!text.starts_with(end) || (end == kRedraw && !isTerminal_)) continue;
    endLine();
    out_ += end;
    return end.size();
  }
  if (known != kSequences.end()) {
    put(*known);
    return known->size();
  }
  if (c.isValid && (c.point == '\t' || !steers(c.point)))
    put(text.substr(0, c.length));
  else
    put(nameOf(c));
  return c.length;
}

void PrintedLines::put(std::string_view text) {
  head_ += text.substr(0, kLongestHead - head_.size());
  length_ += text.size();
  if (length_ <= most_ / 2 || std::ranges::any_of(kWhole, [&](auto begin) { return head_.starts_with(begin); })) {
    out_ += text;
    return;
  }
  tail_ += text;
  // Memory for lines of any length: what cannot be among the last bytes goes.
  if (tail_.size() > kLongestTail * most_) tail_.erase(0, endBefore(tail_, tail_.size() - 2 * most_));
}

void PrintedLines::endLine() {
  if (tail_.size() > most_ / 2)
    out_.append(kGap).append(tail_, endBefore(tail_, tail_.size() - most_ / 2));
  else
    out_ += tail_;
  length_ = 0;
  head_.clear();
  tail_.clear();
}

}  // namespace opkit
