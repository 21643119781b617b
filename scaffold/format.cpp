#include "scaffold/format.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace opkit::scaffold {
namespace {

std::string withoutRunsOfEmptyLines(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != '\n' || !result.ends_with("\n\n")) result += c;
  return result;
}

/// Standard output of clang-format fed with `text`; empty when it cannot be run.
std::string clangFormat(const std::string& assumedPath, const std::string& text) {
  namespace fs = std::filesystem;
  std::string input = (fs::temp_directory_path() / "op-scaffold-XXXXXX").string();
  const int file = mkstemp(input.data());
  if (file < 0) return "";
  std::fclose(fdopen(file, "w"));
  std::ofstream(input, std::ios::binary) << text;
  const std::string command = "clang-format --style=file --assume-filename=" + shellQuoted(assumedPath) + " <" +
                              shellQuoted(input) + " 2>/dev/null";
  std::string result;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char chunk[4096];
    for (size_t got; (got = std::fread(chunk, 1, sizeof chunk, pipe)) > 0;) result.append(chunk, got);
    if (pclose(pipe) != 0) result.clear();
  }
  fs::remove(input);
  return result;
}

}  // namespace

std::string shellQuoted(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("/._-+:=@", c); };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string formatted(const Tree& tree, const std::string& path, const std::string& text) {
  const std::string plain = withoutRunsOfEmptyLines(text);
  if (!path.ends_with(".cpp") && !path.ends_with(".h")) return plain;
  const std::string result = clangFormat(tree.absolute(path), plain);
  return result.empty() ? plain : result;
}

}  // namespace opkit::scaffold
