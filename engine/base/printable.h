// Text of others on a terminal: names of models, lines of files, messages of drivers may hold anything, also what
// steers a terminal. printable() is for a name inside a line; PrintedLines is the last look at everything that a
// program prints (engine/tools/printed_streams.h). Files and JSON keep the true text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opkit {

/// The text on one line: a line end, a tab and other controls become "\x0a", marks of writing direction and invisible
/// characters "\u202e", bytes that are no UTF-8 "\xff".
std::string printable(std::string_view text);

/// Prints "PROGRAM: note: NOTE" to stderr, as one such line.
void printNote(const char* program, std::string_view note);

/// Text on its way to a stream, in pieces of any size: the same as printable(), but line ends and tabs stay, and a line
/// may be limited. Used by one thread at a time. Only the constructor allocates, if no piece has more than kPiece bytes
/// and the limit is none or at most 1,000: what is printed may be that memory was refused.
class PrintedLines {
 public:
  static constexpr size_t kNoLimit = static_cast<size_t>(-1);
  static constexpr size_t kPiece = 4096;

  /// Longer lines lose their middle, except for the commands that repeat a case. On a terminal the colours of OpKit
  /// and the redrawing of its bar stay.
  explicit PrintedLines(bool isTerminal, size_t mostOfALine = kNoLimit);

  /// Takes a piece; returns the text to print, valid until the next call. The second half of a long line waits for its
  /// end.
  std::string_view add(std::string_view piece);
  /// Returns the text that still waits. Call it at the end of the program.
  std::string_view finish();

 private:
  void put(std::string_view text);
  void endLine();
  void take(bool isLast);
  /// Takes one character or sequence from the front; 0 bytes if it is unfinished.
  size_t takeOne(std::string_view text, bool isLast);

  bool isTerminal_;
  size_t most_;
  std::string rest_;   // an unfinished character or sequence
  std::string out_;    // what the last call returned
  size_t length_ = 0;  // bytes of the line so far
  std::string head_;   // the first bytes of the line
  std::string tail_;   // of a long line: what follows its first half
};

}  // namespace opkit
