#include "engine/tools/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace opkit::cli {
namespace {

/// "--backend --device": the long names of an app's options.
std::string optionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string functionName(std::string program) {
  std::replace(program.begin(), program.end(), '-', '_');
  return "_" + program;
}

struct Syntax {
  const char* words;  // of the command line before the one being completed
  const char* begin;  // offers the words that follow
  const char* end;
  const char* ending;  // binds function {0} to program {1}
};

constexpr Syntax kBash{"\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"", "COMPREPLY=($(compgen -W '",
                       "' -- \"${COMP_WORDS[COMP_CWORD]}\"))", "complete -o default -F {0} {1}\n"};
constexpr Syntax kZsh{"${words[2,CURRENT-1]}", "compadd -- ", "; _files", "compdef {0} {1}\n"};

std::string script(const CLI::App& app, const Syntax& syntax) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  const auto offer = [&](const std::string& words) { return syntax.begin + words + syntax.end; };
  const std::string function = functionName(app.get_name());
  std::string text = function + "() {\n  local word= command=\n";
  if (!names.empty())
    text += fmt::format("  for word in {}; do\n    case $word in {}) command=$word; break ;; esac\n  done\n",
                        syntax.words, fmt::join(names, "|"));
  text += "  case $command in\n";
  for (const CLI::App* command : commands)
    text += fmt::format("    {}) {} ;;\n", command->get_name(), offer(optionsOf(*command)));
  text += fmt::format("    *) {} ;;\n  esac\n}}\n", offer(fmt::format("{} {}", fmt::join(names, " "), optionsOf(app))));
  return text + fmt::format(fmt::runtime(syntax.ending), function, app.get_name());
}

}  // namespace

Result<std::string> completionScript(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return script(app, kBash);
  if (shell == "zsh") return script(app, kZsh);
  return Status::invalidArgument("--completion: expected bash or zsh, got '{}'", shell);
}

}  // namespace opkit::cli
