#include "engine/plugin/trial.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/where.h"
#include "engine/testing/nowhere.h"

namespace opkit {
namespace {

std::string crashing() { return partOfBuild(OPKIT_FAULTY) + "/libcrashing.so"; }

/// The message on the plugin with a fault.
std::string triedWith(const char* fault, double mostSeconds) {
  setenv("OPKIT_CRASH", fault, 1);
  const Status status = tryPlugin(crashing(), mostSeconds);
  unsetenv("OPKIT_CRASH");
  return status.message();
}

TEST(TryPlugin, NamesAPluginThatEndsTheProcessOrNeverReturns) {
  const std::string name = "plugin '" + crashing() + "': ";
  EXPECT_EQ(triedWith("load segv", 60), name + "to load it ended the process with signal 11 (Segmentation fault)");
  EXPECT_EQ(triedWith("unload exit", 60), name + "to unload it ended the process with exit code 0");
  EXPECT_EQ(triedWith("load hang", 0.2), name + "to load it took more than 0.2 s");
  EXPECT_EQ(triedWith("destructor hang", 0.2), name + "to unload it took more than 0.2 s");
  EXPECT_EQ(triedWith("nowhere", 60), "");
}

TEST(TryPlugin, LeavesRefusalsToTheProgram) { EXPECT_TRUE(tryPlugin(nowhere("a.so")).isOk()); }

}  // namespace
}  // namespace opkit
