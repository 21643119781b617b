#include "engine/tools/cli.h"

#include "engine/base/duration.h"

#include <charconv>
#include <cmath>
#include <new>

#include "engine/model/model.h"
#include "engine/tools/completion.h"

namespace opkit::cli {
namespace {

int fail(const CLI::App& app, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "{}: {}\n", app.get_name(), message);
  return kBadInput;
}

/// `PROGRAM --completion SHELL` stands alone: no subcommand is asked for.
int printCompletion(const CLI::App& app, const std::string& shell) {
  const Result<std::string> script = completionScript(app, shell);
  if (!script) return fail(app, script.error().message());
  fmt::print("{}", *script);
  return kSuccess;
}

/// What to say of a first word that is no option or, where one is required, no subcommand; empty otherwise.
std::string unknownCommand(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return "";
  if (words.front().starts_with('-'))
    return fmt::format("there is no option '{}'; see {} --help", words.front(), app.get_name());
  if (names.empty()) return "";
  return fmt::format("expected a subcommand of {}, got '{}'; see {} --help", fmt::join(names, ", "), words.front(),
                     app.get_name());
}

}  // namespace

int runProgram(CLI::App& app, int argc, char** argv, const std::function<Result<int>()>& body) {
  app.set_version_flag("--version", fmt::format("{} {}", app.get_name(), OPKIT_VERSION));
  std::string shell;
  app.add_option("--completion", shell, "Print a completion script for bash or zsh, to be sourced")->type_name("SHELL");
  if (argc == 3 && std::string_view(argv[1]) == "--completion") return printCompletion(app, argv[2]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    if (app.get_subcommands().empty())
      if (const std::string word = unknownCommand(app); !word.empty()) return fail(app, word);
    return fail(app, fmt::format("{}; see {} --help", error.what(), app.get_name()));
  }
  try {
    const Result<int> code = body();
    return code.has_value() ? *code : fail(app, code.error().message());
  } catch (const std::bad_alloc&) {
    return fail(app, "the host is out of memory; try smaller shapes or fewer of them");
  }
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
