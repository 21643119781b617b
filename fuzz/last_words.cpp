#include "fuzz/last_words.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>

namespace opkit::fuzz {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};
constexpr size_t kStack = size_t{1} << 16;

struct sigaction before[std::size(kSignals)];  // a sanitizer's, or the default

// Set before each input: the handler must not allocate.
char words[4096];
char path[1024];
const uint8_t* bytes = nullptr;
size_t size = 0;

void say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

/// A fault happens again when the handler returns; other signals are sent again.
void leaveToOthers(int signal) {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal) sigaction(signal, &before[i], nullptr);
  if (signal == SIGABRT || signal == SIGALRM) std::raise(signal);
}

extern "C" void speak(int signal) {
  say(words);
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && ::write(file, bytes, size) == static_cast<ssize_t>(size)) {
    say("; the input is in ");
    say(path);
  }
  say("\n");
  leaveToOthers(signal);
}

void copyInto(std::span<char> place, const std::string& text) {
  const size_t length = std::min(text.size(), place.size() - 1);
  std::memcpy(place.data(), text.data(), length);
  place[length] = 0;
}

/// On a stack of its own: a stack overflow leaves none.
bool install() {
  static char stack[kStack];
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = sizeof(stack);
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = speak;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before[i]);
  return true;
}

}  // namespace

void aboutToTry(const std::string& text, std::span<const uint8_t> input, const std::string& folder) {
  static const bool installed = install();
  static_cast<void>(installed);
  copyInto(words, "\nended while trying " + text);
  copyInto(path, folder + "/opkit-mutant");
  bytes = input.data(), size = input.size();
}

}  // namespace opkit::fuzz
