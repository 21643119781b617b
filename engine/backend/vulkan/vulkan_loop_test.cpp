#include "engine/backend/vulkan/vulkan_loop.h"

#include "engine/backend/loop_test_support.h"
#include "engine/backend/vulkan/testing/vulkan_fixture.h"

namespace opkit::vulkan {
namespace {

TEST(LoopPasses, CountTheTestThatEndsALoop) {
  EXPECT_EQ(loopPasses({}), 0);
  EXPECT_EQ(loopPasses({0}), 1);
  EXPECT_EQ(loopPasses({9}), 10);
  EXPECT_EQ(loopPasses({2, 9}), 2 * (10 + 1) + 1);
  EXPECT_EQ(loopPasses({3, 2, 9}), 3 * (2 * (10 + 1) + 1 + 1) + 1);
  EXPECT_EQ(loopPasses({int64_t{1} << 40, int64_t{1} << 40, int64_t{1} << 40}), INT32_MAX);
}

using Command = LoopRegion::Command;
using opkit::testing::LoopCase;
using opkit::testing::LoopMaker;

class VulkanLoopTest : public VulkanTest {
 protected:
  Status run(Backend& backend, const LoopRegion& loop, const std::vector<const Tensor*>& inputs, const Tensor& output) {
    const OpDef def = opkit::testing::loopedDef(&loop, &output.desc);
    std::vector<const TensorDesc*> descs;
    for (const Tensor* input : inputs) descs.push_back(&input->desc);
    const CreateArgs args{def, {}, descs, {&output.desc, 1}, {}, backend.caps()};
    const Creator creator = loopCreator();
    OPKIT_TRY(creator.supports(args));
    OPKIT_ASSIGN(const auto execution, creator.create(args, backend));
    return resizeAndRun(backend, {{execution.get(), inputs, {&output}}});
  }

  template <class T>
  void expectRandomLoops(Command command, DType dtype, DType indexType, unsigned seed) {
    const auto backend = makeBackend();
    LoopMaker maker(seed);
    for (int round = 0; round < 25; ++round) {
      const LoopCase c = maker.make(command);
      std::vector<std::vector<T>> values;
      std::vector<Tensor> tensors;
      for (const int64_t count : c.operandCounts) {
        values.push_back(opkit::testing::smallValues<T>(count, maker));
        tensors.push_back(upload(*backend, {dtype, {count}}, values.back()));
      }
      const auto count = static_cast<int64_t>(c.indices.size());
      const std::vector<int32_t> narrow(c.indices.begin(), c.indices.end());
      if (!c.loop.indices.terms.empty())
        tensors.push_back(indexType == DType::Int64 ? upload(*backend, {DType::Int64, {count}}, c.indices)
                                                    : upload(*backend, {DType::Int32, {count}}, narrow));
      std::vector<const Tensor*> inputs;
      for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
      const Tensor output =
          upload(*backend, {dtype, {c.outputCount}}, std::vector<T>(static_cast<size_t>(c.outputCount), T(-1)));
      const Status status = run(*backend, c.loop, inputs, output);
      ASSERT_TRUE(status.isOk()) << status.message();
      ASSERT_EQ(download<T>(*backend, output, dtype), opkit::testing::runPlainly(c, values)) << "round " << round;
    }
  }
};

TEST_F(VulkanLoopTest, CopiesWithAndWithoutIndices) {
  expectRandomLoops<uint8_t>(Command::Copy, DType::UInt8, DType::Int64, 1);
  expectRandomLoops<int16_t>(Command::Copy, DType::Int16, DType::Int32, 2);
  expectRandomLoops<float>(Command::Copy, DType::Float32, DType::Int64, 3);
  expectRandomLoops<int64_t>(Command::Copy, DType::Int64, DType::Int32, 4);
}

TEST_F(VulkanLoopTest, SmallProducts) {
  expectRandomLoops<float>(Command::Product, DType::Float32, DType::Int64, 5);
  expectRandomLoops<int32_t>(Command::Product, DType::Int32, DType::Int64, 6);
  expectRandomLoops<uint64_t>(Command::Product, DType::UInt64, DType::Int64, 7);
}

TEST_F(VulkanLoopTest, RunningSums) {
  expectRandomLoops<float>(Command::RunningSum, DType::Float32, DType::Int64, 8);
  expectRandomLoops<int8_t>(Command::RunningSum, DType::Int8, DType::Int64, 9);
}

TEST_F(VulkanLoopTest, Scatters) {
  expectRandomLoops<uint8_t>(Command::Scatter, DType::UInt8, DType::Int64, 10);
  expectRandomLoops<int16_t>(Command::Scatter, DType::Int16, DType::Int32, 11);
  expectRandomLoops<float>(Command::Scatter, DType::Float32, DType::Int64, 12);
  expectRandomLoops<int64_t>(Command::Scatter, DType::Int64, DType::Int32, 13);
}

TEST_F(VulkanLoopTest, ScattersOfManyUpdatesKeepTheLastAndSumAll) {
  constexpr int64_t kUpdates = 3000, kElements = 70;
  LoopRegion loop;
  loop.command = Command::Scatter;
  loop.iterations = {kUpdates};
  loop.operands = {{.source = 0, .steps = {1}}};
  loop.target = {.steps = {0}};
  loop.indices = {.source = 1, .steps = {1}, .terms = {{.extent = kElements, .stride = 1}}};
  loop.base = 2;
  std::vector<float> updates, last(kElements, -1), sums(kElements, -1);
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < kUpdates; ++i) {
    const auto at = static_cast<size_t>(i * i % 61);
    updates.push_back(static_cast<float>(i));
    indices.push_back(static_cast<int32_t>(i % 2 ? at : at - kElements));
    last[at] = updates.back();
    sums[at] += updates.back();
  }
  const auto backend = makeBackend();
  const Tensor x = upload(*backend, {DType::Float32, {kUpdates}}, updates);
  const Tensor at = upload(*backend, {DType::Int32, {kUpdates}}, indices);
  const Tensor base = upload(*backend, {DType::Float32, {kElements}}, std::vector<float>(kElements, -1));
  const Tensor y = makeTensor(*backend, {DType::Float32, {kElements}});
  ASSERT_EQ(run(*backend, loop, {&x, &at, &base}, y).message(), "");
  EXPECT_EQ(download<float>(*backend, y, DType::Float32), last);
  loop.combine = Combine::Add;
  ASSERT_EQ(run(*backend, loop, {&x, &at, &base}, y).message(), "");
  EXPECT_EQ(download<float>(*backend, y, DType::Float32), sums);
}

TEST_F(VulkanLoopTest, IndicesOutOfRangeFailTheRunThatMeetsThem) {
  LoopRegion loop;
  loop.iterations = {4};
  loop.operands = {{.source = 0, .steps = {0}}};
  loop.target = {.steps = {1}};
  loop.indices = {.source = 1, .steps = {1}, .terms = {{.extent = 3, .stride = 1}}};
  {
    const auto backend = makeBackend();
    const Tensor x = upload(*backend, {DType::Int32, {3}}, std::vector<int32_t>{7, 8, 9});
    const Tensor y = makeTensor(*backend, {DType::Int32, {4}});
    const auto messageOf = [&](const std::vector<int64_t>& values) {
      const Tensor wide = upload(*backend, {DType::Int64, {4}}, values);
      const std::string message = run(*backend, loop, {&x, &wide}, y).message();
      const bool narrow =
          std::ranges::all_of(values, [](int64_t value) { return value == static_cast<int32_t>(value); });
      if (!narrow) return message;
      const Tensor half = upload(*backend, {DType::Int32, {4}}, std::vector<int32_t>(values.begin(), values.end()));
      EXPECT_EQ(run(*backend, loop, {&x, &half}, y).message(), message);
      return message;
    };
    EXPECT_EQ(messageOf({0, 3, 1, 2}), "Looped: indices must be in [-3, 3), got 3");
    EXPECT_EQ(messageOf({0, -4, 1, -9}), "Looped: indices must be in [-3, 3), got -9");
    EXPECT_EQ(messageOf({0, 1000000, 1, -4}), "Looped: indices must be in [-3, 3), got 1000000");
    // Indices whose lower words are in range.
    EXPECT_EQ(messageOf({int64_t{1} << 32, 0, 0, 0}), "Looped: indices must be in [-3, 3), got 2147483647");
    EXPECT_EQ(messageOf({0, -(int64_t{1} << 32), 0, 0}), "Looped: indices must be in [-3, 3), got -2147483648");
    EXPECT_EQ(messageOf({0, -3, -1, 2}), "");
    EXPECT_EQ(download<int32_t>(*backend, y, DType::Int32), (std::vector<int32_t>{7, 7, 9, 9}));
  }
}

TEST_F(VulkanLoopTest, RefusesWhatTheShadersCannotWalk) {
  const auto backend = makeBackend();
  const Tensor x = makeTensor(*backend, {DType::Float32, {128}});
  const Tensor y = makeTensor(*backend, {DType::Float32, {128}});
  LoopRegion loop;
  loop.iterations = Shape(7, 2);
  loop.operands = {{.steps = {64, 32, 16, 8, 4, 2, 1}}};
  loop.target = {.steps = {1, 2, 4, 8, 16, 32, 64}};
  EXPECT_EQ(run(*backend, loop, {&x}, y).message(), "Looped: the loop kernel walks 6 dimensions, got 7");
  const Tensor flags = makeTensor(*backend, {DType::Bool, {128}});
  loop.iterations = {128};
  loop.command = Command::RunningSum;
  loop.size = {1};
  loop.operands = {{.steps = {1}, .strides = {0}}};
  loop.target = {.steps = {1}, .strides = {0}};
  EXPECT_EQ(run(*backend, loop, {&flags}, flags).message(), "Looped: the Vulkan kernel has no bool variant");
}

}  // namespace
}  // namespace opkit::vulkan
