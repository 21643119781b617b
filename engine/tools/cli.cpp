#include "engine/tools/cli.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>

#include "engine/backend/device_class.h"
#include "engine/base/crash_line.h"
#include "engine/base/duration.h"
#include "engine/base/guard.h"
#include "engine/base/host_memory.h"
#include "engine/base/interrupt.h"
#include "engine/base/printable.h"
#include "engine/model/model.h"
#include "engine/tools/completion.h"
#include "engine/tools/driver.h"
#include "engine/tools/file_clash.h"
#include "engine/tools/printed_streams.h"

namespace opkit::cli {
namespace {

/// Prints one line: messages quote files, which may be anything.
int fail(const CLI::App& app, std::string message) {
  std::ranges::replace(message, '\n', ' ');
  // Not fmt::print, which throws: if stderr cannot be written, the error cannot be reported anyway.
  std::fputs(fmt::format("{}: {}\n", app.get_name(), printable(message)).c_str(), stderr);
  return kBadInput;
}

/// The next opened file would get a closed standard descriptor, and our output would go into it. /dev/null opened with
/// the wrong access mode keeps reads and writes failing as before.
void occupyStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

/// Output that did not arrive is a failure of the program.
int closeOutput(const CLI::App& app, int code) {
  const bool good = std::fflush(stdout) == 0 && finishStreams() && std::ferror(stdout) == 0;
  if (const int signal = interruptSignal()) {
    fail(app, "interrupted");
    return 128 + signal;
  }
  if (good) return code;
  // The original cause may be lost; writing another line gives the same one.
  const char* cause = ::write(STDOUT_FILENO, "\n", 1) < 0 ? std::strerror(errno) : "a line was lost";
  return fail(app, fmt::format("cannot write to standard output: {}", cause));
}

/// `PROGRAM --completion SHELL` needs no subcommand.
int printCompletion(const CLI::App& app, const std::string& shell) {
  const Result<std::string> script = completionScript(app, shell);
  if (!script) return fail(app, script.error().message());
  fmt::print("{}", *script);
  return kSuccess;
}

/// The subcommand that the command line chose, else the program.
const CLI::App& chosenCommand(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

/// "op-harness check --help": prints the options of `command`.
std::string helpOf(const CLI::App& app, const CLI::App& command) {
  return &command == &app ? app.get_name() + " --help"
                          : fmt::format("{} {} --help", app.get_name(), command.get_name());
}

std::string subcommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The error for the first word that neither the program nor its subcommand takes; empty if they take all.
std::string unexpectedWord(const CLI::App& app) {
  const CLI::App& command = chosenCommand(app);
  const bool isProgram = &command == &app;
  // A subcommand keeps its own words, or leaves them to the program (fallthrough).
  std::vector<std::string> words = app.remaining();
  if (words.empty()) words = command.remaining();
  std::erase(words, "--");
  if (words.empty()) return "";
  const std::string place = isProgram ? "" : command.get_name() + ": ";
  const std::string subcommands = isProgram ? subcommandsOf(app) : "";
  if (words.front().starts_with('-'))
    return fmt::format("{}there is no option '{}'; see {}", place, words.front(), helpOf(app, command));
  if (subcommands.empty())
    return fmt::format("{}unexpected argument '{}'; see {}", place, words.front(), helpOf(app, command));
  return fmt::format("expected a subcommand of {}, got '{}'; see {}", subcommands, words.front(), helpOf(app, command));
}

/// The text of CLI11, in plain words where an option has no value, or several in place of one.
std::string plainText(const CLI::ParseError& error) {
  const std::string text = error.what(), option = text.substr(0, text.find(": "));
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return text;
  if (text.ends_with(" missing")) return option + ": expected a value";
  return text.find(": At Most 1 required") != text.npos ? option + ": expected one value, got several" : text;
}

/// The line for a command line that does not parse.
std::string usageError(const CLI::App& app, const CLI::ParseError& error) {
  if (const std::string unexpected = unexpectedWord(app); !unexpected.empty()) return unexpected;
  const CLI::App& command = chosenCommand(app);
  const bool isMissing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (isMissing && &command == &app && app.get_require_subcommand_min() > 0)
    return fmt::format("expected a subcommand of {}; see {}", subcommandsOf(app), helpOf(app, app));
  return fmt::format("{}; see {}", plainText(error), helpOf(app, command));
}

/// Last word first, as CLI11 expects. It parses a negative number as an option and an empty text as missing, so
/// "--threads -1" becomes "--threads=-1", and "--threads=" becomes "--threads" and "". Behind "--" are operands, which
/// stay as they are.
std::vector<std::string> wordsOf(int argc, char** argv) {
  std::vector<std::string> words;
  bool areOperands = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    areOperands = areOperands || word == "--";
    if (areOperands) {
      words.emplace_back(word);
      continue;
    }
    const bool negative =
        word.size() > 1 && word[0] == '-' && std::string_view("0123456789.in").find(word[1]) != word.npos;
    const bool behindOption =
        !words.empty() && words.back().starts_with("--") && words.back().find('=') == std::string::npos;
    if (negative && behindOption)
      words.back() += fmt::format("={}", word);
    else if (word.starts_with("--") && word.ends_with('='))
      words.insert(words.end(), {std::string(word.substr(0, word.size() - 1)), ""});
    else
      words.emplace_back(word);
  }
  std::ranges::reverse(words);
  return words;
}

int parseAndRun(CLI::App& app, int argc, char** argv, const std::function<Result<int>()>& body) {
  app.set_version_flag("--version", fmt::format("{} {}", app.get_name(), OPKIT_VERSION));
  std::string shell;
  app.add_option("--completion", shell, "Print a completion script for bash or zsh; source it")->type_name("SHELL");
  std::optional<size_t> hostMemory;
  app.add_option(
         "--host-memory", hostMemory,
         "Limit the memory of tensors on the host, such as 4GB; 0 is no limit (default: three quarters of the memory)")
      ->transform(sizeValue())
      ->type_name("SIZE");
  std::vector<std::string> classes;
  for (const DeviceClass& known : deviceClasses()) classes.push_back(known.name);
  std::string deviceClass;
  app.add_option("--device-class", deviceClass,
                 "Choose Vulkan kernels as for a device of this class (default: the device's own)")
      ->check(CLI::IsMember(classes))
      ->type_name("CLASS");
  std::string guesses;
  app.add_option("--tuning-guesses", guesses,
                 "Choose Vulkan kernels by the estimates in this file where nothing was measured")
      ->check(existingFile())
      ->type_name("FILE");
  std::string driver;
  app.add_option("--driver", driver, "Use only the Vulkan driver of this manifest (./setup --drivers unpacks two)")
      ->type_name("FILE");
  int vectorWidth = 0;
  app.add_option("--vector-width", vectorWidth,
                 "Set the vector width of a software Vulkan device; the size of its subgroups changes with it")
      ->check(CLI::IsMember({128, 256, 512}))
      ->type_name("BITS");
  checkValues(app);
  if (argc == 3 && std::string_view(argv[1]) == "--completion") return printCompletion(app, argv[2]);
  try {
    app.parse(wordsOf(argc, argv));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      const int code = app.exit(error, text, text);  // std::cout knows nothing of the guarded streams
      fmt::print("{}", text.str());
      return code;
    }
    return fail(app, usageError(app, error));
  }
  if (const Status clash = refuseClashes(app); !clash.isOk()) return fail(app, clash.message());
  if (hostMemory) setHostMemoryLimit(*hostMemory);
  limitProcessMemory(hostMemoryLimit());
  if (!deviceClass.empty()) setenv("OPKIT_DEVICE_CLASS", deviceClass.c_str(), 1);  // for workers, too
  if (!guesses.empty()) setenv("OPKIT_TUNING_GUESSES", guesses.c_str(), 1);
  if (vectorWidth) useVectorWidth(vectorWidth);
  if (!driver.empty())
    if (const Status used = useDriver(driver, argv); !used.isOk()) return fail(app, "--driver: " + used.message());
  const Result<int> code = body();
  if (code || interrupted()) return code ? *code : kCheckFailed;  // an interrupt is not bad input
  return fail(app, code.error().message());
}

}  // namespace

int runProgram(CLI::App& app, int argc, char** argv, const std::function<Result<int>()>& body) {
  occupyStandardDescriptors();
  guardStreams();
  catchInterrupts(app.get_name());
  catchCrashes(app.get_name());
  const Result<int> code = guarded([&]() -> Result<int> { return parseAndRun(app, argc, argv, body); });
  if (code) return closeOutput(app, *code);
  // If fmt::print threw, closeOutput reports why.
  return closeOutput(app, std::ferror(stdout) != 0 ? kBadInput : fail(app, code.error().message()));
}

Result<NamedValue> parseNamedValue(const std::string& option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return Status::invalidArgument("{} expects NAME=VALUE, got '{}'", option, text);
  return NamedValue{text.substr(0, equals), text.substr(equals + 1)};
}

Result<Shape> parseShape(const std::string& text) {
  Shape shape;
  const char* cursor = text.data();
  const char* const end = cursor + text.size();
  while (cursor < end) {
    int64_t extent = 0;
    const auto parsed = std::from_chars(cursor, end, extent);
    const bool last = parsed.ptr == end;
    if (parsed.ec != std::errc() || extent < 0 || (!last && (*parsed.ptr != 'x' || parsed.ptr + 1 == end)))
      return Status::invalidArgument("expected a shape such as 1x3x256x256, got '{}'", text);
    shape.push_back(extent);
    cursor = last ? end : parsed.ptr + 1;
  }
  OPKIT_TRY(checkShape(shape));
  return shape;
}

std::string formatNs(double ns) { return opkit::formatNs(ns); }

nlohmann::json jsonNumber(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Status writeJson(const std::string& path, const nlohmann::json& document) {
  if (path.empty()) return Status::ok();
  const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return writeFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace opkit::cli
