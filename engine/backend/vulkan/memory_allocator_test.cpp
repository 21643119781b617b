#include "engine/backend/vulkan/memory_allocator.h"

#include <map>
#include <thread>

#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/testing/vulkan_fixture.h"
#include "engine/backend/vulkan/vulkan_buffer.h"

namespace opkit::vulkan {
namespace {

TEST(FreeList, TakesTheSmallestRangeThatFits) {
  FreeList list(1000);
  EXPECT_EQ(list.take(100, 1), 0u);
  EXPECT_EQ(list.take(50, 64), 128u);
  EXPECT_EQ(list.take(28, 1), 100u);  // the gap that alignment left
  list.give(0, 100);
  EXPECT_EQ(list.take(90, 1), 0u);  // rather than the 822 at the end
  EXPECT_FALSE(list.take(900, 1));
  EXPECT_FALSE(list.take(12, 1024));
}

TEST(FreeList, EveryRangeIsItsOwnAndAllComeBack) {
  std::mt19937 random(3);
  FreeList list(1 << 16);
  std::map<size_t, size_t> taken;  // offset -> size
  for (int round = 0; round < 4000; ++round) {
    if (random() % 3 != 0 || taken.empty()) {
      const size_t size = 1 + random() % 2000;
      const size_t alignment = size_t{1} << random() % 9;
      const auto offset = list.take(size, alignment);
      if (!offset) continue;
      EXPECT_EQ(*offset % alignment, 0u);
      const auto [entry, isNew] = taken.emplace(*offset, size);
      ASSERT_TRUE(isNew);
      if (const auto next = std::next(entry); next != taken.end()) {
        ASSERT_LE(*offset + size, next->first);
      }
      if (entry != taken.begin()) {
        ASSERT_LE(std::prev(entry)->first + std::prev(entry)->second, *offset);
      }
    } else {
      const auto entry = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      list.give(entry->first, entry->second);
      taken.erase(entry);
    }
  }
  for (const auto& [offset, size] : taken) list.give(offset, size);
  EXPECT_TRUE(list.isEmpty());
  EXPECT_EQ(list.ranges(), 1u);
}

class MemoryAllocatorTest : public VulkanTest {
 protected:
  const std::shared_ptr<Device>& device() { return static_cast<VulkanRuntime&>(*runtime_).vulkanDevice(); }
  std::shared_ptr<VulkanBuffer> make(size_t bytes) {
    auto buffer = VulkanBuffer::create(device(), bytes, MemoryUse::Tensor);
    EXPECT_TRUE(buffer) << buffer.error().message();
    return *buffer;
  }
};

TEST_F(MemoryAllocatorTest, ManyBuffersShareFewAllocations) {
  const MemoryStatistics before = device()->memory().statistics();
  std::vector<std::shared_ptr<VulkanBuffer>> buffers;
  for (int i = 0; i < 6000; ++i) {  // more allocations than any driver promises
    buffers.push_back(make(1000));
    std::fill_n(buffers.back()->hostData(), 1000, static_cast<std::byte>(i));
  }
  for (int i = 0; i < 6000; ++i)
    ASSERT_TRUE(std::all_of(buffers[static_cast<size_t>(i)]->hostData(),
                            buffers[static_cast<size_t>(i)]->hostData() + 1000,
                            [&](std::byte byte) { return byte == static_cast<std::byte>(i); }));
  const MemoryStatistics during = device()->memory().statistics();
  EXPECT_LE(during.allocations - before.allocations, 2u);
  EXPECT_EQ(during.ranges - before.ranges, 6000u);
  buffers.clear();
  const MemoryStatistics after = device()->memory().statistics();
  EXPECT_EQ(after.usedBytes, before.usedBytes);
  EXPECT_EQ(after.ranges, before.ranges);
  EXPECT_LE(after.allocations, 1u);
  EXPECT_GE(after.peakUsedBytes, during.usedBytes);
}

TEST_F(MemoryAllocatorTest, LargeBuffersHaveAllocationsOfTheirOwn) {
  auto small = make(1000);
  auto large = make(size_t{48} << 20);
  EXPECT_EQ(device()->memory().statistics().dedicated, 1u);
  large.reset();
  const MemoryStatistics after = device()->memory().statistics();
  EXPECT_EQ(after.dedicated, 0u);
  EXPECT_LT(after.reservedBytes, size_t{48} << 20);
}

TEST_F(MemoryAllocatorTest, TheCapRefusesWithSizesAndRecovers) {
  device()->memory().setCapBytes(10000);
  auto first = make(8000);
  const auto refused = VulkanBuffer::create(device(), 4000, MemoryUse::Tensor);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), StatusCode::OutOfMemory);
  EXPECT_NE(refused.error().message().find("the cap is 10000"), std::string::npos) << refused.error().message();
  EXPECT_NE(refused.error().message().find("bytes are in use"), std::string::npos);
  first.reset();
  make(4000);
}

TEST_F(MemoryAllocatorTest, ThreadsDoNotGetEachOthersMemory) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        auto buffer = VulkanBuffer::create(device(), 100 + static_cast<size_t>(i) * 7, MemoryUse::Tensor);
        std::fill_n((*buffer)->hostData(), 100, static_cast<std::byte>(t));
        std::this_thread::yield();
        if ((*buffer)->hostData()[99] != static_cast<std::byte>(t)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device()->memory().statistics().ranges, 0u);
}

TEST_F(MemoryAllocatorTest, EveryFailedCreationIsOutOfMemoryAndLeaksNothing) {
  const TensorDesc desc{DType::Float32, {100}};
  const size_t rangesBefore = device()->memory().statistics().ranges;
  int failures = 0;
  for (bool finished = false; !finished; ++failures) {
    {
      device()->faults().failCreationAfter(failures);
      auto backend = runtime_->createBackend(registry_, {.deviceTimestamps = true});
      if (!backend) {
        EXPECT_EQ(backend.error().code(), StatusCode::OutOfMemory) << backend.error().message();
        continue;
      }
      device()->faults().clear();
      const Tensor x = upload(**backend, desc, std::vector<float>(100, 2.0f));
      const Tensor y = makeTensor(**backend, desc);
      // A different specialisation per round, so that every round creates a pipeline.
      AffineExecution affine(**backend, 1, 1000 + static_cast<uint32_t>(failures));
      device()->faults().failCreationAfter(failures);
      const Status status = resizeAndRun(**backend, {{&affine, {&x}, {&y}}});
      finished = device()->faults().clear();
      if (finished)
        EXPECT_OK(status);
      else
        EXPECT_EQ(status.code(), StatusCode::OutOfMemory) << status.message();
      // The same Backend and Execution work once there is memory again.
      EXPECT_OK(resizeAndRun(**backend, {{&affine, {&x}, {&y}}}));
      EXPECT_EQ(download<float>(**backend, y, DType::Float32)[0], 2001.0f + 2.0f * static_cast<float>(failures));
    }
    EXPECT_EQ(device()->memory().statistics().ranges, rangesBefore);
  }
  EXPECT_GT(failures, 8);
}

TEST_F(MemoryAllocatorTest, ALostDeviceRefusesEverythingButANewRuntimeWorks) {
  {
    auto runtime = *createRuntime(RuntimeOptions{});
    auto& faults = static_cast<VulkanRuntime&>(*runtime).vulkanDevice()->faults();
    const auto backend = *runtime->createBackend(registry_, {});
    const TensorDesc desc{DType::Float32, {10}};
    const Tensor x = upload(*backend, desc, std::vector<float>(10, 2.0f));
    const Tensor y = makeTensor(*backend, desc);
    AffineExecution affine(*backend, 1);
    const auto recording = *recordCalls(*backend, {{&affine, {&x}, {&y}}});
    EXPECT_OK(recording->run());
    faults.loseDeviceAfter(0);
    const Status lost = recording->run();
    EXPECT_EQ(lost.code(), StatusCode::DeviceLost);
    EXPECT_EQ(lost.message(), "vulkan: submitting work: VK_ERROR_DEVICE_LOST");
    const Status again = recording->run();
    EXPECT_EQ(again.code(), StatusCode::DeviceLost);
    EXPECT_NE(again.message().find("was lost earlier; make a new session"), std::string::npos) << again.message();
    EXPECT_EQ(runtime->createBackend(registry_, {}).error().code(), StatusCode::DeviceLost);
  }
  const auto backend = makeBackend();
  const Tensor x = upload(*backend, {DType::Float32, {10}}, std::vector<float>(10, 2.0f));
  const Tensor y = makeTensor(*backend, {DType::Float32, {10}});
  AffineExecution affine(*backend, 1);
  EXPECT_OK(resizeAndRun(*backend, {{&affine, {&x}, {&y}}}));
}

}  // namespace
}  // namespace opkit::vulkan
