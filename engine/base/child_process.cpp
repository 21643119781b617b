#include "engine/base/child_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/base/checked_file.h"

namespace opkit {
namespace {

Status systemFailure(const std::string& program) {
  return Status::internal("cannot run {}: {}", program, std::strerror(errno));
}

/// In the child: nothing here may allocate.
[[noreturn]] void become(char* const* arguments, int input, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (::getppid() == parent && ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
      ::dup2(nowhere, STDERR_FILENO) >= 0)
    ::execvp(arguments[0], arguments);
  ::_exit(127);
}

std::string readUntilEnd(int descriptor) {
  std::string text;
  std::array<char, 4096> chunk = {};
  while (true) {
    const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(chunk.data(), static_cast<size_t>(got));
  }
}

}  // namespace

Result<ChildRun> runChild(const std::vector<std::string>& arguments, std::string_view input) {
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  // In memory: no file is left behind, and no pipe fills while the other one is read.
  const Descriptor text(::memfd_create("input", MFD_CLOEXEC));
  if (!text.isOpen() || !writeAll(text.get(), {reinterpret_cast<const uint8_t*>(input.data()), input.size()}) ||
      ::lseek(text.get(), 0, SEEK_SET) < 0)
    return systemFailure(arguments[0]);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return systemFailure(arguments[0]);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const pid_t self = ::getpid(), child = ::fork();
  if (child == 0) become(list.data(), text.get(), to.get(), self);
  if (child < 0) return systemFailure(arguments[0]);
  static_cast<void>(to.close());  // or the end would never be seen
  ChildRun run{0, readUntilEnd(from.get())};
  int state = 0;
  while (::waitpid(child, &state, 0) < 0)
    if (errno != EINTR) return systemFailure(arguments[0]);
  run.exitCode = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  return run;
}

std::string shellQuoted(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("/._-+:=@", c); };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace opkit
