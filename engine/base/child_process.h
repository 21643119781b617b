// Other programs: run without a shell and never left behind; words for command lines that a user copies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace opkit {

struct ChildRun {
  int exitCode = 0;    // 128 plus the signal's number if a signal ended it; 127 if it could not be started
  std::string output;  // its stdout; stderr is discarded
};

/// Runs arguments[0], looked up in PATH, with `input` as its stdin, and waits for it. It is killed if this process ends
/// first. Internal if the system refuses a process. Call it from the main thread.
Result<ChildRun> runChild(const std::vector<std::string>& arguments, std::string_view input = {});

/// A word that a POSIX shell reads as `text`; in quotes if needed.
std::string shellQuoted(const std::string& text);

}  // namespace opkit
