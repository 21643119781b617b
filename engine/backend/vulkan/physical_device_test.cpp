#include "engine/backend/vulkan/physical_device.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/backend/vulkan/vulkan_runtime.h"

namespace opkit::vulkan {
namespace {

std::vector<PhysicalDevice> twoDevices() {
  PhysicalDevice gpu;
  gpu.info = {.index = 0, .name = "Acme Rocket 9000", .uuid = "00ff00ff00ff00ff00ff00ff00ff00ff"};
  PhysicalDevice cpu;
  cpu.info = {.index = 1, .name = "llvmpipe (LLVM 15)", .uuid = "6d657361000000000000000000000000", .software = true};
  return {gpu, cpu};
}

std::string chosen(const std::string& wanted) {
  const auto device = chooseDevice(twoDevices(), wanted);
  return device ? device->info.name : device.error().toString();
}

TEST(ChooseDevice, ByIndexNameOrUuid) {
  EXPECT_EQ(chosen(""), "Acme Rocket 9000");
  EXPECT_EQ(chosen("1"), "llvmpipe (LLVM 15)");
  EXPECT_EQ(chosen("LLVMPIPE"), "llvmpipe (LLVM 15)");
  EXPECT_EQ(chosen("6d657361-0000-0000-0000-000000000000"), "llvmpipe (LLVM 15)");
}

TEST(ChooseDevice, ErrorsListWhatThereIs) {
  for (const char* wanted : {"2", "Voodoo", "9000x"})
    EXPECT_EQ(chosen(wanted),
              std::string("Unsupported: vulkan: expected the index, UUID or part of the name of a device, got '") +
                  wanted +
                  "'; there is 0 'Acme Rocket 9000' (uuid 00ff00ff00ff00ff00ff00ff00ff00ff), "
                  "1 'llvmpipe (LLVM 15)' (uuid 6d657361000000000000000000000000)");
  EXPECT_EQ(chooseDevice({}, "").error().toString(),
            "Unsupported: vulkan: no device with Vulkan 1.2 and a compute queue");
}

TEST(Devices, AreListedWithTheirFacts) {
  const auto found = devices();
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_FALSE(found->empty());
  for (size_t i = 0; i < found->size(); ++i) {
    EXPECT_EQ((*found)[i].backend, "vulkan");
    EXPECT_EQ((*found)[i].index, static_cast<int>(i));
    EXPECT_FALSE((*found)[i].name.empty());
    EXPECT_FALSE((*found)[i].driver.empty());
    EXPECT_EQ((*found)[i].uuid.size(), 32u);
    EXPECT_EQ((*found)[i].software, (*found)[i].name.find("llvmpipe") != std::string::npos);
  }
}

TEST(Devices, WithoutADriverTheMessageSaysSo) {
  setenv("VK_DRIVER_FILES", "/nowhere/driver.json", 1);
  setenv("VK_ICD_FILENAMES", "/nowhere/driver.json", 1);
  const auto found = devices();
  const auto runtime = createRuntime({});
  unsetenv("VK_DRIVER_FILES");
  unsetenv("VK_ICD_FILENAMES");
  ASSERT_FALSE(found);
  ASSERT_FALSE(runtime);
  EXPECT_EQ(found.error().code(), StatusCode::Unsupported);
  EXPECT_EQ(runtime.error().message(),
            "vulkan: the loader found no usable driver (Debian: mesa-vulkan-drivers; check VK_DRIVER_FILES and "
            "VK_ICD_FILENAMES)");
}

TEST(Devices, AnUnknownDeviceIsRefused) {
  const auto runtime = createRuntime({.device = "no such device"});
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error().code(), StatusCode::Unsupported);
  EXPECT_NE(runtime.error().message().find("got 'no such device'; there is 0 '"), std::string::npos);
}

}  // namespace
}  // namespace opkit::vulkan
