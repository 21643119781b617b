#include "harness/probes/device_profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/backend/device_test_support.h"

namespace opkit::harness {
namespace {

TEST(DeviceProfile, SaysWhatTheDeviceDoes) {
  const auto runtime = createRuntime("vulkan");
  OPKIT_NEEDS_DEVICE(runtime);
  const auto profile = measureProfile(**runtime);
  ASSERT_TRUE(profile) << profile.error().message();
  const auto has = [&](const std::string& name) {
    for (const DeviceProfile::Trait& trait : profile->traits)
      if (trait.name == name) return trait.present;
    ADD_FAILURE() << "no trait " << name;
    return false;
  };
  // The mandatory part of a profile; the rest may differ.
  EXPECT_TRUE(has("NaN + 1 is NaN"));
  EXPECT_TRUE(has("Inf * 2 is Inf"));
  for (const DeviceProfile::Builtin& builtin : profile->builtins) {
    EXPECT_LT(builtin.ulp, 1e6) << builtin.name;
    if (builtin.name.starts_with("1 / x")) {
      EXPECT_LE(builtin.ulp, 2.5) << "the specification's bound";
    }
  }
  if ((*runtime)->device().name.starts_with("llvmpipe")) {
    EXPECT_FALSE(has("max(NaN, 1) is NaN")) << "docs/numerics.md says so";
    EXPECT_FALSE(has("fma rounds once")) << "docs/numerics.md says so";
  }
  EXPECT_EQ(profile->toJson()["traits"].size(), profile->traits.size());
  EXPECT_NE(profile->toText().find("keeps denormals: "), std::string::npos) << profile->toText();
}

}  // namespace
}  // namespace opkit::harness
