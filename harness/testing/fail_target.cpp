#include "harness/testing/fail_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace opkit::fail {
namespace {

using Text = std::array<char, PATH_MAX>;
struct ClassFacts {
  const char* name;
  int error;
};
constexpr std::array<ClassFacts, kClasses> kFacts = {{{"open", EMFILE},
                                                      {"read", EIO},
                                                      {"write", ENOSPC},
                                                      {"sync", EIO},
                                                      {"rename", EXDEV},
                                                      {"unlink", EACCES},
                                                      {"mkdir", ENOSPC},
                                                      {"truncate", EIO},
                                                      {"close", EIO},
                                                      {"list", EMFILE},
                                                      {"stat", EIO},
                                                      {"alloc", ENOMEM},
                                                      {"moves", 0}}};

enum class How { Error, Short, KillBefore, KillAfter };
struct Target {
  Class which = kClasses;
  uint64_t number = 0;
  int error = 0;
  How how = How::Error;
};

Target target;
Text below = {}, countFile = {};
bool startsBelow = false;  // the current folder
bool inWorkers = false;
pid_t self = 0;
std::atomic<bool> isActive = false;
std::array<std::atomic<uint64_t>, kClasses> counts = {};
std::array<std::atomic<bool>, 4096> isBelow = {};  // by descriptor
Text refused = {};           // a file that cannot be opened stays so: SQLite tries it again in other modes
std::atomic<int> full = -1;  // the descriptor of a short write

bool isKnown(int descriptor) { return descriptor >= 0 && static_cast<size_t>(descriptor) < isBelow.size(); }

/// Appends to the file of the counts.
void note(const char* text) {
  if (!countFile[0]) return;
  OPKIT_NEXT(open);
  const int file = real(countFile.data(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || ::write(file, text, std::strlen(text)) < 0) std::abort();
  ::close(file);
}

void noteFailure(Class which, const char* path, int descriptor) {
  Text link = {}, name = {}, line = {};
  if (!path && descriptor >= 0) {
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
    if (::readlink(link.data(), name.data(), name.size() - 1) > 0) path = name.data();
  }
  const int size = std::snprintf(line.data(), line.size() - 1, "failed %s %s", kFacts[which].name, path ? path : "");
  line[std::min(static_cast<size_t>(size), line.size() - 2)] = '\n';
  note(line.data());
}

void readTarget(const char* text) {
  std::array<char, 16> name = {}, how = {};
  unsigned long long number = 0;
  if (std::sscanf(text, "%15[a-z]:%llu:%15s", name.data(), &number, how.data()) < 2) std::abort();
  target.number = number;
  if (std::strncmp(name.data(), "kill", 4) == 0) {
    target.which = Moves;
    target.how = std::strcmp(name.data(), "kill") == 0 ? How::KillBefore : How::KillAfter;
    return;
  }
  for (size_t i = 0; i < Moves; ++i)
    if (std::strcmp(name.data(), kFacts[i].name) == 0) target.which = static_cast<Class>(i);
  if (target.which == kClasses) std::abort();
  target.error = kFacts[target.which].error;
  if (std::strcmp(how.data(), "short") == 0)
    target.how = How::Short;
  else if (how[0])
    target.error = std::atoi(how.data());
}

void copyVariable(Text& to, const char* name) {
  if (const char* value = std::getenv(name)) std::snprintf(to.data(), to.size(), "%s", value);
}

[[noreturn]] void endNow() {
  noteFailure(Moves, nullptr, -1);
  ::kill(self, SIGKILL);
  std::abort();
}

__attribute__((destructor)) void writeCounts() {
  if (!isActive.exchange(false) || ::getpid() != self) return;
  std::array<char, 1024> text = {};
  size_t size = 0;
  for (size_t i = 0; i < kClasses; ++i)
    size += static_cast<size_t>(std::snprintf(text.data() + size, text.size() - size, "%s %llu\n", kFacts[i].name,
                                              static_cast<unsigned long long>(counts[i].load())));
  note(text.data());
}

}  // namespace

void begin() {
  copyVariable(below, "OPKIT_FAIL_BELOW");
  copyVariable(countFile, "OPKIT_FAIL_COUNT");
  inWorkers = std::getenv("OPKIT_FAIL_WORKERS") != nullptr;
  if (const char* text = std::getenv("OPKIT_FAIL")) readTarget(text);
  Text folder = {};
  if (::getcwd(folder.data(), folder.size() - 1)) startsBelow = countsPath(folder.data());
  for (const char* name : {"LD_PRELOAD", "OPKIT_FAIL", "OPKIT_FAIL_BELOW", "OPKIT_FAIL_COUNT"}) ::unsetenv(name);
  self = ::getpid();
  isActive = true;
}

bool countsPath(const char* path) {
  if (path[0] != '/') return startsBelow;
  return below[0] && std::strncmp(path, below.data(), std::strlen(below.data())) == 0;
}

bool countsPath(int folder, const char* path) {
  if (!path) return false;
  return path[0] == '/' || folder == AT_FDCWD ? countsPath(path) : countsDescriptor(folder);
}

bool countsDescriptor(int descriptor) { return isKnown(descriptor) && isBelow[static_cast<size_t>(descriptor)]; }

int remember(int descriptor) {
  if (isKnown(descriptor)) isBelow[static_cast<size_t>(descriptor)] = true;
  return descriptor;
}

void forget(int descriptor) {
  if (isKnown(descriptor)) isBelow[static_cast<size_t>(descriptor)] = false;
}

__attribute__((noinline)) bool fails(Class which, const char* path, int descriptor) {
  if (!isActive) return false;
  if (which == Open && std::strcmp(refused.data(), path) == 0) {
    setError();
    return true;
  }
  const uint64_t number = ++counts[which];
  if (target.which != which || number != target.number) return false;
  if (!inWorkers && ::getpid() != self) return false;
  noteFailure(which, path, descriptor);
  if (which == Open) std::snprintf(refused.data(), refused.size(), "%s", path);
  setError();
  return true;
}

void setError() { errno = target.error; }

ssize_t limitOfWrite(int descriptor, size_t size) {
  if (!countsDescriptor(descriptor)) return 0;
  if (full == descriptor) {
    full = -1;
    setError();
    return -1;
  }
  if (!fails(Write, nullptr, descriptor)) return 0;
  if (target.how != How::Short || size < 2) return -1;
  full = descriptor;
  return static_cast<ssize_t>(size / 2);
}

Move::Move(bool isCounted) : isChosen_(isCounted && isActive) {
  if (!isChosen_) return;
  const uint64_t number = ++counts[Moves];
  isChosen_ = target.which == Moves && number == target.number && ::getpid() == self;
  if (isChosen_ && target.how == How::KillBefore) endNow();
}

Move::~Move() {
  if (isChosen_) endNow();
}

}  // namespace opkit::fail
