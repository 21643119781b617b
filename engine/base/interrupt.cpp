#include "engine/base/interrupt.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "engine/base/crash_line.h"

namespace opkit {
namespace {

constexpr unsigned kGraceSeconds = 3;
constexpr int64_t kSameMs = 500;  // closer signals count as one: timeout(1) and shells signal both process and group
constexpr size_t kNoSlot = 64;

// All state that the handlers access: lock-free, and never freed by them.
std::array<std::atomic<char*>, kNoSlot> temporaries = {};
std::array<char, 64> line = {};
std::atomic<int> asked = 0;
std::atomic<int64_t> askedAtMs = 0;
std::atomic<int> graceful = 0;   // scopes
std::atomic<int> unlimited = 0;  // those of them that must not be ended
static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<char*>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

[[noreturn]] void leave(int signal) {
  removeTemporaryFiles();
  if (signal != SIGPIPE && signal != kEndWorker) {
    const ssize_t ignored = ::write(STDERR_FILENO, line.data(), std::strlen(line.data()));
    static_cast<void>(ignored);
  }
  ::_exit(128 + signal);
}

int64_t nowMs() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void onInterrupt(int signal) {
  const int first = asked;
  if (unlimited == 0 && graceful == 0) leave(first != 0 ? first : signal);
  if (unlimited == 0 && first != 0 && nowMs() - askedAtMs > kSameMs) leave(first);
  if (first != 0) return;
  askedAtMs = nowMs();
  asked = signal;
  if (unlimited == 0) ::alarm(kGraceSeconds);
}

void onAlarm(int) {
  if (asked != 0) leave(asked);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // poll and sleep end early all the same
  ::sigaction(signal, &action, nullptr);
}

size_t occupy(const std::string& path) {
  char* copy = ::strdup(path.c_str());
  for (size_t i = 0; i < temporaries.size(); ++i) {
    char* empty = nullptr;
    if (temporaries[i].compare_exchange_strong(empty, copy)) return i;
  }
  std::free(copy);
  return kNoSlot;
}

}  // namespace

void catchInterrupts(const std::string& program) {
  // On a terminal the line may hold a progress bar.
  const std::string text = (::isatty(STDERR_FILENO) ? "\r\x1b[K" : "") + program.substr(0, 40) + ": interrupted\n";
  std::strncpy(line.data(), text.c_str(), line.size() - 1);
  handle(SIGINT, onInterrupt);
  handle(SIGTERM, onInterrupt);
  struct sigaction before = {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    handle(SIGHUP, onInterrupt);  // nohup(1)
  handle(SIGPIPE, leave);
  handle(SIGALRM, onAlarm);
  handle(SIGXFSZ, SIG_IGN);  // exceeding a file size limit becomes a failed write, like a full disk
}

int interruptSignal() { return asked; }

GracefulInterrupt::GracefulInterrupt(Patience patience) : patience_(patience) {
  if (patience_ == Patience::Unlimited) ++unlimited;
  ++graceful;
}

GracefulInterrupt::~GracefulInterrupt() {
  --graceful;
  if (patience_ == Patience::Unlimited) --unlimited;
}

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)), slot_(occupy(path_)) {}

TemporaryFile::~TemporaryFile() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  keep();
}

void TemporaryFile::keep() {
  // The name may soon belong to another file: only the thread that takes it out of the slot removes the file.
  if (slot_ != kNoSlot) std::free(temporaries[slot_].exchange(nullptr));
  slot_ = kNoSlot;
  path_.clear();
}

void removeTemporaryFiles() {
  for (std::atomic<char*>& slot : temporaries)
    if (const char* path = slot.exchange(nullptr)) ::unlink(path);
}

void becomeWorker(int parent) {
  for (std::atomic<char*>& slot : temporaries) slot = nullptr;
  handle(SIGINT, SIG_IGN);
  handle(SIGTERM, SIG_IGN);
  handle(SIGHUP, SIG_IGN);
  handle(SIGPIPE, SIG_DFL);
  handle(SIGALRM, SIG_DFL);
  handle(kEndWorker, leave);
  endCrashLines();
  ::prctl(PR_SET_PDEATHSIG, kEndWorker);
  if (::getppid() != parent) ::_exit(128 + kEndWorker);  // it had ended before
}

}  // namespace opkit
