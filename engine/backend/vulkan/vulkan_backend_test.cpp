#include "engine/backend/vulkan/vulkan_backend.h"

#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <numeric>
#include <string_view>
#include <thread>

#include "engine/backend/vulkan/testing/vulkan_fixture.h"
#include "engine/base/hostile_memory.h"

namespace opkit::vulkan {
namespace {

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// Random bytes survive the way to the device and back, in every dtype and at odd sizes.
void expectRoundTrips(Backend& backend) {
  std::mt19937 random(7);
  for (int value = 1; !isObject(static_cast<DType>(value)); ++value) {
    for (const int64_t count : {0, 1, 3, 1000}) {
      const TensorDesc desc{static_cast<DType>(value), {count}};
      const Tensor host = *Tensor::onHost(desc);
      for (std::byte& byte : host.bytes()) byte = static_cast<std::byte>(random());
      Tensor device{desc, *backend.allocate(backend.alignment() + desc.sizeBytes()), backend.alignment(), 0};
      EXPECT_OK(backend.upload(host, device));
      const Tensor back = *Tensor::onHost(desc);
      EXPECT_OK(backend.download(device, back));
      EXPECT_EQ(std::memcmp(host.bytes().data(), back.bytes().data(), desc.sizeBytes()), 0) << desc.toString();
    }
  }
}

TEST_F(VulkanTest, TensorsOfEveryDTypeSurviveARoundTrip) { expectRoundTrips(*makeBackend()); }

TEST_F(VulkanTest, StagedTransfersSurviveARoundTrip) {
  runtime_.reset();
  setenv("OPKIT_VULKAN_STAGING", "1", 1);
  runtime_ = *createRuntime({.device = "", .validation = OPKIT_VALIDATION_TESTS ? Validation::Core : Validation::Off});
  unsetenv("OPKIT_VULKAN_STAGING");
  const auto backend = makeBackend({.precision = Precision::Normal});
  EXPECT_EQ((*backend->allocate(16))->hostData(), nullptr);
  expectRoundTrips(*backend);
  // More than one staging buffer's worth, with conversion on the way.
  const std::vector<float> values = ramp((size_t{5} << 20) * 2);
  const Tensor large = upload(*backend, {DType::Float32, {static_cast<int64_t>(values.size())}}, values);
  const std::vector<float> back = download<float>(*backend, large, DType::Float32);
  EXPECT_EQ(back[1000], values[1000]);
  EXPECT_EQ(back.back(), INFINITY);
  EXPECT_EQ(back[2047], 2048.0f);
}

TEST_F(VulkanTest, BackendsOfOneSessionStageThroughOneBuffer) {
  runtime_.reset();
  setenv("OPKIT_VULKAN_STAGING", "1", 1);
  runtime_ = *createRuntime({.device = "", .validation = OPKIT_VALIDATION_TESTS ? Validation::Core : Validation::Off});
  unsetenv("OPKIT_VULKAN_STAGING");
  const auto usedBytes = [this] {
    return dynamic_cast<VulkanRuntime&>(*runtime_).vulkanDevice()->memory().statistics().usedBytes;
  };
  const BackendConfig config{.share = std::make_shared<BackendShare>()};
  const auto first = makeBackend(config);
  const size_t one = usedBytes();
  EXPECT_GT(one, 0u);
  std::vector<std::unique_ptr<Backend>> others;
  for (int i = 0; i < 40; ++i) others.push_back(makeBackend(config));
  EXPECT_EQ(usedBytes(), one);
  std::vector<std::thread> threads;  // parts that another thread prepares
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { expectRoundTrips(*others[static_cast<size_t>(i)]); });
  for (std::thread& thread : threads) thread.join();
}

/// Two sessions on one device: the second one's compiler is stopped in the middle.
TEST_F(VulkanTest, ARunDoesNotWaitForTheCompilerOfAnotherSession) {
  const auto runs = makeBackend(), compiles = makeBackend();
  const TensorDesc desc{DType::Float32, {8}};
  const Tensor x = upload(*runs, desc, std::vector<float>(8, 1.0f)), y = makeTensor(*runs, desc);
  AffineExecution affine(*runs, 1, 5);
  const std::vector<OpCall> steps{{&affine, {&x}, {&y}}};
  const auto recording = *recordCalls(*runs, steps);
  ASSERT_TRUE(recording->run().isOk());

  std::promise<void> began, goOn;
  Faults& faults = dynamic_cast<VulkanRuntime&>(*runtime_).vulkanDevice()->faults();
  faults.beforeCreation([&, once = std::make_shared<std::once_flag>()](const char* what) {
    if (std::string_view(what) != "creating a pipeline") return;
    std::call_once(*once, [&] {
      began.set_value();
      goOn.get_future().wait();
    });
  });
  std::thread compiler([&] {
    const Tensor a = upload(*compiles, desc, std::vector<float>(8, 1.0f)), b = makeTensor(*compiles, desc);
    AffineExecution other(*compiles, 1, 7);
    EXPECT_OK(resizeAndRun(*compiles, {{&other, {&a}, {&b}}}));
  });
  began.get_future().wait();
  std::future<Status> ran = std::async(std::launch::async, [&]() -> Status {
    OPKIT_TRY(runs->upload(*Tensor::fromValues(desc, std::vector<float>(8, 2.0f)), x));
    return recording->run();
  });
  const bool waited = ran.wait_for(std::chrono::seconds(30)) != std::future_status::ready;
  goOn.set_value();
  compiler.join();
  EXPECT_FALSE(waited);
  EXPECT_OK(ran.get());
  EXPECT_EQ(download<float>(*runs, y, DType::Float32)[7], 11.0f);
  faults.beforeCreation(nullptr);
}

TEST_F(VulkanTest, ThreadsThatWantOnePipelineMakeItOnce) {
  std::vector<std::unique_ptr<Backend>> backends;
  for (int i = 0; i < 4; ++i) backends.push_back(makeBackend());
  std::vector<std::thread> threads;
  for (const auto& backend : backends) {
    threads.emplace_back([this, &backend = *backend] {
      const TensorDesc desc{DType::Float32, {8}};
      const Tensor x = upload(backend, desc, std::vector<float>(8, 1.0f)), y = makeTensor(backend, desc);
      AffineExecution affine(backend, 1, 9);
      EXPECT_OK(resizeAndRun(backend, {{&affine, {&x}, {&y}}}));
      EXPECT_EQ(download<float>(backend, y, DType::Float32)[7], 10.0f);
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t created = 0;
  for (const auto& backend : backends) created += backend->counters().pipelinesCreated;
  EXPECT_EQ(created, 1u);
}

TEST_F(VulkanTest, NormalPrecisionStoresFloatsAsHalves) {
  const auto backend = makeBackend({.precision = Precision::Normal});
  EXPECT_EQ(backend->storageDType(DType::Float32), DType::Float16);
  EXPECT_EQ(backend->storageDType(DType::Int32), DType::Int32);
  EXPECT_EQ(makeBackend()->storageDType(DType::Float32), DType::Float32);
  const Tensor device = upload(*backend, {DType::Float32, {3}}, std::vector<float>{1.0f, 2049.0f, -1e-8f});
  EXPECT_EQ(device.desc.dtype, DType::Float16);
  EXPECT_EQ(download<float>(*backend, device, DType::Float32), (std::vector<float>{1.0f, 2048.0f, -0.0f}));
}

TEST_F(VulkanTest, ATensorTooLargeForTheDeviceIsOutOfMemory) {
  const auto backend = makeBackend();
  const auto buffer = backend->allocate(size_t{1} << 62);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code(), StatusCode::OutOfMemory);
}

TEST_F(VulkanTest, AffineComputesInEveryStorage) {
  const auto backend = makeBackend();
  const auto expectAffine = [&](DType dtype, auto tag) {
    using T = decltype(tag);
    const int64_t count = 131;
    std::vector<T> x(count);
    std::vector<T> expected(count);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(i % 60);
      expected[i] = static_cast<T>(x[i] * 3 + 2);
    }
    const Tensor in = upload(*backend, {dtype, {count}}, x);
    const Tensor out = makeTensor(*backend, {dtype, {count}});
    AffineExecution affine(*backend, 2, 3);
    EXPECT_OK(resizeAndRun(*backend, {{&affine, {&in}, {&out}}}));
    EXPECT_EQ(download<T>(*backend, out, dtype), expected) << nameOf(dtype);
  };
  expectAffine(DType::Float32, float{});
  expectAffine(DType::Int32, int32_t{});
  expectAffine(DType::Int64, int64_t{});
  expectAffine(DType::UInt8, uint8_t{});
}

TEST_F(VulkanTest, HalvesRoundToNearestEven) {
  const auto backend = makeBackend({.precision = Precision::Normal});
  const TensorDesc desc{DType::Float32, {6}};
  const Tensor x = upload(*backend, desc, std::vector<float>{2047, 2049, 2051, 4097, 65504, -65504});
  const Tensor y = makeTensor(*backend, desc);
  AffineExecution affine(*backend, 2.0f);
  EXPECT_OK(resizeAndRun(*backend, {{&affine, {&x}, {&y}}}));
  // Inputs round on upload (2049 to 2048, 2051 to 2052, 4097 to 4096), sums on the device.
  EXPECT_EQ(download<float>(*backend, y, DType::Float32), (std::vector<float>{2048, 2050, 2054, 4096, 65504, -65504}));
}

/// A chain in which every step reads what the one before it wrote, through two buffers that take turns.
std::vector<float> runChain(Backend& backend, const Tensor& a, const Tensor& b, size_t length, bool alone = false,
                            std::vector<double>* times = nullptr) {
  std::vector<std::unique_ptr<AffineExecution>> executions;
  std::vector<OpCall> steps;
  for (size_t i = 0; i < length; ++i) {
    executions.push_back(std::make_unique<AffineExecution>(backend, static_cast<float>(i % 5), i % 7 == 0 ? 2 : 1));
    steps.push_back({executions.back().get(), {i % 2 == 0 ? &a : &b}, {i % 2 == 0 ? &b : &a}});
  }
  EXPECT_OK(runRecorded(backend, steps, alone, times));
  const Tensor host = *Tensor::onHost(a.desc);
  EXPECT_OK(backend.download(length % 2 == 0 ? a : b, host));
  return {host.data<float>().begin(), host.data<float>().end()};
}

std::vector<float> chainOnHost(std::vector<float> values, size_t length) {
  for (float& value : values)
    for (size_t i = 0; i < length; ++i) value = value * (i % 7 == 0 ? 2.0f : 1.0f) + static_cast<float>(i % 5);
  return values;
}

TEST_F(VulkanTest, ADependentChainIsRightTogetherAndAlone) {
  for (const bool alone : {false, true}) {
    const auto backend = makeBackend();
    const TensorDesc desc{DType::Float32, {5000}};
    const Tensor a = upload(*backend, desc, ramp(5000));
    const Tensor b = makeTensor(*backend, desc);
    EXPECT_EQ(runChain(*backend, a, b, 40, alone), chainOnHost(ramp(5000), 40));
    EXPECT_EQ(backend->counters().submits, alone ? 40u : 1u);
    EXPECT_EQ(backend->counters().dispatches, 40u);
  }
}

/// Synchronisation validation sees a missing barrier even if the device happens to run in order.
TEST_F(VulkanTest, BarriersSatisfySynchronisationValidation) {
  runtime_.reset();
  setenv("OPKIT_VALIDATION", "sync", 1);
  runtime_ = *createRuntime({});
  unsetenv("OPKIT_VALIDATION");
  const auto backend = makeBackend();
  const TensorDesc desc{DType::Float32, {100}};
  const Tensor a = upload(*backend, desc, ramp(100));
  const Tensor b = makeTensor(*backend, desc);
  EXPECT_EQ(runChain(*backend, a, b, 6), chainOnHost(ramp(100), 6));
}

TEST_F(VulkanTest, ResultsFollowNewInputsWithoutAResize) {
  const auto backend = makeBackend();
  const TensorDesc desc{DType::Float32, {10}};
  const Tensor x = upload(*backend, desc, ramp(10));
  const Tensor y = makeTensor(*backend, desc);
  AffineExecution affine(*backend, 1);
  const std::vector<OpCall> steps{{&affine, {&x}, {&y}}};
  const auto recording = *recordCalls(*backend, steps);
  EXPECT_OK(recording->run());
  EXPECT_OK(backend->upload(*Tensor::fromValues(desc, std::vector<float>(10, 5.0f)), x));
  const BackendCounters before = backend->counters();
  EXPECT_OK(recording->run());
  EXPECT_EQ(download<float>(*backend, y, DType::Float32), std::vector<float>(10, 6.0f));
  EXPECT_EQ(backend->counters().allocations, before.allocations);
  EXPECT_EQ(backend->counters().pipelinesCreated, before.pipelinesCreated);
}

TEST_F(VulkanTest, AnExecutionIsRecordedAgainForOtherShapes) {
  const auto backend = makeBackend();
  AffineExecution affine(*backend, 1);
  for (const size_t count : {10, 3000, 1, 10}) {
    const TensorDesc desc{DType::Float32, {static_cast<int64_t>(count)}};
    const Tensor x = upload(*backend, desc, ramp(count));
    const Tensor y = makeTensor(*backend, desc);
    EXPECT_OK(resizeAndRun(*backend, {{&affine, {&x}, {&y}}}));
    EXPECT_EQ(download<float>(*backend, y, DType::Float32).back(), static_cast<float>(count + 1));
  }
  EXPECT_EQ(backend->counters().pipelinesCreated, 1u);
}

TEST_F(VulkanTest, RecordingsAreSubmittedSeparately) {
  const auto backend = makeBackend();
  const TensorDesc desc{DType::Float32, {8}};
  const Tensor x = upload(*backend, desc, ramp(8));
  const Tensor y = makeTensor(*backend, desc);
  const Tensor z = makeTensor(*backend, desc);
  AffineExecution first(*backend, 1);
  AffineExecution second(*backend, 10);
  const std::vector<OpCall> calls{{&first, {&x}, {&y}}, {&second, {&y}, {&z}}};
  EXPECT_OK(runRecorded(*backend, calls, true));
  EXPECT_EQ(download<float>(*backend, z, DType::Float32).front(), 12.0f);
  EXPECT_EQ(backend->counters().submits, 2u);
}

TEST_F(VulkanTest, SessionsShareThePipelinesOfARuntime) {
  const TensorDesc desc{DType::Float32, {8}};
  uint64_t created[2];
  for (uint64_t& count : created) {
    const auto backend = makeBackend();
    const Tensor x = upload(*backend, desc, ramp(8));
    const Tensor y = makeTensor(*backend, desc);
    AffineExecution first(*backend, 1, 1);
    AffineExecution sameShader(*backend, 2, 1);
    AffineExecution otherConstant(*backend, 2, 2);
    EXPECT_OK(resizeAndRun(*backend, {{&first, {&x}, {&y}}, {&sameShader, {&x}, {&y}}, {&otherConstant, {&x}, {&y}}}));
    count = backend->counters().pipelinesCreated;
  }
  EXPECT_EQ(created[0], 2u);
  EXPECT_EQ(created[1], 0u);
}

TEST_F(VulkanTest, EveryExecutionIsTimedTogetherAndAlone) {
  for (const bool alone : {false, true}) {
    const auto backend = makeBackend({.deviceTimestamps = true});
    const TensorDesc desc{DType::Float32, {100000}};
    const Tensor a = upload(*backend, desc, ramp(100000));
    const Tensor b = makeTensor(*backend, desc);
    std::vector<double> times;
    runChain(*backend, a, b, 70, alone, &times);  // more than one query pool
    ASSERT_EQ(times.size(), 70u);
    for (const double ns : times) EXPECT_GT(ns, 0.0);
  }
}

TEST_F(VulkanTest, TimesBeforeTheFirstRunAreAnError) {
  const auto backend = makeBackend({.deviceTimestamps = true});
  std::vector<double> times;
  EXPECT_EQ((*recordCalls(*backend, {}))->appendTimesNs(times).code(), StatusCode::InvalidArgument);
}

TEST_F(VulkanTest, MisuseIsAStatus) {
  const auto backend = makeBackend();
  const Tensor host = *Tensor::onHost({DType::Float32, {4}});
  const Tensor device = makeTensor(*backend, {DType::Float32, {4}});
  AffineExecution affine(*backend, 1);
  const Tensor* in = &host;
  const Tensor* out = &device;
  EXPECT_EQ(affine.onResize({&in, 1}, {&out, 1}).message(), "vulkan: onResize outside of a Recorder");
  const auto recorder = *backend->record();
  EXPECT_EQ(recorder->add(affine, {&in, 1}, {&out, 1}).message(),
            "vulkan: testing/affine STORAGE=f32: tensor f32[4] is not on the device");
  EXPECT_EQ(affine.onResize({&in, 1}, {&out, 1}).message(), "vulkan: onResize outside of a Recorder");
  EXPECT_EQ(affine.onExecute({&in, 1}, {&out, 1}).message(), "vulkan: a Recording runs the commands of onResize");
}

/// Uses scratch memory and fillZero: y = x + 0 through a zeroed scratch tensor's neighbour.
class ScratchExecution final : public VulkanExecution {
 public:
  using VulkanExecution::VulkanExecution;
  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    using Shader = shaders::Affine;
    OPKIT_ASSIGN(const Tensor* middle, encoder.scratch(outputs[0]->desc));
    OPKIT_TRY(encoder.fillZero(*outputs[0]));
    const auto count = static_cast<uint32_t>(outputs[0]->desc.elements());
    const Shader::Variant variant{*Shader::storageOf(outputs[0]->desc.dtype)};
    OPKIT_TRY(
        encoder.dispatch<Shader>(variant, {.x = inputs[0], .y = middle}, {.count = count, .amount = 3}, Items{count}));
    // All but the last element, which keeps the zero of fillZero.
    return encoder.dispatch<Shader>(variant, {.x = middle, .y = outputs[0]}, {.count = count - 1, .amount = 0},
                                    Items{count});
  }
};

TEST_F(VulkanTest, RecordingsStandSideBySide) {
  const auto backend = makeBackend();
  const TensorDesc desc{DType::Float32, {8}};
  const Tensor x = upload(*backend, desc, ramp(8));
  const Tensor y = makeTensor(*backend, desc);
  AffineExecution one(*backend, 1), two(*backend, 2);
  const auto first = *recordCalls(*backend, {{&one, {&x}, {&y}}});
  auto second = *recordCalls(*backend, {{&two, {&x}, {&y}}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(second->run());
    EXPECT_EQ(download<float>(*backend, y, DType::Float32).front(), 3.0f);
    EXPECT_OK(first->run());
    EXPECT_EQ(download<float>(*backend, y, DType::Float32).front(), 2.0f);
  }
  second.reset();
  EXPECT_OK(backend->upload(*Tensor::fromValues(desc, std::vector<float>(8, 5.0f)), x));
  EXPECT_OK(first->run());
  EXPECT_EQ(download<float>(*backend, y, DType::Float32).front(), 6.0f);
}

TEST_F(VulkanTest, FillZeroFillsExactlyAndScratchIsMeasured) {
  const auto backend = makeBackend();
  ScratchExecution execution(*backend);
  for (const int64_t count : {9, 7, 5}) {
    const TensorDesc desc{DType::UInt8, {count}};
    const Tensor x = upload(*backend, desc, std::vector<uint8_t>(static_cast<size_t>(count), 4));
    Tensor y = makeTensor(*backend, {DType::UInt8, {64}});
    std::fill_n(y.buffer->hostData(), 64, std::byte{0xFF});
    y.desc = desc;
    const Tensor* in = &x;
    const Tensor* out = &y;
    EXPECT_EQ(*execution.scratchBytes({&in, 1}, {&out, 1}), backend->alignment());
    EXPECT_OK(resizeAndRun(*backend, {{&execution, {&x}, {&y}}}));
    std::vector<std::byte> expected(64, std::byte{0xFF});
    std::fill_n(expected.begin(), count, std::byte{7});
    expected[static_cast<size_t>(count) - 1] = std::byte{0};
    EXPECT_EQ(std::vector<std::byte>(y.buffer->hostData(), y.buffer->hostData() + 64), expected);
  }
}

TEST_F(VulkanTest, StoresPastTheEndLandInTheGuard) {
  const auto backend = makeBackend();
  const Tensor x = upload(*backend, {DType::Float32, {8}}, ramp(8));
  Tensor y = makeTensor(*backend, {DType::Float32, {8}});
  std::fill_n(y.buffer->hostData(), 32, std::byte{0});
  y.desc.shape = {4};
  y.guardBytes = 16;
  // A kernel that takes the element count from the wrong tensor.
  class Broken final : public VulkanExecution {
   public:
    using VulkanExecution::VulkanExecution;
    Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
      using Shader = shaders::Affine;
      return encoder.dispatch<Shader>({Shader::Storage::F32}, {.x = inputs[0], .y = outputs[0]},
                                      {.count = 8, .amount = 0}, Items{8});
    }
  } broken(*backend);
  EXPECT_OK(resizeAndRun(*backend, {{&broken, {&x}, {&y}}}));
  y.desc.shape = {8};
  EXPECT_EQ(y.data<float>()[7], 8.0f);
}

/// Writes eight elements into scratch memory for four.
class OverrunsScratch final : public VulkanExecution {
 public:
  using VulkanExecution::VulkanExecution;
  Status onEncode(TensorList inputs, TensorList, Encoder& encoder) override {
    using Shader = shaders::Affine;
    OPKIT_ASSIGN(const Tensor* part, encoder.scratch({DType::Float32, {4}}));
    Tensor larger = *part;
    larger.desc.shape = {8};
    return encoder.dispatch<Shader>({Shader::Storage::F32}, {.x = inputs[0], .y = &larger}, {.count = 8, .amount = 0},
                                    Items{8});
  }
};

TEST_F(VulkanTest, ARecordingSeesWritesBehindScratchMemory) {
  const auto backend = makeBackend({.guardBytes = 64});
  const Tensor x = upload(*backend, {DType::Float32, {8}}, ramp(8)), y = makeTensor(*backend, {DType::Float32, {8}});
  const Tensor *in = &x, *out = &y;
  OverrunsScratch execution(*backend);
  const size_t bytes = *execution.scratchBytes({&in, 1}, {&out, 1});
  const Tensor scratch{{DType::UInt8, {static_cast<int64_t>(bytes)}}, *backend->allocate(bytes)};
  std::ranges::fill(scratch.bytes(), std::byte{0xFF});  // as an arena does
  execution.setScratch(scratch);
  const auto recorder = *backend->record();
  EXPECT_OK(recorder->add(execution, {&in, 1}, {&out, 1}));
  const auto recording = *recorder->finish();
  EXPECT_OK(recording->checkGuards());
  EXPECT_OK(recording->run());
  EXPECT_NE(recording->checkGuards().message().find("past the end of a part of its scratch memory"), std::string::npos);
}

TEST_F(VulkanTest, ARecordingSeesWritesAroundPackedConstants) {
  const auto backend = makeBackend({.guardBytes = 64});
  const Tensor constant = *Tensor::fromValues({DType::Float32, {4}}, ramp(4));
  const auto packed = *packConstant(*backend, constant, "as it is", [&]() -> Result<Tensor> { return constant; });
  const auto recording = *recordCalls(*backend, {});
  EXPECT_OK(recording->checkGuards());
  packed->buffer->hostData()[packed->offsetBytes - 1] = std::byte{0};
  EXPECT_NE(recording->checkGuards().message().find("before the packed constant f32[4]"), std::string::npos);
}

template <class B>
concept GivesItsHandle = requires(const B& buffer) {
  buffer.handle();
}
|| requires(const B& buffer) { buffer.handle_; };
template <class B>
concept CanBeHeld = requires(HeldBuffers& held, B buffer) {
  held.hold(buffer);
};

// A recording must keep a buffer to get its handle.
static_assert(!GivesItsHandle<VulkanBuffer>);
static_assert(!CanBeHeld<const VulkanBuffer*> && !CanBeHeld<VulkanBuffer*> && !CanBeHeld<VkBuffer>);
static_assert(!CanBeHeld<std::reference_wrapper<const VulkanBuffer>> && !CanBeHeld<std::weak_ptr<VulkanBuffer>>);
static_assert(CanBeHeld<std::shared_ptr<VulkanBuffer>> && CanBeHeld<std::shared_ptr<const VulkanBuffer>>);

/// y = the constant + 1, or the constant. Nobody keeps what packConstant returned.
class ForgetsItsConstant final : public VulkanExecution {
 public:
  ForgetsItsConstant(Backend& backend, Tensor constant, bool copies)
      : VulkanExecution(backend), backend_(backend), constant_(std::move(constant)), copies_(copies) {}

  Status onEncode(TensorList, TensorList outputs, Encoder& encoder) override {
    using Shader = shaders::Affine;
    OPKIT_ASSIGN(const auto packed,
                 packConstant(backend_, constant_, "forgotten", [&]() -> Result<Tensor> { return constant_; }));
    if (copies_) {
      const ByteRun all{0, 0, packed->sizeBytes()};
      return encoder.copyRuns(*packed, *outputs[0], {&all, 1});
    }
    const auto count = static_cast<uint32_t>(constant_.desc.elements());
    return encoder.dispatch<Shader>({*Shader::storageOf(DType::Float32)}, {.x = packed.get(), .y = outputs[0]},
                                    {.count = count, .amount = 1}, Items{count}, {.factor = 1});
  }

 private:
  Backend& backend_;
  Tensor constant_;
  bool copies_;
};

TEST_F(VulkanTest, ARecordingKeepsWhatItBinds) {
  const HostileMemory hostile;
  for (const bool copies : {false, true}) {
    const auto backend = makeBackend();
    const TensorDesc desc{DType::Float32, {1000}};
    ForgetsItsConstant execution(*backend, *Tensor::fromValues(desc, ramp(1000)), copies);
    const Tensor y = makeTensor(*backend, desc);
    const auto recording = *recordCalls(*backend, {{&execution, {}, {&y}}});
    const size_t held = backend->constants().bytes();
    backend->constants().dropUnused();
    EXPECT_EQ(backend->constants().bytes(), held) << "a buffer that a recording holds still counts";
    EXPECT_OK(recording->run());
    EXPECT_EQ(download<float>(*backend, y, DType::Float32)[998], copies ? 999.0f : 1000.0f);
  }
}

TEST_F(VulkanTest, ConstantsGoWithTheLastRecording) {
  const auto backend = makeBackend();
  const TensorDesc desc{DType::Float32, {1000}};
  ForgetsItsConstant execution(*backend, *Tensor::fromValues(desc, ramp(1000)), false);
  const Tensor y = makeTensor(*backend, desc);
  auto recording = *recordCalls(*backend, {{&execution, {}, {&y}}});
  recording.reset();
  backend->constants().dropUnused();
  EXPECT_EQ(backend->constants().bytes(), 0u);
}

TEST_F(VulkanTest, HostileMemoryOverwritesWhatIsFreed) {
  const auto backend = makeBackend();
  const HostileMemory hostile;
  const auto neighbour = *backend->allocate(4096);  // keeps the block of both
  auto buffer = *backend->allocate(4096);
  std::byte* bytes = buffer->hostData();
  if (!bytes) GTEST_SKIP() << "the host does not see the device's memory";
  std::fill_n(bytes, 4096, std::byte{1});
  buffer.reset();
  EXPECT_EQ(std::count(bytes, bytes + 4096, std::byte{0xFF}), 4096);
}

TEST_F(VulkanTest, ARecordingSeesWritesAroundImages) {
  const auto backend = makeBackend({.storage = Storage::Image, .guardBytes = 64});
  const TensorDesc desc{DType::Float32, {1, 3, 2, 2}};
  const Tensor x = upload(*backend, desc, ramp(12));
  const Tensor image = *onDevice(*backend, {desc, nullptr, 0, 0, Layout::NC4HW4});
  const Tensor host = *Tensor::onHost(desc);
  EXPECT_EQ(backend->download(image, host).message(), "vulkan: an image is read before a run wrote it");
  const auto pack = *makeConversion(*backend, desc);
  const auto recording = *recordCalls(*backend, {{pack.get(), {&x}, {&image}}});
  EXPECT_OK(recording->run());
  EXPECT_OK(backend->download(image, host));
  EXPECT_EQ(std::vector<float>(host.data<float>().begin(), host.data<float>().end()), ramp(12));
  EXPECT_OK(recording->checkGuards());
  std::fill_n(image.buffer->hostData(), image.buffer->sizeBytes(), std::byte{0});
  EXPECT_FALSE(recording->checkGuards().isOk());
}

TEST_F(VulkanTest, SessionsOnTwoThreadsDoNotDisturbEachOther) {
  const std::vector<float> expected = chainOnHost(ramp(3000), 25);
  std::vector<float> results[2];
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&, backend = std::shared_ptr<Backend>(makeBackend())] {
      const TensorDesc desc{DType::Float32, {3000}};
      for (int repeat = 0; repeat < 5; ++repeat) {
        const Tensor a = upload(*backend, desc, ramp(3000));
        const Tensor b = makeTensor(*backend, desc);
        result = runChain(*backend, a, b, 25);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results[0], expected);
  EXPECT_EQ(results[1], expected);
}

TEST(Groups, LinearCoversTheCountWithinTheLimits) {
  EXPECT_EQ(Groups::linear(0, 64).x, 0u);
  for (const int64_t count : {int64_t{1}, int64_t{64}, int64_t{65}, int64_t{64} * 65535, int64_t{64} * 65535 + 1,
                              int64_t{1} << 31, int64_t{1} << 39}) {
    const Groups groups = Groups::linear(count, 64);
    EXPECT_LE(groups.x, 65535u);
    EXPECT_LE(groups.y, 65535u);
    EXPECT_LE(groups.z, 65535u);
    EXPECT_GE(int64_t{groups.x} * groups.y * groups.z * 64, count);
    EXPECT_LE(int64_t{groups.x} * groups.y * groups.z * 64, count + count / 8 + 64 * 65535);
  }
}

}  // namespace
}  // namespace opkit::vulkan
