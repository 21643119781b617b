#include "engine/base/crash_line.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

namespace opkit {
namespace {

struct Named {
  int signal;
  const char* text;
};
constexpr Named kCrashes[] = {{SIGSEGV, "signal 11 (Segmentation fault)"},
                              {SIGBUS, "signal 7 (Bus error)"},
                              {SIGFPE, "signal 8 (Floating point exception)"},
                              {SIGILL, "signal 4 (Illegal instruction)"},
                              {SIGABRT, "signal 6 (Aborted)"}};

// All that the handler reads. Nothing here allocates.
std::array<char, 64> name = {};
std::array<char, 304> note = {};
std::array<char, 1 << 16> stack = {};  // for a thread that has used up its own
std::atomic_flag isEnding;

/// A line in memory of the handler.
struct Line {
  std::array<char, 512> text = {};
  size_t size = 0;

  void add(const char* part) {
    while (*part != 0 && size < text.size()) text[size++] = *part++;
  }
};

void onCrash(int signal) {
  if (isEnding.test_and_set())
    while (true) ::pause();  // another thread crashed first, and ends the process
  const auto crash = std::find_if(std::begin(kCrashes), std::end(kCrashes),
                                  [signal](const Named& each) { return each.signal == signal; });
  Line line;
  line.add(name.data());
  line.add(": ended with ");
  line.add(crash == std::end(kCrashes) ? "a signal" : crash->text);
  if (note[0] != 0) line.add(", in ");
  line.add(note.data());
  line.add("\n");
  std::signal(SIGPIPE, SIG_IGN);  // the reader of stderr may have left
  const ssize_t ignored = ::write(STDERR_FILENO, line.text.data(), line.size);
  static_cast<void>(ignored);
  std::signal(signal, SIG_DFL);
  ::raise(signal);  // once this handler has returned
}

void onlyIf(void (*old)(int), void (*handler)(int)) {
  for (const Named& crash : kCrashes) {
    struct sigaction present = {};
    ::sigaction(crash.signal, nullptr, &present);
    if (present.sa_handler != old) continue;
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = handler == SIG_DFL ? 0 : SA_ONSTACK;
    ::sigaction(crash.signal, &action, nullptr);
  }
}

}  // namespace

void catchCrashes(const std::string& program) {
  // On a terminal the line may hold a progress bar.
  const std::string text = (::isatty(STDERR_FILENO) ? "\r\x1b[K" : "") + program.substr(0, 40);
  std::copy_n(text.c_str(), text.size() + 1, name.data());
  const stack_t own = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&own, nullptr);
  onlyIf(SIG_DFL, onCrash);
}

void noteForCrash(std::string_view text) {
  const size_t size = std::min(text.size(), note.size() - 1);
  std::copy_n(text.data(), size, note.data());
  note[size] = 0;
}

void endCrashLines() { onlyIf(onCrash, SIG_DFL); }

}  // namespace opkit
