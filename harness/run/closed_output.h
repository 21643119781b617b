// ClosedOutput: an orderly end when the reader of stdout goes, for commands that have more to remove than files.
#pragma once

#include <csignal>

namespace opkit::harness {

/// While one exists, SIGPIPE only sets isSeen(); its destructor then ends the process as SIGPIPE does elsewhere.
class ClosedOutput {
 public:
  ClosedOutput();
  ~ClosedOutput();
  ClosedOutput(const ClosedOutput&) = delete;
  ClosedOutput& operator=(const ClosedOutput&) = delete;

  static bool isSeen();

 private:
  struct sigaction before_ = {};
};

}  // namespace opkit::harness
