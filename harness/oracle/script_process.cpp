#include "harness/oracle/script_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"

namespace opkit::harness {

extern const char* const kOracleDriver;  // driver.py

namespace {

using Json = nlohmann::json;

constexpr double kLoadSeconds = 60;
constexpr const char* kDebianPython = "/usr/bin/python3";
constexpr const char* kNoProgram = "exit code 127";
constexpr const char* kNoPython =
    "needs python3 with NumPy: ./setup installs Debian's python3-numpy, OPKIT_PYTHON names another interpreter";

/// In the child: nothing here may allocate.
[[noreturn]] void become(char* const* arguments, int channel, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent && ::dup2(channel, STDIN_FILENO) >= 0 && ::dup2(channel, STDOUT_FILENO) >= 0)
    ::execvp(arguments[0], arguments);
  ::_exit(127);
}

/// Waits until the channel is ready for `events`; false if the time is up. An interrupt does not end the wait: the
/// command ends this process.
bool waitFor(int channel, short events, ProcessClock& clock) {
  while (!clock.isOver()) {
    pollfd one{channel, events, 0};
    if (::poll(&one, 1, static_cast<int>(std::ceil(clock.patienceSeconds() * 1000))) > 0) return true;
  }
  return false;
}

/// Of `limitSeconds` from now on.
ProcessClock clockOf(pid_t process, double limitSeconds) {
  ProcessClock clock(process);
  clock.begin(limitSeconds);
  return clock;
}

std::vector<std::string> interpreters() {
  if (const char* const chosen = std::getenv("OPKIT_PYTHON")) return {chosen};
  return {"python3", kDebianPython};
}

}  // namespace

Result<ScriptProcess> ScriptProcess::launch(const std::string& python, const std::string& script) {
  std::vector<std::string> words = {python, "-c", kOracleDriver, script};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Status::internal("no channel for Python: {}", std::strerror(errno));
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  const pid_t self = ::getpid(), child = ::fork();
  if (child == 0) become(arguments.data(), theirs.get(), self);
  if (child < 0) return Status::internal("no process for Python: {}", std::strerror(errno));
  return ScriptProcess(child, std::move(ours));
}

/// Moves all bytes with `step`, which is send or recv without blocking.
template <class Step>
ScriptProcess::Transfer ScriptProcess::transfer(short events, size_t size, ProcessClock& clock, const Step& step) {
  for (size_t done = 0; done < size;) {
    if (!waitFor(channel_.get(), events, clock)) return Transfer::Late;
    const ssize_t moved = step(done);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (moved <= 0) return Transfer::Ended;
    done += static_cast<size_t>(moved);
  }
  return Transfer::Done;
}

ScriptProcess::Transfer ScriptProcess::send(const ScriptMessage& message, ProcessClock& clock) {
  const std::array<uint64_t, 2> lengths = {message.header.size(), message.payload.size()};
  const std::array<std::pair<const void*, size_t>, 3> parts = {{{lengths.data(), sizeof(lengths)},
                                                                {message.header.data(), message.header.size()},
                                                                {message.payload.data(), message.payload.size()}}};
  for (const auto& [data, size] : parts) {
    const auto step = [&, from = static_cast<const char*>(data), all = size](size_t done) {
      return ::send(channel_.get(), from + done, all - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    };
    if (const Transfer sent = transfer(POLLOUT, size, clock, step); sent != Transfer::Done) return sent;
  }
  return Transfer::Done;
}

ScriptProcess::Transfer ScriptProcess::receive(ScriptMessage& message, ProcessClock& clock) {
  const auto part = [&](void* data, size_t size) {
    return transfer(POLLIN, size, clock, [&](size_t done) {
      return ::recv(channel_.get(), static_cast<char*>(data) + done, size - done, MSG_DONTWAIT);
    });
  };
  std::array<uint64_t, 2> lengths = {};
  if (const Transfer got = part(lengths.data(), sizeof(lengths)); got != Transfer::Done) return got;
  message.header.resize(lengths[0]);
  message.payload.resize(lengths[1]);
  if (const Transfer got = part(message.header.data(), lengths[0]); got != Transfer::Done) return got;
  return part(message.payload.data(), lengths[1]);
}

Result<ScriptProcess> ScriptProcess::start(const std::string& script) {
  for (const std::string& python : interpreters()) {
    OPKIT_ASSIGN(ScriptProcess process, launch(python, script));
    ScriptMessage first;
    ProcessClock clock = clockOf(process.process_, kLoadSeconds);
    const Transfer got = process.receive(first, clock);
    if (got == Transfer::Late) return Status::invalidArgument("{}: loading it takes over {:g} s", script, kLoadSeconds);
    const std::string ended = got == Transfer::Ended ? process.stop() : "";
    if (ended == kNoProgram) continue;
    if (!ended.empty()) return Status::invalidArgument("{}: Python ended with {} while loading it", script, ended);
    const Json answer = parseJson(first.header);
    if (answer.contains("error")) return Status::invalidArgument("{}", textField(answer, "error"));
    if (answer.contains("numpy")) return process;
  }
  return Status::invalidArgument("{}", kNoPython);
}

Result<ScriptMessage> ScriptProcess::ask(const ScriptMessage& question, double seconds) {
  ProcessClock clock = clockOf(process_, seconds);
  ScriptMessage answer;
  Transfer moved = send(question, clock);
  if (moved == Transfer::Done) moved = receive(answer, clock);
  if (moved == Transfer::Done) return answer;
  const std::string ended = stop();
  if (moved == Transfer::Late) return Status::internal("the script gave no answer within {:g} s", seconds);
  return Status::internal("the script ended Python with {}", ended);
}

ScriptProcess::~ScriptProcess() { stop(); }

std::string ScriptProcess::stop() {
  if (process_ < 0) return "";
  channel_ = Descriptor();
  const pid_t process = std::exchange(process_, -1);
  ::kill(process, SIGKILL);  // no effect on one that has ended
  int state = 0;
  while (::waitpid(process, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(state)) return fmt::format("signal {} ({})", WTERMSIG(state), ::strsignal(WTERMSIG(state)));
  return fmt::format("exit code {}", WEXITSTATUS(state));
}

}  // namespace opkit::harness
