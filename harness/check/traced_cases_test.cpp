#include "harness/check/traced_cases.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "engine/backend/device_class.h"
#include "harness/run/build_facts.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {

extern const char* const kTracedCases;

namespace {

namespace fs = std::filesystem;

TEST(TracedCases, AreReadByLine) {
  const auto read =
      TracedCases::parse("# a comment\n\n00000000000000ff\tdevice class discrete with images\tAdd\ta/b WIDTH=4\tc/d\n");
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(read->all().at(255), std::vector<std::string>{"device class discrete with images"});
  EXPECT_EQ(read->operatorsOf("a/b"), std::set<std::string>{"Add"});
  EXPECT_TRUE(read->operatorsOf("a").empty());
  for (const char* line :
       {"ff\tdevice class discrete\tAdd\ta/b", "00000000000000ff", "00000000000000ff\tdiscrete\tAdd\ta/b",
        "00000000000000fg\tdevice class discrete\tAdd\ta/b", "00000000000000ff\tdevice class discrete\tAdd"})
    EXPECT_EQ(TracedCases::parse(std::string("# first\n") + line + "\n").error().message(),
              fmt::format("line 2 is not a hash, a device class, an operator and shaders: '{}'", line));
}

TEST(TracedCases, ExistAndNameEachShader) {
  const Catalogue catalogue = *builtinCatalogue(ops::builtinOps());
  std::set<uint64_t> written;
  for (const CaseGroup& group : catalogue.groups)
    for (const Case& c : group.cases) written.insert(caseHash(c));
  for (const auto& [hash, variants] : TracedCases::builtin().all())
    EXPECT_TRUE(written.contains(hash)) << fmt::format("{:016x}: run `op-harness traced` again", hash);
  // The first three run behind a kernel that leaves an image, the last measures a limit of the device.
  const std::set<std::string> inNoCase = {"unary/unary_image", "binary/binary_image", "batch_norm/batch_norm_image",
                                          "loop/loop_count"};
  const std::string text = kTracedCases;
  for (const auto& folder : fs::directory_iterator(fs::path(sourceFolder()) / "shaders"))
    for (const auto& file : fs::directory_iterator(folder.path())) {
      const std::string name = folder.path().filename().string() + "/" + file.path().stem().string();
      if (file.path().extension() != ".comp" || inNoCase.contains(name)) continue;
      EXPECT_NE(text.find("\t" + name), std::string::npos)
          << name << " is traced nowhere: run `op-harness traced` again";
    }
  for (const DeviceClass& each : deviceClasses())
    EXPECT_NE(text.find(fmt::format("\tdevice class {}", each.name)), std::string::npos) << each.name;
}

TEST(TracedCases, HashesAreThoseOfAnySeed) {
  Case c = builtinCatalogue(ops::builtinOps())->groups.front().cases.front();
  const uint64_t hash = caseHash(c);
  c.seed += 1;
  EXPECT_EQ(caseHash(c), hash);
}

}  // namespace
}  // namespace opkit::harness
