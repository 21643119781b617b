#include <fmt/format.h>

#include <cstdio>

#include "harness/run/build_facts.h"
#include "harness/run/source_table.h"

namespace opkit::harness {

bool noteOldBuild(std::string_view program, std::string_view unused) {
  const std::string source = sourceFolder();
  std::vector<std::string> changed = changedSources(builtSources(), source);
  if (!unused.empty()) std::erase_if(changed, [&](const std::string& path) { return path.starts_with(unused); });
  if (changed.empty()) return false;
  std::fflush(stdout);
  fmt::print(stderr, "{}: this program was built of other sources than those in {}: {}; build it again\n", program,
             source, listOf(changed));
  return true;
}

}  // namespace opkit::harness
