// guarded: the boundary where exceptions of the standard library become a Status of one line, and where arithmetic
// becomes that of FloatEnvironment.
//
// The standard library throws for memory, threads, files and text; OpKit only where a failed Result is read. Every
// function called from outside (the public header, the C ABI, main, the body of a thread or worker) runs its work
// inside guarded(), so that neither its errors nor its results depend on the caller. Thread-safe.
#pragma once

#include <functional>
#include <type_traits>

#include "engine/base/float_environment.h"
#include "engine/base/status.h"

namespace opkit {

/// The Status of the exception being handled: OutOfMemory for memory that the system refused, InvalidArgument for a
/// file or folder, Internal for everything else. REQUIRES to be called inside a catch block.
Status statusOfException();

/// The Status or Result of `body`, which has a FloatEnvironment; an exception becomes a Status.
template <class Body>
std::invoke_result_t<Body> guarded(Body&& body) {
  const FloatEnvironment environment;
  try {
    return body();
  } catch (...) {
    return statusOfException();
  }
}

/// The body of a program's main, in a FloatEnvironment: an exception becomes one line on stderr, "name: why", and exit
/// code 2. So does refused memory where nothing may throw, such as in a destructor.
int guardedMain(const char* name, const std::function<int()>& body);

}  // namespace opkit
