#include "engine/base/printable.h"

#include <gtest/gtest.h>

namespace opkit {
namespace {

TEST(Printable, WhatSteersATerminalIsNamed) {
  const std::pair<std::string, std::string> texts[] = {
      {"a name", "a name"},
      {"\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80", "\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80"},
      {"a\n\tb\x1b[2J\x7f", "a\\x0a\\x09b\\x1b[2J\\x7f"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"a\xe2\x80\xae"
       "b\xe2\x81\xa6\xd8\x9c",
       "a\\u202eb\\u2066\\u061c"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"},
      {"\xff\xfe a\xc3", "\\xff\\xfe a\\xc3"},
      {"\xc0\x80 \xed\xa0\x80 \xf5\x80\x80\x80", "\\xc0\\x80 \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80"},
      {"\xf3\xa0\x81\x81", "\\U000e0041"},
  };
  for (const auto& [text, expected] : texts) EXPECT_EQ(printable(text), expected);
}

/// The text in pieces of `size` bytes, as it is printed.
std::string printed(PrintedLines lines, const std::string& text, size_t size) {
  std::string all;
  for (size_t at = 0; at < text.size(); at += size) all += lines.add(text.substr(at, size));
  return all.append(lines.finish());
}

TEST(PrintedLines, PiecesOfAnySizeBecomeTheSame) {
  const std::string text = "a\tb\r\n\xe2\x80\xae\xf0\x9f\x98\x80\x1b[31mred\x1b[0m\x1b[2J\r\x1b[K|\rx\n\xe2\x80";
  const std::string plain =
      "a\tb\r\n\\u202e\xf0\x9f\x98\x80\\x1b[31mred\\x1b[0m\\x1b[2J\\x0d\\x1b[K|\\x0dx\n\\xe2\\x80";
  const std::string terminal = "a\tb\r\n\\u202e\xf0\x9f\x98\x80\x1b[31mred\x1b[0m\\x1b[2J\r\x1b[K|\\x0dx\n\\xe2\\x80";
  for (size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(printed(PrintedLines(false), text, size), plain);
    EXPECT_EQ(printed(PrintedLines(true), text, size), terminal);
  }
}

TEST(PrintedLines, LongLinesLoseTheirMiddle) {
  const std::string end = "the end", text = "first\n" + std::string(100'000, 'a') + end + "\n" + std::string(8, 'b');
  const std::string expected = "first\n" + std::string(10, 'a') + " ... aaa" + end + "\n" + std::string(8, 'b');
  for (const size_t size : {1, 7, 1000, 200'000}) {
    EXPECT_EQ(printed(PrintedLines(false, 20), text, size), expected);
    EXPECT_EQ(printed(PrintedLines(false), text, size), text);
  }
}

/// Memory may be refused while a program prints.
TEST(PrintedLines, ItsMemoryIsThatOfItsConstructor) {
  const std::string pieces[] = {std::string(PrintedLines::kPiece, '\x1b'), std::string(PrintedLines::kPiece, 'a'),
                                std::string(PrintedLines::kPiece, '\xff'), "\n"};
  for (const size_t most : {size_t{1000}, PrintedLines::kNoLimit}) {
    PrintedLines lines(true, most);
    const char* const place = lines.add("a").data();
    for (int i = 0; i < 8; ++i)
      for (const std::string& piece : pieces) EXPECT_EQ(lines.add(piece).data(), place);
    EXPECT_EQ(lines.finish().data(), place);
  }
}

TEST(PrintedLines, CommandsToCopyAndRedrawnBarsAreWhole) {
  const std::string repeat = "  repeat   op-harness check --case " + std::string(100, 'a') + "\n";
  EXPECT_EQ(printed(PrintedLines(true, 20), repeat, 3), repeat);
  std::string bar;
  for (int i = 0; i < 10; ++i) bar += "\r\x1b[K[####] 4/9";
  EXPECT_EQ(printed(PrintedLines(true, 20), bar, 5), bar);
}

}  // namespace
}  // namespace opkit
