#include <fmt/format.h>

#include <cstdio>

#include "harness/run/build_facts.h"
#include "harness/run/source_table.h"

namespace opkit::harness {
namespace {

/// Of the operators and shaders that a partial build leaves out.
bool isLeftOut(const std::string& path) {
  if (!*kBuildFacts.operators || !(path.starts_with("ops/") || path.starts_with("shaders/"))) return false;
  const size_t begin = path.find('/') + 1, end = path.find('/', begin);
  return end != std::string::npos &&
         std::string_view(kBuildFacts.folders).find(";" + path.substr(begin, end - begin) + ";") == std::string::npos;
}

}  // namespace

std::vector<std::string> changedSinceBuild(const std::string& root) {
  std::vector<std::string> changed = changedSources(builtSources(), root);
  std::erase_if(changed, isLeftOut);
  return changed;
}

bool noteOldBuild(std::string_view program, std::string_view unused) {
  const std::string source = sourceFolder();
  std::vector<std::string> changed = changedSinceBuild(source);
  if (!unused.empty()) std::erase_if(changed, [&](const std::string& path) { return path.starts_with(unused); });
  if (changed.empty()) return false;
  std::fflush(stdout);
  fmt::print(stderr, "{}: this program was built of other sources than those in {}: {}; build it again\n", program,
             source, listOf(changed));
  return true;
}

}  // namespace opkit::harness
