#include "harness/check/pause_midway.h"

#include "engine/base/check.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OPKIT_CAN_TRAP
#include <ucontext.h>

#include <csignal>
#include <mutex>
#include <utility>
#endif

namespace opkit::harness {

#ifdef OPKIT_CAN_TRAP
namespace {

constexpr greg_t kTrapFlag = 0x100;  // of EFLAGS

struct Stepping {
  size_t left = 0;  // instructions until the pause; 0: stop trapping
  const std::function<void()>* pause = nullptr;
};
thread_local Stepping stepping;

void onTrap(int, siginfo_t*, void* context) {
  if (stepping.left > 1) {
    --stepping.left;  // the saved flags keep the trap flag: the next instruction traps too
    return;
  }
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  if (std::exchange(stepping.left, 0) == 1) (*stepping.pause)();
}

void ownTraps() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = onTrap;
    action.sa_flags = SA_SIGINFO;
    OPKIT_CHECK(sigaction(SIGTRAP, &action, nullptr) == 0);
  });
}

/// Below the red zone, which a leaf function may use.
[[gnu::noinline]] void beginTrapping() {
  asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
                   : "cc", "memory");
}

/// Ends the trapping at the next instruction, also when the body throws.
struct EndTrapping {
  ~EndTrapping() { stepping.left = 0; }
};

}  // namespace

bool canPauseMidway() { return true; }

void pauseMidway(size_t instructions, const std::function<void()>& body, const std::function<void()>& pause) {
  ownTraps();
  stepping = {std::max<size_t>(instructions, 2), &pause};
  const EndTrapping end;
  beginTrapping();
  body();
}
#else
bool canPauseMidway() { return false; }

void pauseMidway(size_t, const std::function<void()>&, const std::function<void()>&) { OPKIT_CHECK(canPauseMidway()); }
#endif

}  // namespace opkit::harness
