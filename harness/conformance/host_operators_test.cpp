// docs/host-operators.md names the operators that run on the host, and no others.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

std::set<std::string> listed() {
  std::ifstream file(OPKIT_SOURCE_DIR "/docs/host-operators.md");
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ") || line.starts_with("| operator")) continue;
    const std::string cell = line.substr(2, line.find(" |") - 2);
    const std::regex word("[A-Za-z]+");
    for (std::sregex_iterator at(cell.begin(), cell.end(), word), end; at != end; ++at) names.insert(at->str());
  }
  return names;
}

TEST(HostOperators, AreThoseOfTheList) {
  std::set<std::string> found;
  for (const OpDef* def : ops::builtinOps().all())
    if (def->control) found.insert(def->type);
  EXPECT_EQ(found, listed());
}

}  // namespace
}  // namespace opkit::harness
