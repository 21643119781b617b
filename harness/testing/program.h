// Runs op-harness as a user does. Tests only.
#pragma once

#include <string>

namespace opkit::harness {

struct Ran {
  int code = -1;
  std::string text;  // stdout and stderr
};

/// Where the programs of this build stand.
std::string opHarness();
std::string opRun();

/// The program's answer to a command line, which a shell reads.
Ran run(const std::string& arguments);

/// Any other shell command.
Ran runShell(const std::string& command);

/// Runs op-harness as a process group of its own, sends it `signal` when the file holds `part`, and waits. Its code is
/// 128 and the signal's number where a signal ended it; `text` says so when a process of the group outlives it by a
/// second.
Ran runUntil(const std::string& arguments, const std::string& file, const std::string& part, int signal);

/// Writes a file into the tests' folder and answers its path.
std::string fileWith(const std::string& name, const std::string& text);
std::string textOf(const std::string& path);

/// Exit code 2 and one line that holds `part`.
void expectOneLine(const Ran& ran, const std::string& part);

}  // namespace opkit::harness
