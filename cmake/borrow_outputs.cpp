// A launcher of compilers in a copy of the tree: borrow_outputs COMMAND...
//
// If the variable OPKIT_BORROW names another build of the same sources, copies the outputs of the command from there.
// Runs the command if an output is missing or older than its source there, or if a generated source differs there, such
// as the one that holds the path of the tree. Without OPKIT_BORROW it only runs the command. OPKIT_BORROW_DEPS is the
// folder that `borrow_dependencies` of cmake/scratch_tree.sh wrote.
//
// A program and no script: a build starts it a thousand times.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBuild = "/build/release/";

/// What a command of a compiler reads and writes; paths in the build folder are relative to it.
struct Command {
  std::vector<std::string> outputs;
  std::string dependencies;
  std::string source;
};

/// The two builds, each of a tree ROOT in ROOT/build/release; all paths end in "/".
struct Builds {
  std::string here, hereRoot;
  std::string lender, lenderRoot;
};

std::string valueOf(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// The root of the tree whose build folder holds `path`.
std::string rootOf(const std::string& path) { return path.substr(0, path.rfind(kBuild) + 1); }

Command parse(char** words, const std::string& here) {
  const auto relative = [&](const std::string& path) {
    return path.starts_with(here) ? path.substr(here.size()) : path;
  };
  Command command;
  std::string_view previous;
  for (; *words; previous = *words++) {
    if (previous == "-o" || previous == "--header" || previous == "--source")
      command.outputs.push_back(relative(*words));
    if (previous == "-MF" || previous == "--depfile") command.dependencies = relative(*words);
    if (previous == "-c") command.source = relative(*words);
  }
  return command;
}

std::optional<std::string> read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

bool copy(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::remove(to, error);  // it may be a link
  return fs::copy_file(from, to, error) && !error;
}

/// True if a written source is not newer than the lender's object.
bool isOld(const std::string& source, const std::string& object) {
  std::error_code error;
  const auto written = fs::last_write_time(source, error);
  return !error && written <= fs::last_write_time(object, error) && !error;
}

/// The written sources in a joined one, which is a list of includes with absolute paths.
std::vector<std::string> joinedSources(const std::string& text, const Builds& builds) {
  std::vector<std::string> sources;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find('"'), last = line.rfind('"');
    if (!line.starts_with("#include") || first == last) continue;
    const std::string path = line.substr(first + 1, last - first - 1);
    if (!path.starts_with(builds.here)) sources.push_back(path);
  }
  return sources;
}

/// True if the lender compiled the same source: a written one that is not newer than its object, a list of such
/// sources, or a generated one with the same text.
bool isSameSource(const Command& command, const Builds& builds) {
  const std::string& source = command.source;
  const std::string object = builds.lender + (command.outputs.empty() ? "" : command.outputs.front());
  if (source.empty()) return true;
  if (source.starts_with("/")) return isOld(source, object);
  const auto mine = read(builds.here + source);
  if (!mine) return false;
  if (source.find("/Unity/") == std::string::npos) return mine == read(builds.lender + source);
  return replaced(*mine, builds.hereRoot, builds.lenderRoot) == read(builds.lender + source) &&
         std::ranges::all_of(joinedSources(*mine, builds),
                             [&](const std::string& each) { return isOld(each, object); });
}

/// Compilers of C++ hand their dependencies to ninja, the compiler of shaders leaves a file.
bool borrowDependencies(const Command& command, const Builds& builds) {
  const std::string dependencies = builds.here + command.dependencies;
  std::string name = command.outputs.front();
  std::ranges::replace(name, '/', '%');
  if (copy(valueOf("OPKIT_BORROW_DEPS") + "/" + name, dependencies)) return true;
  const auto kept = read(builds.lender + command.dependencies);
  if (!kept) return false;
  std::ofstream(dependencies, std::ios::binary) << replaced(*kept, builds.lenderRoot, builds.hereRoot);
  return true;
}

bool borrow(char** words) {
  Builds builds{.hereRoot = rootOf(fs::current_path().string() + "/"), .lender = valueOf("OPKIT_BORROW") + "/"};
  builds.here = builds.hereRoot + std::string(kBuild.substr(1));
  builds.lenderRoot = rootOf(builds.lender);
  const Command command = parse(words, builds.here);
  const auto isThere = [&](const std::string& output) { return fs::exists(builds.lender + output); };
  if (command.outputs.empty() || command.dependencies.empty() || command.outputs.front().ends_with(".gch") ||
      !std::ranges::all_of(command.outputs, isThere) || !isSameSource(command, builds) ||
      !borrowDependencies(command, builds))
    return false;
  return std::ranges::all_of(
      command.outputs, [&](const std::string& output) { return copy(builds.lender + output, builds.here + output); });
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::fputs("usage: borrow_outputs COMMAND...\n", stderr);
    return 2;
  }
  if (!valueOf("OPKIT_BORROW").empty() && borrow(words + 1)) return 0;
  execvp(words[1], words + 1);
  std::perror(words[1]);
  return 127;
}
