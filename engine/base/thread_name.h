// The names of OpKit's threads, for debuggers and for whoever asks the system what a process does: "opkit-pool".
#pragma once

#ifdef __linux__
#include <pthread.h>
#endif

namespace opkit {

/// All begin so.
inline constexpr const char* kThreadNames = "opkit-";

/// Names the calling thread; at most 15 characters. Does nothing where the system has no names.
inline void nameThread([[maybe_unused]] const char* name) {
#ifdef __linux__
  pthread_setname_np(pthread_self(), name);
#endif
}

}  // namespace opkit
