// Crashes: a program that a fault of some kernel, driver or plugin ends says so in one line on stderr.
//
// After catchCrashes, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print "PROGRAM: ended with signal 11 (Segmentation
// fault), in NOTE" and then end the process as without it, core file included. A signal that somebody else handles,
// such as a sanitizer, is left to them. A library never calls catchCrashes. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace opkit {

/// Installs the handlers. `program` is the name at the start of the line.
void catchCrashes(const std::string& program);

/// Names the work that begins now, for the line of a crash: at most 300 characters. For one thread.
void noteForCrash(std::string_view text);

/// For a forked worker, whose parent says how it ended.
void endCrashLines();

}  // namespace opkit
