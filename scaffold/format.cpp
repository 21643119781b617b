#include "scaffold/format.h"

#include "engine/base/child_process.h"

namespace opkit::scaffold {
namespace {

std::string withoutRunsOfEmptyLines(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != '\n' || !result.ends_with("\n\n")) result += c;
  return result;
}

/// Standard output of clang-format fed with `text`; empty if it cannot be run.
std::string clangFormat(const std::string& assumedPath, const std::string& text) {
  const auto run = runChild({"clang-format", "--style=file", "--assume-filename=" + assumedPath}, text);
  return run && run->exitCode == 0 ? run->output : "";
}

}  // namespace

std::string formatted(const Tree& tree, const std::string& path, const std::string& text) {
  const std::string plain = withoutRunsOfEmptyLines(text);
  if (!path.ends_with(".cpp") && !path.ends_with(".h")) return plain;
  const std::string result = clangFormat(tree.absolute(path), plain);
  return result.empty() ? plain : result;
}

}  // namespace opkit::scaffold
