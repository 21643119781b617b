// A plugin that was compiled against the first opkit_plugin.h of ABI version 1 still loads and runs.
#include "engine/plugin/testing/plugin_set_fixture.h"

namespace opkit {
namespace {

class PluginCompatibility : public PluginSetFixture {
 protected:
  void SetUp() override {
#if !defined(__x86_64__) || !defined(__linux__)
    GTEST_SKIP() << "the fixture is a library for x86-64 Linux";
#endif
    load(sourceTreeAround(OPKIT_SOURCE_DIR) + "/engine/plugin/testing/fixtures/abi1_plugin_x86_64.so");
  }
  void expectScaled(const std::string& type, const SessionConfig& config, const std::string& provider) {
    const auto y = run(modelOf({type}, R"({"factor": -0.5})"), config);
    ASSERT_TRUE(y) << y.error().toString();
    EXPECT_EQ(*y, (std::vector<float>{1, 0.5, -0.0f, -0.5, -1, -1.5}));
    EXPECT_EQ(placement_[0].provider, provider);
  }
};

TEST_F(PluginCompatibility, ItsOperatorRuns) {
  expectScaled("com.fixture::Scale", {}, "abi1_fixture");
  expectScaled("com.fixture::Scale", {.providers = {{{ProviderRule::Kind::Force, "reference", ""}}}}, "reference");
}

TEST_F(PluginCompatibility, ItsPassReachesTheLastFunctionOfItsHost) {
  expectScaled("com.fixture::OldScale", {}, "abi1_fixture");  // the pass makes it Scale, which has a kernel
}

TEST_F(PluginCompatibility, ItsRefusalsArrive) {
  const auto y = run(modelOf({"com.fixture::Scale"}, R"({"factor": 0})"));
  ASSERT_FALSE(y);
  EXPECT_NE(y.error().message().find("factor must not be 0"), std::string::npos) << y.error().message();
}

#ifdef OPKIT_HAS_VULKAN
TEST_F(PluginCompatibility, ItsShaderRuns) {
  expectScaled("com.fixture::Scale", {.backend = "vulkan", .allowFallback = false}, "abi1_fixture");
}
#endif

}  // namespace
}  // namespace opkit
