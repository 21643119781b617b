// pauseMidway: stops a function in the middle of its work, so that a harness can run something else there.
//
// The processor traps after each instruction (x86-64); elsewhere, and under sanitizers, nothing is stopped.
#pragma once

#include <cstddef>
#include <functional>

namespace opkit::harness {

bool canPauseMidway();

/// Runs `body`, and calls pause() once, after about `instructions` machine instructions or not at all if body takes
/// fewer. About a microsecond per instruction until then. `pause` runs in a signal handler: it may only use atomics
/// and yield. REQUIRES canPauseMidway(). Thread-safe; owns SIGTRAP from the first call on.
void pauseMidway(size_t instructions, const std::function<void()>& body, const std::function<void()>& pause);

}  // namespace opkit::harness
