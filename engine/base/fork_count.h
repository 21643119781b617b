// forkCount: says whether this process is another one than that which made an object.
//
// A child process inherits objects without the threads behind them, those of a pool and those of a driver. Who owns
// such objects remembers the count of their making; where it differs, they are neither used nor destroyed. Thread-safe.
#pragma once

#include <cstdint>

namespace opkit {

/// The forks between the process that loaded OpKit and this one. A process number would not do: in a container a child
/// may have its parent's.
uint64_t forkCount();

}  // namespace opkit
