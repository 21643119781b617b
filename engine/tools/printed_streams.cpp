#include "engine/tools/printed_streams.h"

#include <unistd.h>

#include <cstdio>
#include <span>
#include <string_view>

#include "engine/base/checked_file.h"
#include "engine/base/printable.h"

namespace opkit::cli {
namespace {

constexpr size_t kMostOfALine = 1000;

/// A descriptor behind the text on its way to it. Lives as long as the process: streams are flushed at its very end.
struct Printed {
  int descriptor;
  PrintedLines lines;
};
Printed* printed[2] = {nullptr, nullptr};

bool writeText(int descriptor, std::string_view text) {
  return writeAll(descriptor, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

#ifdef __GLIBC__
/// The bytes taken; 0 with errno set if the descriptor takes none. Allocates nothing.
ssize_t writePrinted(void* cookie, const char* data, size_t size) noexcept {
  auto& to = *static_cast<Printed*>(cookie);
  const std::string_view text(data, size);
  for (size_t at = 0; at < size; at += PrintedLines::kPiece)
    if (!writeText(to.descriptor, to.lines.add(text.substr(at, PrintedLines::kPiece)))) return 0;
  return static_cast<ssize_t>(size);
}

std::FILE* guarded(std::FILE* stream, int descriptor, Printed*& to, int buffering) {
  const bool isTerminal = isatty(descriptor) != 0;
  const bool isCut = isTerminal || descriptor == STDERR_FILENO;
  to = new Printed{descriptor, PrintedLines(isTerminal, isCut ? kMostOfALine : PrintedLines::kNoLimit)};
  std::FILE* made = fopencookie(to, "w", {.read = nullptr, .write = writePrinted, .seek = nullptr, .close = nullptr});
  if (!made) return stream;
  std::fflush(stream);
  static_cast<void>(std::setvbuf(made, nullptr, buffering, BUFSIZ));
  return made;
}
#endif

}  // namespace

void guardStreams() {
#ifdef __GLIBC__
  if (printed[0]) return;
  // Line-buffered, so that a signal loses no finished line and a full disk is noticed early.
  stdout = guarded(stdout, STDOUT_FILENO, printed[0], _IOLBF);
  stderr = guarded(stderr, STDERR_FILENO, printed[1], _IONBF);
#else
  static_cast<void>(std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ));
#endif
}

bool finishStreams() {
  bool good = true;
  for (Printed* to : printed)
    if (to) good = writeText(to->descriptor, to->lines.finish()) && good;
  return good;
}

}  // namespace opkit::cli
