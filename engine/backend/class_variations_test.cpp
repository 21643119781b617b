#include "engine/backend/class_variations.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace opkit {
namespace {

TEST(ClassVariations, EachBeginsWithItsClassAndKeepsItsName) {
  for (const DeviceClass& known : deviceClasses()) {
    const auto all = variationsOf(known);
    ASSERT_FALSE(all.empty());
    std::set<std::string> names;
    for (const ClassVariation& variation : all) {
      EXPECT_STREQ(variation.figures.name, known.name) << "the class is part of tuning keys";
      EXPECT_TRUE(names.insert(variation.name).second) << variation.name;
      EXPECT_NE(std::string(variation.reason), "");
    }
    EXPECT_EQ(all.front().figures.largestTeam, known.largestTeam);
    EXPECT_EQ(all.front().figures.groupsToFill, known.groupsToFill);
  }
}

TEST(ClassVariations, ASoftwareDeviceHasNone) {
  EXPECT_EQ(variationsOf(**deviceClassNamed("software")).size(), 1u);
  EXPECT_GT(variationsOf(**deviceClassNamed("discrete")).size(), 3u);
}

}  // namespace
}  // namespace opkit
