#include "engine/plugin/trial.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/plugin/plugin_set.h"
#include "engine/plugin/shader.h"

namespace opkit {
namespace {

enum class Phase : int { Loading, Unloading, Done };

/// A page that both processes see: the exit code alone would not tell a plugin that calls exit(0).
class SharedPhase {
 public:
  SharedPhase() : page_(::mmap(nullptr, sizeof(Phase), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedPhase() {
    if (isOpen()) ::munmap(page_, sizeof(Phase));
  }
  SharedPhase(const SharedPhase&) = delete;
  SharedPhase& operator=(const SharedPhase&) = delete;

  bool isOpen() const { return page_ != MAP_FAILED; }
  volatile Phase& value() const { return *static_cast<volatile Phase*>(page_); }

 private:
  void* page_;
};

/// The trial prints nothing: the text of the plugin comes when the program itself loads it.
void silence() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

[[noreturn]] void loadAndUnload(const std::string& path, pid_t parent, volatile Phase& phase) {
  becomeWorker(parent);
  silence();
  plugin::Shader::leaveOut();
  {
    PluginSet set{OpRegistry(), OnnxRules()};
    static_cast<void>(set.load(path));  // the program's own load says why it is refused
    phase = Phase::Unloading;
  }
  phase = Phase::Done;
  ::_exit(0);
}

/// The state of the process as of waitpid; nothing if it still runs after so many seconds.
std::optional<int> stateWithin(pid_t child, double seconds) {
  constexpr useconds_t kLookUs = 500;
  for (const double endNs = nowNs() + seconds * 1e9; nowNs() < endNs; ::usleep(kLookUs)) {
    int state = 0;
    const pid_t ended = ::waitpid(child, &state, WNOHANG);
    if (ended == child) return state;
    if (ended < 0 && errno != EINTR) return 0;
  }
  return std::nullopt;
}

}  // namespace

Status tryPlugin(const std::string& path, double mostSeconds) {
  const SharedPhase phase;
  if (!phase.isOpen()) return Status::internal("no page to try plugin '{}': {}", path, std::strerror(errno));
  std::fflush(nullptr);  // or an exit() of the plugin would print what is buffered again
  const pid_t self = ::getpid(), child = ::fork();
  if (child < 0) return Status::internal("no process to try plugin '{}': {}", path, std::strerror(errno));
  if (child == 0) loadAndUnload(path, self, phase.value());
  const std::optional<int> state = stateWithin(child, mostSeconds);
  const char* const what = phase.value() == Phase::Loading ? "load" : "unload";
  if (!state) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return Status::invalidArgument("plugin '{}': to {} it took more than {:.3g} s", path, what, mostSeconds);
  }
  if (phase.value() == Phase::Done) return Status::ok();
  const std::string how = WIFSIGNALED(*state)
                              ? fmt::format("signal {} ({})", WTERMSIG(*state), strsignal(WTERMSIG(*state)))
                              : fmt::format("exit code {}", WEXITSTATUS(*state));
  return Status::invalidArgument("plugin '{}': to {} it ended the process with {}", path, what, how);
}

}  // namespace opkit
