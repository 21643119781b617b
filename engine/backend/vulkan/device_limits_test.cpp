// Every encoder refuses a dispatch beyond the device limits while tensors have no memory, in one form.
#include "engine/backend/vulkan/device_limits.h"

#include "engine/backend/vulkan/testing/vulkan_fixture.h"

namespace opkit::vulkan {
namespace {

PhysicalDevice smallDevice() {
  PhysicalDevice device;
  VkPhysicalDeviceLimits& limits = device.properties.limits;
  limits.maxStorageBufferRange = 1000;
  limits.maxTexelBufferElements = 10;
  limits.maxImageDimension2D = 8;
  for (uint32_t& count : limits.maxComputeWorkGroupCount) count = 100;
  return device;
}

Status bind(const PhysicalDevice& device, const TensorDesc& desc, Access access) {
  return requireBinding(device, {desc, nullptr}, access, "shader");
}

TEST(DeviceLimits, BindingsHaveLimitsOfTheirOwn) {
  const PhysicalDevice device = smallDevice();
  for (const Access access : {Access::Read, Access::Write, Access::ReadWrite}) {
    EXPECT_OK(bind(device, {DType::Float32, {250}}, access));
    const Status large = bind(device, {DType::Float32, {251}}, access);
    EXPECT_TRUE(large.isByDevice());
    EXPECT_EQ(large.message(), "vulkan: shader: f32[251] exceeds the device limit of 1000 bytes per buffer");
  }
  EXPECT_OK(bind(device, {DType::Float32, {40}}, Access::Texel));
  EXPECT_TRUE(bind(device, {DType::Float32, {44}}, Access::Texel).isByDevice());
  EXPECT_OK(bind(device, {DType::Float32, {1, 4, 8, 7}}, Access::Image));
  EXPECT_TRUE(bind(device, {DType::Float32, {1, 5, 8, 8}}, Access::Image).isByDevice());
  EXPECT_TRUE(bind(device, {DType::Float32, {1, 4, 9, 2}}, Access::ImageWrite).isByDevice());
  // It fits into an image, but not into the buffer from which the image is made.
  EXPECT_TRUE(bind(device, {DType::Float32, {1, 4, 8, 8}}, Access::Image).isByDevice());
}

TEST(DeviceLimits, NoDeviceCountsBeyond31Bits) {
  PhysicalDevice device = smallDevice();
  device.properties.limits.maxStorageBufferRange = UINT32_MAX;
  EXPECT_OK(bind(device, {DType::UInt8, {INT32_MAX}}, Access::Read));
  const Status status = bind(device, {DType::UInt8, {int64_t{1} << 31}}, Access::Read);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_FALSE(status.isByDevice());
}

TEST(DeviceLimits, GroupsAreCounted) {
  const ShaderCode code{"shader", {}, {}, 0, 0, {64, 1, 1}};
  EXPECT_OK(requireGroups(smallDevice(), code, {100, 1, 100}));
  EXPECT_EQ(requireGroups(smallDevice(), code, {1, 101, 1}).message(),
            "vulkan: shader: 101 work groups along y, the device allows 100");
}

/// The status of planning y = x + 1 on a masked device.
Status plan(const std::string& mask, const TensorDesc& x, const TensorDesc& y) {
  static const OpRegistry none;
  const auto runtime = createRuntime({.cacheDir = "off", .mask = mask});
  if (!runtime) return runtime.error();
  const auto backend = *(*runtime)->createBackend(none, {});
  AffineExecution affine(*backend, 1);
  const Tensor from{x, nullptr}, to{y, nullptr};
  const Tensor *in = &from, *out = &to;
  return affine.scratchBytes({&in, 1}, {&out, 1}).error();
}

TEST(DeviceLimits, PlanningAsksTheDevice) {
  const TensorDesc floats{DType::Float32, {300}}, halves{DType::Float16, {300}}, bytes{DType::UInt8, {300}},
      wide{DType::Int64, {300}}, one{DType::Float32, {1}};
  EXPECT_OK(plan("", floats, floats));
  const auto expectRefused = [&](const std::string& mask, const TensorDesc& x, const TensorDesc& y) {
    const Status status = plan(mask, x, y);
    EXPECT_TRUE(status.isByDevice()) << mask << ": " << status.message();
  };
  expectRefused("no-storage16", halves, halves);
  expectRefused("no-storage8", bytes, bytes);
  expectRefused("no-int64", wide, wide);
  expectRefused("workgroup=32", floats, floats);
  expectRefused("groups=1", floats, floats);
  expectRefused("buffer=1k", floats, floats);
  expectRefused("buffer=1k", floats, one);  // inputs count like outputs
  expectRefused("buffer=1k", one, floats);
}

TEST(DeviceLimits, KnownPipelinesAreAskedForTheirBindingsStill) {
  const auto runtime = *createRuntime({.cacheDir = "off", .mask = "buffer=1k"});
  static const OpRegistry none;
  const auto backend = *runtime->createBackend(none, {});
  const auto tensor = [&](int64_t count) {
    Tensor made{{DType::Float32, {count}}, nullptr};
    made.buffer = *backend->allocate(made.sizeBytes());
    return made;
  };
  const Tensor small = tensor(9), large = tensor(300);
  AffineExecution affine(*backend, 1);
  EXPECT_OK(resizeAndRun(*backend, {{&affine, {&small}, {&small}}}));
  EXPECT_TRUE(resizeAndRun(*backend, {{&affine, {&large}, {&large}}}).isByDevice());
}

}  // namespace
}  // namespace opkit::vulkan
