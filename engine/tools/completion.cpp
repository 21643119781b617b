#include "engine/tools/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// Options that take one word of a fixed set, from their help ("--precision TEXT:{high,normal,low}").
std::map<std::string, std::string> choicesOf(const CLI::App& app) {
  std::map<std::string, std::string> choices;
  for (const CLI::Option* option : app.get_options()) {
    std::string words = option->get_type_name();
    const size_t begin = words.find('{'), end = words.find('}');
    if (begin == std::string::npos || end == std::string::npos) continue;
    words = words.substr(begin + 1, end - begin - 1);
    std::replace(words.begin(), words.end(), ',', ' ');
    for (const std::string& name : option->get_lnames()) choices["--" + name] = words;
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    choices.merge(choicesOf(*command));
  return choices;
}

struct Syntax {
  const char* previous;  // the word before the one being completed
  const char* words;     // of the command line before the one being completed
  const char* begin;     // offers the words that follow
  const char* end;
  const char* ending;  // binds function {0} to program {1}
};

constexpr Syntax kBash{"${COMP_WORDS[COMP_CWORD-1]}", "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"",
                       "COMPREPLY=($(compgen -W '", "' -- \"${COMP_WORDS[COMP_CWORD]}\"))",
                       "complete -o default -F {0} {1}\n"};
constexpr Syntax kZsh{"${words[CURRENT-1]}", "${words[2,CURRENT-1]}", "compadd -- ", "; _files", "compdef {0} {1}\n"};

std::string script(const CLI::App& app, const Syntax& syntax) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  const auto offer = [&](const std::string& words) { return syntax.begin + words + syntax.end; };
  const std::string function = functionName(app.get_name());
  std::string text = function + "() {\n  local word= command=\n";
  text += fmt::format("  case {} in\n", syntax.previous);
  for (const auto& [option, words] : choicesOf(app))
    text += fmt::format("    {}) {}; return ;;\n", option, offer(words));
  text += "  esac\n";
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
