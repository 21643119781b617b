// OpRunner on an invented device: tensors in two layouts, and a record of what it was asked to do.
#include "engine/backend/op_runner.h"

#include <gtest/gtest.h>

#include "engine/backend/host/host_backend.h"
#include "engine/backend/host/host_raster.h"
#include "engine/op/internal_operators.h"

namespace opkit::op_runner_test {
namespace {

using Events = std::vector<std::string>;
using Floats = std::vector<float>;

/// Its memory is host memory, but like a GPU's images NC4HW4 tensors are filled by kernels alone.
class FakeBackend final : public HostBackend {
 public:
  FakeBackend();
  std::span<const Creator> creators(const OpDef& def) const override {
    if (&def == &convertCard()) return {&convert_, 1};
    return &def == &rasterCard() ? std::span<const Creator>(&raster_, 1) : std::span<const Creator>();
  }

  Result<std::shared_ptr<Buffer>> allocate(size_t sizeBytes) override {
    OPKIT_ASSIGN(auto buffer, HostBackend::allocate(sizeBytes));
    buffers_.push_back(buffer);
    return buffer;
  }
  Status upload(const Tensor& host, const Tensor& device) override {
    if (device.layout != Layout::NCHW) return Status::unsupported("fake: kernels fill images");
    return HostBackend::upload(host, device);
  }
  DType storageDType(DType dtype) const override { return dtype == DType::Float64 ? DType::Float32 : dtype; }

  /// A HostRecorder that notes what happens.
  Result<std::unique_ptr<Recorder>> record() override;

  template <class... Args>
  Status note(fmt::format_string<Args...> format, Args&&... args) {
    events_.push_back(fmt::format(format, std::forward<Args>(args)...));
    return Status::ok();
  }
  Events takeEvents() { return std::exchange(events_, {}); }
  size_t liveBuffers() const {
    return static_cast<size_t>(std::ranges::count_if(buffers_, [](const auto& each) { return !each.expired(); }));
  }

  bool unpacks = true;  // converts to NCHW

 private:
  Creator convert_, raster_;
  ThreadPool pool_;
  Events events_;
  std::vector<std::weak_ptr<Buffer>> buffers_;
};

class Conversion final : public Execution {
 public:
  explicit Conversion(FakeBackend& backend) : backend_(backend) {}
  Result<size_t> scratchBytes(TensorList, TensorList outputs) override {
    if (outputs[0]->layout == Layout::NCHW && !backend_.unpacks) return Status::unsupported("fake: images stay images");
    return size_t{0};
  }
  Status onResize(TensorList inputs, TensorList outputs) override {
    return backend_.note("plan {} to {}", nameOf(inputs[0]->layout), nameOf(outputs[0]->layout));
  }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    convertElements(*inputs[0], *outputs[0]);
    return Status::ok();
  }

 private:
  FakeBackend& backend_;
};

class FakeRecording final : public Recording {
 public:
  FakeRecording(FakeBackend& backend, std::unique_ptr<Recording> inner) : backend_(backend), inner_(std::move(inner)) {}
  ~FakeRecording() override { static_cast<void>(backend_.note("drop, {} buffers", backend_.liveBuffers())); }
  Status run() override {
    OPKIT_TRY(backend_.note("run"));
    return inner_->run();
  }

 private:
  FakeBackend& backend_;
  std::unique_ptr<Recording> inner_;
};

class FakeRecorder final : public Recorder {
 public:
  explicit FakeRecorder(FakeBackend& backend) : backend_(backend) {}
  Status add(Execution& execution, TensorList inputs, TensorList outputs) override {
    return inner_.add(execution, inputs, outputs);
  }
  Result<std::unique_ptr<Recording>> finish() override {
    OPKIT_TRY(backend_.note("finish"));
    OPKIT_ASSIGN(auto recording, inner_.finish());
    return std::unique_ptr<Recording>(std::make_unique<FakeRecording>(backend_, std::move(recording)));
  }

 private:
  FakeBackend& backend_;
  HostRecorder inner_;
};

Result<std::unique_ptr<Recorder>> FakeBackend::record() {
  OPKIT_TRY(note("record"));
  return std::unique_ptr<Recorder>(std::make_unique<FakeRecorder>(*this));
}

FakeBackend::FakeBackend() : HostBackend("fake") {
  raster_ = hostRasterCreator([](Backend& backend) -> ThreadPool& { return static_cast<FakeBackend&>(backend).pool_; });
  convert_.supports = [](const CreateArgs&) { return Status::ok(); };
  convert_.create = [](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
    return std::unique_ptr<Execution>(std::make_unique<Conversion>(static_cast<FakeBackend&>(backend)));
  };
}

struct Habits {
  size_t scratchBytes = 0;
  bool readsSecond = true;
  int refusals = 0;  // of the next resizes
};

/// y = first + second, in the layout of y. With scratch memory it adds there.
class Sum final : public Execution {
 public:
  Sum(FakeBackend& backend, Habits habits) : backend_(backend), habits_(habits) {}
  Result<size_t> scratchBytes(TensorList, TensorList) override { return habits_.scratchBytes; }
  bool readsInput(size_t index) const override { return index != 1 || habits_.readsSecond; }
  Status onResize(TensorList inputs, TensorList outputs) override {
    if (habits_.refusals-- > 0) return Status::unsupported("sum: not today");
    layouts = nameOf(inputs[0]->layout);
    if (inputs.size() > 1 && inputs[1]) layouts += fmt::format(" {}", nameOf(inputs[1]->layout));
    return backend_.note("plan sum of {} with {} bytes", outputs[0]->desc.toString(), scratch().desc.sizeBytes());
  }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    const std::span<float> y = outputs[0]->data<float>();
    float* sums = habits_.scratchBytes > 0 ? reinterpret_cast<float*>(scratch().bytes().data()) : y.data();
    for (size_t i = 0; i < y.size(); ++i) {
      sums[i] = inputs[0]->data<float>()[i];
      if (inputs.size() > 1 && inputs[1] && inputs[1]->buffer) sums[i] += inputs[1]->data<float>()[i];
      y[i] = sums[i];
    }
    return Status::ok();
  }

  std::string layouts;  // of the inputs

 private:
  FakeBackend& backend_;
  Habits habits_;
};

Tensor floats(const Shape& shape, float first) {
  const Tensor tensor = *Tensor::onHost({DType::Float32, shape});
  for (float& value : tensor.data<float>()) value = first++;
  return tensor;
}

Floats valuesOf(const Tensor& tensor) { return {tensor.data<float>().begin(), tensor.data<float>().end()}; }

/// A Sum of two tensors f32[1,3,2].
class OpRunnerTest : public ::testing::Test {
 protected:
  OpRunner& make(Layout layout, const Habits& habits = {}, const OpRunnerOptions& options = {}) {
    auto sum = std::make_unique<Sum>(backend_, habits);
    sum_ = sum.get();
    runner_.emplace(backend_, std::move(sum), layout, options);
    return *runner_;
  }
  Status placeAndResize(TensorList contents = {}) {
    OPKIT_TRY(runner_->place(inputs_, {&desc_, 1}, contents));
    for (size_t i = 0; i < 2; ++i)
      if (runner_->reads(i)) OPKIT_TRY(runner_->upload(i, floats(desc_.shape, i == 0 ? 1.0f : 10.0f)));
    return runner_->resize();
  }
  Floats run() {
    EXPECT_TRUE(runner_->run().isOk());
    const Tensor host = *Tensor::onHost(desc_);
    EXPECT_TRUE(runner_->download(0, host).isOk());
    return valuesOf(host);
  }

  FakeBackend backend_;
  TensorDesc desc_{DType::Float32, {1, 3, 2}};
  std::vector<const TensorDesc*> inputs_{&desc_, &desc_};
  std::optional<OpRunner> runner_;
  Sum* sum_ = nullptr;
};

TEST_F(OpRunnerTest, RunsInTheOrderOfAPipeline) {
  make(Layout::NCHW);
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(backend_.takeEvents(), (Events{"record", "plan sum of f32[1,3,2] with 0 bytes", "finish"}));
  EXPECT_EQ(run(), (Floats{11, 13, 15, 17, 19, 21}));
  EXPECT_EQ(backend_.takeEvents(), Events{"run"});
}

TEST_F(OpRunnerTest, ConvertsToTheLayoutOfTheKernel) {
  make(Layout::NC4HW4);
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(sum_->layouts, "NC4HW4 NC4HW4");
  EXPECT_EQ(backend_.takeEvents(), (Events{"record", "plan NCHW to NC4HW4", "plan NCHW to NC4HW4",
                                           "plan sum of f32[1,3,2] with 0 bytes", "finish"}));
  EXPECT_EQ(run(), (Floats{11, 13, 15, 17, 19, 21}));
}

TEST_F(OpRunnerTest, KnownInputsStayPlain) {
  make(Layout::NC4HW4);
  const Tensor known = floats(desc_.shape, 10);
  const Tensor* const contents[] = {nullptr, &known};
  ASSERT_TRUE(placeAndResize(contents).isOk());
  EXPECT_EQ(sum_->layouts, "NC4HW4 NCHW");
}

TEST_F(OpRunnerTest, OutputsBeginWithWhatIsUploaded) {
  class Idle final : public Execution {
    Status onResize(TensorList, TensorList) override { return Status::ok(); }
    Status onExecute(TensorList, TensorList) override { return Status::ok(); }
  };
  for (const Layout layout : {Layout::NCHW, Layout::NC4HW4}) {
    runner_.emplace(backend_, std::make_unique<Idle>(), layout);
    ASSERT_TRUE(runner_->place({}, {&desc_, 1}).isOk());
    ASSERT_TRUE(runner_->uploadOutput(0, floats(desc_.shape, 3)).isOk());
    ASSERT_TRUE(runner_->uploadOutput(0, floats(desc_.shape, 4)).isOk());
    EXPECT_EQ(runner_->outputs()[0]->layout, layout);
    ASSERT_TRUE(runner_->resize().isOk());
    EXPECT_EQ(run(), (Floats{4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(backend_.liveBuffers(), layout == Layout::NCHW ? 1u : 2u) << "one plain tensor for both";
  }
}

TEST_F(OpRunnerTest, StoresTensorsAsTheBackendDoes) {
  desc_.dtype = DType::Float64;
  make(Layout::NCHW);
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(runner_->inputs()[0]->desc.dtype, DType::Float32);
  EXPECT_EQ(runner_->outputs()[0]->desc.dtype, DType::Float32);
}

TEST_F(OpRunnerTest, GivesScratchMemory) {
  make(Layout::NCHW, {.scratchBytes = 24});
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(backend_.takeEvents()[1], "plan sum of f32[1,3,2] with 24 bytes");
  EXPECT_EQ(backend_.liveBuffers(), 4u);
  EXPECT_EQ(run(), (Floats{11, 13, 15, 17, 19, 21}));
}

TEST_F(OpRunnerTest, RunsAgainWithOtherInputsAndAllocatesNothing) {
  for (const Layout layout : {Layout::NCHW, Layout::NC4HW4}) {
    make(layout);
    ASSERT_TRUE(placeAndResize().isOk());
    const uint64_t allocations = backend_.counters().allocations;
    run();
    ASSERT_TRUE(runner_->upload(0, floats(desc_.shape, 100)).isOk());
    EXPECT_EQ(run(), (Floats{110, 112, 114, 116, 118, 120}));
    EXPECT_EQ(backend_.counters().allocations, allocations);
  }
}

TEST_F(OpRunnerTest, ItsExecutionTakesOtherShapes) {
  make(Layout::NCHW);
  ASSERT_TRUE(placeAndResize().isOk());
  desc_.shape = {2};
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(run(), (Floats{11, 13}));
  EXPECT_EQ(backend_.liveBuffers(), 3u) << "of the new shape alone";
}

TEST_F(OpRunnerTest, AnErrorAtResizeLeavesNothing) {
  make(Layout::NC4HW4, {.scratchBytes = 32, .refusals = 1});
  EXPECT_EQ(placeAndResize().message(), "sum: not today");
  EXPECT_EQ(backend_.liveBuffers(), 0u);
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(run(), (Floats{11, 13, 15, 17, 19, 21}));
}

TEST_F(OpRunnerTest, RecordingsEndBeforeTheirMemory) {
  make(Layout::NCHW);
  ASSERT_TRUE(placeAndResize().isOk());
  backend_.takeEvents();
  runner_.reset();
  EXPECT_EQ(backend_.takeEvents(), Events{"drop, 3 buffers"});
  EXPECT_EQ(backend_.liveBuffers(), 0u);
}

TEST_F(OpRunnerTest, WhatIsNotReadHasNoMemory) {
  make(Layout::NCHW, {.readsSecond = false});
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_TRUE(runner_->reads(0));
  EXPECT_FALSE(runner_->reads(1));
  EXPECT_EQ(runner_->inputs()[1]->desc, desc_);
  EXPECT_EQ(backend_.liveBuffers(), 2u);
  inputs_[1] = nullptr;
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_FALSE(runner_->reads(1));
  EXPECT_EQ(runner_->inputs()[1], nullptr);
  EXPECT_EQ(run(), (Floats{1, 2, 3, 4, 5, 6}));
}

TEST_F(OpRunnerTest, TheOutputMayBeAnInput) {
  make(Layout::NCHW, {}, {.alias = 1});
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(runner_->outputs()[0], runner_->inputs()[1]);
  const TensorDesc other{DType::Float32, {7}};
  inputs_[1] = &other;
  EXPECT_EQ(placeAndResize().message(), "input 1 cannot become the output");
  inputs_[1] = nullptr;
  EXPECT_EQ(placeAndResize().message(), "input 1 cannot become the output");
}

TEST_F(OpRunnerTest, TensorsMayBePlacedElsewhere) {
  std::vector<std::string> placed;
  const auto place = [&](Tensor described) -> Result<Tensor> {
    placed.push_back(described.desc.toString());
    described.offsetBytes = 8;
    return onDevice(backend_, std::move(described));
  };
  make(Layout::NCHW, {}, {.place = place});
  ASSERT_TRUE(placeAndResize().isOk());
  EXPECT_EQ(placed.size(), 3u);
  EXPECT_EQ(runner_->outputs()[0]->buffer->sizeBytes(), 8 + desc_.sizeBytes());
  EXPECT_EQ(run(), (Floats{11, 13, 15, 17, 19, 21}));
}

TEST_F(OpRunnerTest, RunsTheRegionsOfALoweredOperator) {
  const TensorDesc turned{DType::Float32, {2, 3}};
  auto raster = *makeRaster(backend_, {{{0, 0, 0, {2, 3}, {1, 2}, {3, 1}}}}, {inputs_.data(), 1}, turned);
  OpRunner runner(backend_, std::move(raster));
  ASSERT_TRUE(runner.place({inputs_.data(), 1}, {&turned, 1}).isOk());
  ASSERT_TRUE(runner.upload(0, floats(desc_.shape, 1)).isOk());
  ASSERT_TRUE(runner.resize().isOk());
  ASSERT_TRUE(runner.run().isOk());
  const Tensor host = *Tensor::onHost(turned);
  ASSERT_TRUE(runner.download(0, host).isOk());
  EXPECT_EQ(valuesOf(host), (Floats{1, 3, 5, 2, 4, 6}));
}

TEST_F(OpRunnerTest, CallsShareASegment) {
  const Tensor x = floats({2}, 1), y = floats({2}, 0), z = floats({2}, 0);
  Sum first(backend_, {}), second(backend_, {.scratchBytes = 8});
  ASSERT_TRUE(resizeAndRun(backend_, {{&first, {&x, &x}, {&y}}, {&second, {&y, nullptr}, {&z}}}).isOk());
  EXPECT_EQ(backend_.takeEvents(), (Events{"record", "plan sum of f32[2] with 0 bytes",
                                           "plan sum of f32[2] with 8 bytes", "finish", "run", "drop, 1 buffers"}));
  EXPECT_EQ(valuesOf(z), (Floats{2, 4}));
}

TEST_F(OpRunnerTest, AskingWhetherItFitsLeavesNoTrace) {
  const OpDef def{.type = "Sum"};
  const CreateArgs args{def, {}, inputs_, {&desc_, 1}, {}, backend_.caps()};
  Sum sum(backend_, {.scratchBytes = 12});
  EXPECT_EQ(*planAlone(backend_, sum, args, Layout::NC4HW4, {}), 12u);
  EXPECT_EQ(backend_.counters().executionsCreated, 0u);
  EXPECT_EQ(backend_.counters().allocations, 0u);
  EXPECT_EQ(backend_.takeEvents(), Events{});
  backend_.unpacks = false;
  EXPECT_EQ(planAlone(backend_, sum, args, Layout::NC4HW4, {}).error().message(), "fake: images stay images");
  EXPECT_TRUE(planAlone(backend_, sum, args, Layout::NCHW, {}));
}

}  // namespace
}  // namespace opkit::op_runner_test
