// The common part of OpKit's command-line programs: exit codes, one-line errors, and the small grammars of options.
//
// A program describes its options with CLI11 and passes its body to runProgram, which turns usage errors, failures,
// failed output and exceptions of the standard library into one line on stderr and the right exit code. main() runs
// inside guardedMain (engine/base/guard.h), which does the same before that point. SIGINT, SIGTERM, SIGHUP and
// a closed stdout pipe end a program with 130, 143, 129 and 141 (engine/base/interrupt.h).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/base/status.h"
#include "engine/tensor/shape.h"
#include "engine/tools/validators.h"

namespace opkit::cli {

enum ExitCode : int {
  kSuccess = 0,
  kCheckFailed = 1,
  kBadInput = 2,  // wrong usage, bad files, nothing to run on
  kNothingRan = 3,
};

/// Adds --version, --completion, --host-memory, --device-class, --tuning-guesses, --driver and --vector-width, gives
/// every option the check of its type (checkValues), parses, runs the body and returns the exit code; a failed Status
/// becomes kBadInput.
int runProgram(CLI::App& app, int argc, char** argv, const std::function<Result<int>()>& body);

struct NamedValue {
  std::string name;
  std::string value;
};
/// Splits NAME=VALUE at the first '='; `option` is for the message.
Result<NamedValue> parseNamedValue(const std::string& option, const std::string& text);
/// "1x3x256x256"; an empty text is a scalar's shape.
Result<Shape> parseShape(const std::string& text);
/// "12.3 ms", "4.5 us": three significant digits, a unit that fits.
std::string formatNs(double ns);
/// Numbers that JSON cannot hold become the strings "nan", "inf", "-inf".
nlohmann::json jsonNumber(double value);
/// Writes one indented document in one step; does nothing if the path is empty.
Status writeJson(const std::string& path, const nlohmann::json& document);

}  // namespace opkit::cli
