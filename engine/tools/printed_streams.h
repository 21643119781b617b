// The streams of a program: everything that is printed on stdout and stderr, by whatever call, passes PrintedLines
// (engine/base/printable.h) on its way, so that no name in a model or a file can steer a terminal.
#pragma once

namespace opkit::cli {

/// Replaces stdout and stderr of this process, for good; a second call does nothing. On stderr, and on stdout if it is
/// a terminal, a line of more than 1,000 bytes loses its middle. Does nothing without glibc.
void guardStreams();

/// Prints what still waits for the end of its line. False, with errno set, if it cannot be written.
bool finishStreams();

}  // namespace opkit::cli
