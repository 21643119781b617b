#include "engine/backend/host/host_loop.h"

#include "engine/backend/backend_registry.h"
#include "engine/backend/loop_test_support.h"
#include "engine/backend/op_runner.h"

namespace opkit {
namespace {

using Command = LoopRegion::Command;
using opkit::testing::LoopCase;
using opkit::testing::LoopMaker;

/// One Execution of provider "loop", resized from loop to loop.
class HostLoopTest : public ::testing::TestWithParam<std::string> {
 protected:
  HostLoopTest() {
    registry_.add(opkit::testing::loopedDef(&loop_, &output_));
    backend_ = std::move(*(*createRuntime(GetParam()))->createBackend(registry_, {.threads = 3}));
  }

  Status run(const LoopRegion& loop, TensorList inputs, const Tensor& output) {
    loop_ = loop;
    output_ = output.desc;
    std::vector<const TensorDesc*> descs;
    for (const Tensor* input : inputs) descs.push_back(&input->desc);
    const CreateArgs args{*registry_.find("Looped"), {}, descs, {&output_, 1}, {}, backend_->caps()};
    ProviderPolicy policy;
    OPKIT_TRY(policy.add(ProviderRule::Kind::Force, kLoopProvider));
    const Choice choice = chooseCreator(backend_->creators(args.def), args, policy);
    for (const Refusal& refusal : choice.refusals)
      if (refusal.provider == kLoopProvider) return Status::unsupported("{}", refusal.reason);
    if (!execution_) {
      OPKIT_ASSIGN(execution_, choice.creator->create(args, *backend_));
    }
    return resizeAndRun(*backend_, {{execution_.get(), {inputs.begin(), inputs.end()}, {&output}}});
  }

  template <class T>
  void expectRandomLoops(Command command, DType dtype, DType indexType, unsigned seed) {
    LoopMaker maker(seed);
    for (int round = 0; round < 150; ++round) {
      const LoopCase c = maker.make(command);
      std::vector<std::vector<T>> values;
      std::vector<Tensor> tensors;
      for (const int64_t count : c.operandCounts) {
        values.push_back(opkit::testing::smallValues<T>(count, maker));
        tensors.push_back(*Tensor::fromValues({dtype, {count}}, values.back()));
      }
      const auto count = static_cast<int64_t>(c.indices.size());
      const std::vector<int32_t> narrow(c.indices.begin(), c.indices.end());
      if (!c.loop.indices.terms.empty())
        tensors.push_back(indexType == DType::Int64 ? *Tensor::fromValues({DType::Int64, {count}}, c.indices)
                                                    : *Tensor::fromValues({DType::Int32, {count}}, narrow));
      std::vector<const Tensor*> inputs;
      for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
      const Tensor output = *Tensor::onHost({dtype, {c.outputCount}});
      std::ranges::fill(output.bytes(), std::byte{0xFF});
      const Status status = run(c.loop, inputs, output);
      ASSERT_TRUE(status.isOk()) << status.message();
      const auto data = output.data<T>();
      ASSERT_EQ(std::vector<T>(data.begin(), data.end()), opkit::testing::runPlainly(c, values)) << "round " << round;
    }
  }

  OpRegistry registry_;
  LoopRegion loop_;
  TensorDesc output_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Execution> execution_;
};

TEST_P(HostLoopTest, CopiesWithAndWithoutIndices) {
  expectRandomLoops<uint8_t>(Command::Copy, DType::UInt8, DType::Int64, 1);
  expectRandomLoops<int16_t>(Command::Copy, DType::Int16, DType::Int32, 2);
  expectRandomLoops<float>(Command::Copy, DType::Float32, DType::Int64, 3);
  expectRandomLoops<int64_t>(Command::Copy, DType::Int64, DType::Int32, 4);
}

TEST_P(HostLoopTest, SmallProducts) {
  expectRandomLoops<float>(Command::Product, DType::Float32, DType::Int64, 5);
  expectRandomLoops<double>(Command::Product, DType::Float64, DType::Int64, 6);
  expectRandomLoops<int32_t>(Command::Product, DType::Int32, DType::Int64, 7);
  expectRandomLoops<uint64_t>(Command::Product, DType::UInt64, DType::Int64, 8);
}

TEST_P(HostLoopTest, RunningSums) {
  expectRandomLoops<float>(Command::RunningSum, DType::Float32, DType::Int64, 9);
  expectRandomLoops<int8_t>(Command::RunningSum, DType::Int8, DType::Int64, 10);
  expectRandomLoops<int64_t>(Command::RunningSum, DType::Int64, DType::Int64, 11);
}

TEST_P(HostLoopTest, Scatters) {
  expectRandomLoops<uint8_t>(Command::Scatter, DType::UInt8, DType::Int64, 12);
  expectRandomLoops<int16_t>(Command::Scatter, DType::Int16, DType::Int32, 13);
  expectRandomLoops<float>(Command::Scatter, DType::Float32, DType::Int64, 14);
  expectRandomLoops<int64_t>(Command::Scatter, DType::Int64, DType::Int32, 15);
}

TEST_P(HostLoopTest, ScattersSumHalvesInFloatAndBoolsByOr) {
  LoopRegion loop;
  loop.command = Command::Scatter;
  loop.iterations = {3};
  loop.operands = {{.source = 0, .steps = {1}}};
  loop.target = {.steps = {0}};
  loop.base = 1;
  loop.combine = Combine::Add;
  const Half one = toHalf(1), most = toHalf(2048);  // 2048 + 1 is 2048 in f16
  const Tensor updates = *Tensor::fromValues<Half>({DType::Float16, {3}}, {one, one, one});
  const Tensor base = *Tensor::fromValues<Half>({DType::Float16, {1}}, {most});
  const Tensor sum = *Tensor::onHost({DType::Float16, {1}});
  const Tensor* halves[] = {&updates, &base};
  ASSERT_TRUE(run(loop, halves, sum).isOk());
  EXPECT_EQ(toFloat(sum.data<Half>()[0]), 2052) << "2051 to the nearest even";
  const Tensor set = *Tensor::fromValues<uint8_t>({DType::Bool, {3}}, {1, 0, 1});
  const Tensor flag = *Tensor::fromValues<uint8_t>({DType::Bool, {1}}, {1});
  const Tensor any = *Tensor::onHost({DType::Bool, {1}});
  const Tensor* flags[] = {&set, &flag};
  ASSERT_TRUE(run(loop, flags, any).isOk());
  EXPECT_EQ(any.data<uint8_t>()[0], 1);
}

TEST_P(HostLoopTest, ProductsOfFloatsAreClampedAndKeepNaN) {
  LoopRegion loop;
  loop.command = Command::Product;
  loop.iterations = {4};
  loop.size = {1, 1, 1};
  loop.operands = {{.source = 0, .steps = {1}, .strides = {0, 0, 0}},
                   {.source = 1, .steps = {0}, .strides = {0, 0, 0}}};
  loop.target = {.steps = {1}, .strides = {0, 0, 0}};
  loop.clamp = {.low = -1, .high = 6};
  const Tensor a = *Tensor::fromValues<float>({DType::Float32, {4}}, {-5, 2, 9, NAN});
  const Tensor b = *Tensor::fromValues<float>({DType::Float32, {1}}, {1});
  const Tensor y = *Tensor::onHost({DType::Float32, {4}});
  const Tensor* inputs[] = {&a, &b};
  ASSERT_TRUE(run(loop, inputs, y).isOk());
  EXPECT_EQ(y.data<float>()[0], -1);
  EXPECT_EQ(y.data<float>()[1], 2);
  EXPECT_EQ(y.data<float>()[2], 6);
  EXPECT_TRUE(std::isnan(y.data<float>()[3]));
}

TEST_P(HostLoopTest, IndicesOutOfRangeAreNamedAndNothingIsReadThere) {
  LoopRegion loop;
  loop.iterations = {3};
  loop.operands = {{.source = 0, .steps = {0}}};
  loop.target = {.steps = {1}};
  loop.indices = {.source = 1, .steps = {1}, .terms = {{.extent = 4, .stride = 1}}};
  const Tensor x = *Tensor::fromValues<float>({DType::Float32, {4}}, {1, 2, 3, 4});
  const Tensor y = *Tensor::onHost({DType::Float32, {3}});
  const auto statusOf = [&](const std::vector<int64_t>& values) {
    const Tensor indices = *Tensor::fromValues({DType::Int64, {3}}, values);
    const Tensor* inputs[] = {&x, &indices};
    return run(loop, inputs, y);
  };
  EXPECT_EQ(statusOf({0, 4, -9}).message(), "Looped: indices must be in [-4, 4), got 4");
  EXPECT_EQ(statusOf({0, 1, -5}).message(), "Looped: indices must be in [-4, 4), got -5");
  ASSERT_TRUE(statusOf({-4, 3, -1}).isOk());
  EXPECT_EQ(y.data<float>()[0], 1);
  EXPECT_EQ(y.data<float>()[1], 4);
}

TEST_P(HostLoopTest, WrongLoopsAreRefused) {
  const Tensor x = *Tensor::onHost({DType::Float32, {4}});
  const Tensor y = *Tensor::onHost({DType::Float32, {4}});
  const Tensor* inputs[] = {&x};
  LoopRegion loop;
  loop.iterations = {4};
  loop.operands = {{.source = 0, .offset = 1, .steps = {1}}};
  loop.target = {.steps = {1}};
  EXPECT_EQ(run(loop, inputs, y).message(), "Looped: loop: the operand must stay in [0, 4), it reaches from 1 to 4");
  loop.operands[0] = {.source = 3, .steps = {1}};
  EXPECT_EQ(run(loop, inputs, y).message(), "Looped: loop: it reads source 3, there are 1");
  loop.operands[0] = {.source = 0, .steps = {}};
  EXPECT_NE(run(loop, inputs, y).message().find("have other steps or strides"), std::string::npos);
  loop.operands[0] = {.source = 0, .steps = {1}};
  loop.iterations = {3};
  EXPECT_EQ(run(loop, inputs, y).message(), "Looped: loop: 3 iterations of 1 elements do not make f32[4]");
  loop.command = Command::Product;
  loop.iterations = {};
  loop.size = {2, 2, 1};
  loop.operands = {{.strides = {1, 1, 0}}, {.strides = {0, 1, 0}}};
  loop.target = {.strides = {2, 1, 0}};
  EXPECT_NE(run(loop, inputs, y).message().find("must have stride 0"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(HostBackends, HostLoopTest, ::testing::Values("cpu", "reference"));

}  // namespace
}  // namespace opkit
