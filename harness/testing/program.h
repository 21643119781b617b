// Runs op-harness as a user does. Tests only.
#pragma once

#include <string>

namespace opkit::harness {

struct Ran {
  int code = -1;
  std::string text;  // stdout and stderr
};

/// The folder of this build's programs.
std::string opHarness();
std::string opRun();

/// The program's answer to a command line, which a shell reads.
Ran run(const std::string& arguments);

/// Any other shell command.
Ran runShell(const std::string& command);

/// Runs op-harness in its own process group, sends it `signal` when the file contains `part`, and waits. Its code is
/// 128 plus the signal's number if a signal ended it; `text` says so if a process of the group outlives it by a second.
Ran runUntil(const std::string& arguments, const std::string& file, const std::string& part, int signal);

/// Writes a file into the tests' folder and returns its path.
std::string fileWith(const std::string& name, const std::string& text);
std::string textOf(const std::string& path);

/// Output that holds `part`.
void expectPart(const Ran& ran, const std::string& part);
/// Exit code 2 and one line that holds `part`.
void expectOneLine(const Ran& ran, const std::string& part);

}  // namespace opkit::harness
