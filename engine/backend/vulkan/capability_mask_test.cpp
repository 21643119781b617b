// A masked device refuses what a smaller one would refuse; SPIR-V lists what a shader requires.
#include "engine/backend/vulkan/capability_mask.h"

#include <gtest/gtest.h>

#include "engine/backend/vulkan/spirv_facts.h"
#include "shaders/testing/affine.h"
#include "shaders/testing/group_sum.h"

namespace opkit::vulkan {
namespace {

PhysicalDevice largeDevice() {
  PhysicalDevice device;
  device.float16 = device.storage16 = device.byteDots = true;
  device.subgroupSize = 32;
  device.properties.limits.maxComputeSharedMemorySize = 65536;
  device.properties.limits.maxComputeWorkGroupInvocations = 1024;
  for (uint32_t& size : device.properties.limits.maxComputeWorkGroupSize) size = 1024;
  return device;
}

TEST(CapabilityMask, TakesAwayAndOnlyLowers) {
  PhysicalDevice device = largeDevice();
  ASSERT_TRUE(applyMask("no-fp16,subgroup=4,shared=16k,workgroup=128", device).isOk());
  EXPECT_FALSE(device.float16);
  EXPECT_TRUE(device.storage16);
  EXPECT_EQ(device.subgroupSize, 4u);
  EXPECT_EQ(device.properties.limits.maxComputeSharedMemorySize, 16384u);
  EXPECT_EQ(device.properties.limits.maxComputeWorkGroupInvocations, 128u);
  EXPECT_EQ(device.properties.limits.maxComputeWorkGroupSize[0], 128u);
  EXPECT_NE(device.info.name.find("masked no-fp16"), std::string::npos);
  EXPECT_EQ(device.loopIterations, UINT64_MAX);
  ASSERT_TRUE(applyMask("loops=64", device).isOk());
  EXPECT_EQ(device.loopIterations, 64u);
  ASSERT_TRUE(applyMask("loops=1k", device).isOk());
  EXPECT_EQ(device.loopIterations, 64u);
  EXPECT_TRUE(device.byteDots);
  ASSERT_TRUE(applyMask("no-byte-dots", device).isOk());
  EXPECT_FALSE(device.byteDots);
  ASSERT_TRUE(applyMask("shared=1m", device).isOk());
  EXPECT_EQ(device.properties.limits.maxComputeSharedMemorySize, 16384u);
}

TEST(CapabilityMask, EachSingleMaskTakesOneThingAway) {
  for (const std::string& mask : singleMasks()) {
    PhysicalDevice device = largeDevice();
    EXPECT_TRUE(applyMask(mask, device).isOk()) << mask;
    EXPECT_EQ(mask.find(','), std::string::npos) << mask;
  }
  // All that the message names.
  PhysicalDevice device = largeDevice();
  const std::string message = applyMask("?", device).message();
  const std::string known = message.substr(0, message.find(", got"));
  EXPECT_EQ(static_cast<size_t>(std::count(known.begin(), known.end(), ',')) + 1, singleMasks().size()) << message;
}

TEST(CapabilityMask, SaysWhatItKnows) {
  for (const char* bad : {"no-fp17", "subgroup", "shared=", "shared=16q", "shared=-1", "workgroup=0"}) {
    PhysicalDevice device = largeDevice();
    const Status status = applyMask(bad, device);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << bad;
    EXPECT_NE(status.message().find("no-fp16"), std::string::npos) << status.message();
  }
}

TEST(SpirvFacts, ReadsAShader) {
  const ShaderCode& code = shaders::Affine::code({});
  const SpirvFacts facts = factsOf(code.spirv, {});
  EXPECT_EQ(facts.localSize, code.localSize);
  EXPECT_EQ(facts.sharedBytes, 0u);
}

TEST(SpirvFacts, SharedArraysOfTheSizeOfAGroupFollowItsConstant) {
  const ShaderCode& code = shaders::GroupSum::code({});  // shared float[gl_WorkGroupSize.x]
  const std::vector<uint32_t> constants = {96};
  const SpirvFacts facts = factsOf(code.spirv, constants);
  EXPECT_EQ(facts.localSize[0], 96u);
  EXPECT_EQ(facts.sharedBytes, 96 * sizeof(float));
  ASSERT_EQ(facts.shared.size(), 1u);
  EXPECT_EQ(facts.shared.begin()->second, facts.sharedBytes);
}

TEST(SpirvFacts, WordsThatAreNotSpirvGiveNothing) {
  const std::array<uint32_t, 6> words = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(factsOf(words, {}).sharedBytes, 0u);
  EXPECT_EQ(factsOf({}, {}).invocations(), 1u);
}

}  // namespace
}  // namespace opkit::vulkan
