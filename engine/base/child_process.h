// runChild: another program, run without a shell and never left behind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace opkit {

struct ChildRun {
  int exitCode = 0;    // 128 and the signal's number when a signal ended it; 127 when it could not be started
  std::string output;  // what it wrote to stdout; stderr goes nowhere
};

/// Runs arguments[0], looked up in PATH, with `input` as its stdin, and waits for it. It is killed when this process
/// ends before it. Internal when the system refuses a process. Call it from the main thread.
Result<ChildRun> runChild(const std::vector<std::string>& arguments, std::string_view input = {});

}  // namespace opkit
