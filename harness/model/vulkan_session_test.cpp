// Whole networks on Vulkan in the modes of a session: recordings, storage, failures, tuning.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/runtime/session.h"
#include "harness/zoo/load_model.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// A small network that is quick to resize, and a way to run it.
class VulkanSessionTest : public testing::Test {
 protected:
  static std::shared_ptr<Interpreter> load(const std::string& name) {
    auto model = loadModel(name);
    EXPECT_TRUE(model) << model.error().message();
    return *Interpreter::create(*std::move(model), ops::builtinOps());
  }
  static std::shared_ptr<Interpreter> transformer() { return load("zoo:transformer"); }

  static Status prepare(Session& session) {
    for (const std::string& name : session.inputNames()) {
      Shape shape = session.input(name)->desc.shape;
      if (shape.size() == 3) shape = {1, 4, shape[2]};
      OPKIT_TRY(session.resizeInput(name, shape));
      fill(*session.fillInput(name));
    }
    return session.resize();
  }
  static void fill(const Tensor& tensor) {
    size_t i = 0;
    for (float& value : tensor.data<float>()) value = std::sin(static_cast<float>(++i));
  }
  static std::vector<float> result(const Session& session) {
    const auto values = session.output(session.outputNames().front())->data<float>();
    return {values.begin(), values.end()};
  }
  /// The output of one run; empty, with a test failure, on an error.
  static std::vector<float> runOnce(const std::shared_ptr<Interpreter>& interpreter, const SessionConfig& config) {
    auto session = interpreter->createSession(config);
    EXPECT_TRUE(session) << session.error().message();
    if (!session) return {};
    Status status = prepare(**session);
    if (status.isOk()) status = (*session)->run();
    EXPECT_TRUE(status.isOk()) << status.message();
    return status.isOk() ? result(**session) : std::vector<float>();
  }
  static void expectClose(const std::vector<float>& actual, const std::vector<float>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    float scale = 0;
    for (const float value : expected) scale = std::max(scale, std::abs(value));
    ASSERT_GT(scale, 0.0f);
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-3f * scale) << i;
  }
};

TEST_F(VulkanSessionTest, IndirectAndDirectRecordingGiveTheSameBits) {
  for (const char* name : {"zoo:transformer", "zoo:squeezenet"}) {
    const auto interpreter = load(name);
    for (const Storage storage : {Storage::Buffer, Storage::Image}) {
      SessionConfig config{.backend = "vulkan", .storage = storage};
      const std::vector<float> indirect = runOnce(interpreter, config);
      config.record = RecordMode::Direct;
      const std::vector<float> direct = runOnce(interpreter, config);
      ASSERT_FALSE(indirect.empty());
      EXPECT_EQ(indirect, direct) << name;
    }
  }
}

// The plan was recorded in whole segments, and holds other inputs' values, when the callbacks come.
TEST_F(VulkanSessionTest, CallbacksSeeEachCommandInBothModes) {
  const auto interpreter = transformer();
  const auto seenIn = [&](RecordMode record) {
    auto session = *interpreter->createSession({.backend = "vulkan", .record = record});
    EXPECT_TRUE(prepare(*session).isOk() && session->run().isOk());
    for (float& value : session->fillInput(session->inputNames().front())->data<float>()) value *= -2;
    std::vector<std::vector<float>> seen;
    const auto ran = session->runWithCallback({}, [&](const CommandInfo& command) {
      const auto output = *command.readOutput(0);
      if (output.desc.dtype == DType::Float32)
        seen.emplace_back(output.data<float>().begin(), output.data<float>().end());
      return true;
    });
    EXPECT_TRUE(ran && *ran);
    EXPECT_TRUE(session->run().isOk());
    seen.push_back(result(*session));
    return seen;
  };
  const auto together = seenIn(RecordMode::Indirect);
  EXPECT_GT(together.size(), 20u);
  EXPECT_EQ(together, seenIn(RecordMode::Direct));
}

TEST_F(VulkanSessionTest, AfterARefusedRecordingThePlanRunsAgain) {
  const auto interpreter = transformer();
  const auto runtime = *createRuntime("vulkan");
  auto session = *interpreter->createSession({.backend = "vulkan"}, runtime);
  ASSERT_TRUE(prepare(*session).isOk() && session->run().isOk());
  const std::vector<float> before = result(*session);
  for (float& value : session->fillInput(session->inputNames().front())->data<float>()) value *= -2;
  vulkan::Faults& faults = static_cast<vulkan::VulkanRuntime&>(*runtime).vulkanDevice()->faults();
  faults.failCreationAfter(0);
  const auto ran = session->runWithCallback({}, [](const CommandInfo&) { return true; });
  faults.clear();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code(), StatusCode::OutOfMemory) << ran.error().message();
  const auto again = session->runWithCallback({}, [](const CommandInfo&) { return true; });
  ASSERT_TRUE(again && *again);
  const std::vector<float> after = result(*session);
  EXPECT_NE(after, before);
  ASSERT_TRUE(session->run().isOk());
  EXPECT_EQ(result(*session), after);
}

TEST_F(VulkanSessionTest, EveryKernelHasADeviceTime) {
  auto session = *transformer()->createSession({.backend = "vulkan", .profile = true});
  ASSERT_TRUE(prepare(*session).isOk() && session->run().isOk());
  size_t kernels = 0;
  for (const Placement& row : session->placement()) {
    if (row.backend != "vulkan" || row.type == "Copy") continue;
    ++kernels;
    EXPECT_GT(row.deviceNs, 0) << row.node;
  }
  EXPECT_GT(kernels, 20u);
}

// Each output in an image is converted after the last command; none may take the memory of another.
TEST_F(VulkanSessionTest, ManyOutputsInImagesKeepTheirValues) {
  auto model = loadModel("zoo:squeezenet");
  ASSERT_TRUE(model) << model.error().message();
  for (const auto& node : model->nodes)
    if (node.type == "Conv" && node.outputs[0] != model->outputs[0]) model->outputs.push_back(node.outputs[0]);
  const auto interpreter = *Interpreter::create(*std::move(model), ops::builtinOps());
  std::map<std::string, std::vector<float>> expected;
  for (const Storage storage : {Storage::Buffer, Storage::Image}) {
    auto session = *interpreter->createSession({.backend = "vulkan", .storage = storage});
    const std::string input = session->inputNames().front();
    ASSERT_TRUE(session->resizeInput(input, {1, 3, 64, 64}).isOk());
    fill(*session->fillInput(input));
    ASSERT_TRUE(session->run().isOk());
    ASSERT_GT(session->outputNames().size(), 20u);
    for (const std::string& name : session->outputNames()) {
      SCOPED_TRACE(name);
      const auto values = session->output(name)->data<float>();
      if (storage == Storage::Buffer)
        expected[name] = {values.begin(), values.end()};
      else
        expectClose({values.begin(), values.end()}, expected[name]);
    }
  }
}

TEST_F(VulkanSessionTest, ImagesAndBuffersAgreeAndImagesAreUsed) {
  for (const char* name : {"zoo:squeezenet", "zoo:mobilenet_v2"}) {
    const auto interpreter = load(name);
    const std::vector<float> buffers = runOnce(interpreter, {.backend = "vulkan", .storage = Storage::Buffer});
    const uint64_t messages = vulkan::validationMessageCount();
    auto session =
        *interpreter->createSession({.backend = "vulkan",
                                     .validation = OPKIT_VALIDATION_TESTS ? Validation::Sync : Validation::Off,
                                     .storage = Storage::Image});
    ASSERT_TRUE(prepare(*session).isOk());
    ASSERT_TRUE(session->run().isOk());
    expectClose(result(*session), buffers);
    EXPECT_EQ(vulkan::validationMessageCount(), messages) << name;
    size_t conversions = 0;
    for (const Placement& row : session->placement()) conversions += row.type == "Convert";
    EXPECT_GE(conversions, 2u) << name;  // into images and back
    EXPECT_LE(conversions, 4u) << name;  // no other conversions
  }
}

/// Weights from folding, and a normalisation with factors made of four constants.
TEST_F(VulkanSessionTest, FurtherSessionsUploadNoConstants) {
  Model model;
  const auto constant = [&](const char* name, const Shape& shape) {
    Tensor values = *Tensor::onHost({DType::Float32, shape});
    for (float& value : values.data<float>()) value = 0.5f;
    return model.addConstant(name, std::move(values));
  };
  const TensorId x = model.addInput("x", {DType::Float32, {1, 8, 6, 6}});
  const TensorId weights = model.addNode("Exp", "folded", {constant("w", {8, 8, 1, 1})})[0];
  const TensorId conv = model.addNode("Conv", "conv", {x, weights})[0];
  const TensorId clamped = model.addNode("Tanh", "tanh", {conv})[0];
  model.outputs = model.addNode(
      "BatchNormalization", "norm",
      {clamped, constant("scale", {8}), constant("bias", {8}), constant("mean", {8}), constant("variance", {8})});
  const auto interpreter = *Interpreter::create(std::move(model), ops::builtinOps());
  for (const Storage storage : {Storage::Image, Storage::Buffer}) {
    const auto first = *interpreter->createSession({.backend = "vulkan", .storage = storage});
    ASSERT_TRUE(prepare(*first).isOk());
    EXPECT_EQ(first->statistics().foldedNodes, 1u);
    EXPECT_GT(first->counters().bytesUploaded, 0u);
    const auto clone = *first->clone();
    const auto second = *interpreter->createSession({.backend = "vulkan", .storage = storage});
    for (Session* session : {clone.get(), second.get()}) {
      ASSERT_TRUE(prepare(*session).isOk());
      EXPECT_EQ(session->counters().bytesUploaded, 0u);
      ASSERT_TRUE(session->run().isOk());
    }
    ASSERT_TRUE(first->run().isOk());
    EXPECT_EQ(result(*clone), result(*first));
    EXPECT_EQ(result(*second), result(*first));
  }
}

/// x * factor + constant would lose 3e-5 of it. A lone BatchNormalization stays on buffers, so it follows a Conv here.
// A kernel may read the value of an input that the plan depends on; another value makes another Execution.
TEST_F(VulkanSessionTest, AnAxisThatARunGivesNeedsNoFallback) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {2, 3}});
  const TensorId axis = model.addInput("axis", {DType::Int64, {}});
  model.outputs = model.addNode("CumSum", "sums", {x, axis});
  const auto interpreter = *Interpreter::create(std::move(model), ops::builtinOps());
  auto session = *interpreter->createSession({.backend = "vulkan", .allowFallback = false});
  std::ranges::copy(std::vector<float>{1, 2, 3, 4, 5, 6}, session->fillInput("x")->data<float>().begin());
  const std::map<int64_t, std::vector<float>> expected = {{0, {1, 2, 3, 5, 7, 9}}, {1, {1, 3, 6, 4, 9, 15}}};
  for (const int64_t given : {0, 1, -2, 1, 0}) {
    session->fillInput("axis")->data<int64_t>()[0] = given;
    const Status ran = session->run();
    ASSERT_TRUE(ran.isOk()) << ran.message();
    EXPECT_EQ(result(*session), expected.at((given + 2) % 2)) << given;
  }
}

TEST_F(VulkanSessionTest, ImagesAreNormalisedByAMeanFarAboveTheDeviations) {
  Model model;
  const auto constant = [&](const char* name, const Shape& shape, float value) {
    Tensor values = *Tensor::onHost({DType::Float32, shape});
    std::ranges::fill(values.data<float>(), value);
    return model.addConstant(name, std::move(values));
  };
  const TensorId x = model.addInput("x", {DType::Float32, {1, 8, 6, 6}});
  const TensorId conv =
      model.addNode("Conv", "conv", {x, constant("w", {8, 8, 1, 1}, 0), constant("b", {8}, 1000.3f)})[0];
  const TensorId largest = model.addNode("GlobalMaxPool", "largest", {conv})[0];
  model.outputs = model.addNode("BatchNormalization", "norm",
                                {largest, constant("scale", {8}, 0.5f), constant("bias", {8}, 0.25f),
                                 constant("mean", {8}, 1000), constant("variance", {8}, 0.5f)});
  const auto interpreter = *Interpreter::create(std::move(model), ops::builtinOps());
  const double expected = (static_cast<double>(1000.3f) - 1000) * 0.5 / std::sqrt(0.5 + 1e-5) + 0.25;
  for (const Storage storage : {Storage::Image, Storage::Buffer}) {
    const std::vector<float> got = runOnce(interpreter, {.backend = "vulkan", .storage = storage});
    ASSERT_EQ(got.size(), 8u);
    for (const float value : got) EXPECT_NEAR(value, expected, 1e-6);
  }
}

/// Cut instead of rounded, the halves of 26 convolutions would lose half a percent.
TEST_F(VulkanSessionTest, HalvesInImagesAreRoundedToNearest) {
  const auto interpreter = load("zoo:squeezenet");
  SessionConfig config{.backend = "vulkan", .precision = Precision::High, .storage = Storage::Image};
  const auto mean = [&] {
    const std::vector<float> values = runOnce(interpreter, config);
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double exact = mean();
  config.precision = Precision::Normal;
  EXPECT_NEAR(mean(), exact, 1e-3 * exact);
}

TEST_F(VulkanSessionTest, EveryFailedAllocationIsReportedAndRecoveredFrom) {
  const auto interpreter = transformer();
  const std::vector<float> expected = runOnce(interpreter, {.backend = "vulkan"});
  auto runtime = *createRuntime("vulkan");
  auto& device = *static_cast<vulkan::VulkanRuntime&>(*runtime).vulkanDevice();
  const size_t rangesBefore = device.memory().statistics().ranges;
  int failures = 0;
  bool finished = false;
  // Every creation at first, then ever larger steps: a network makes hundreds.
  for (int64_t after = 0; !finished; after += 1 + after / 8) {
    {
      device.faults().failCreationAfter(after);
      auto session = interpreter->createSession({.backend = "vulkan"}, runtime);
      if (session) {
        Status status = prepare(**session);
        if (status.isOk()) status = (*session)->run();
        finished = device.faults().clear();
        if (!finished) {
          EXPECT_EQ(status.code(), StatusCode::OutOfMemory) << status.message();
          ++failures;
        }
        status = prepare(**session);
        if (status.isOk()) status = (*session)->run();
        ASSERT_TRUE(status.isOk()) << status.message();
        EXPECT_EQ(result(**session), expected) << "after failure " << after;
      } else {
        EXPECT_EQ(session.error().code(), StatusCode::OutOfMemory) << session.error().message();
        ++failures;
      }
    }
    EXPECT_EQ(device.memory().statistics().ranges, rangesBefore) << "after failure " << after;
  }
  EXPECT_GT(failures, 15);
}

TEST_F(VulkanSessionTest, AResizeThatFitsRecoversFromOneThatDoesNot) {
  const auto interpreter = transformer();
  auto runtime = *createRuntime("vulkan");
  auto& memory = static_cast<vulkan::VulkanRuntime&>(*runtime).vulkanDevice()->memory();
  auto session = *interpreter->createSession({.backend = "vulkan"}, runtime);
  ASSERT_TRUE(prepare(*session).isOk());
  memory.setCapBytes(memory.statistics().usedBytes + (size_t{1} << 20));
  const std::string input = session->inputNames().front();
  const Shape small = session->input(input)->desc.shape;
  ASSERT_TRUE(session->resizeInput(input, {1, 1024, small[2]}).isOk());
  session->fillInput(input);  // zeros suffice
  const Status refused = session->run();
  EXPECT_EQ(refused.code(), StatusCode::OutOfMemory) << refused.message();
  EXPECT_NE(refused.message().find("bytes refused"), std::string::npos) << refused.message();
  ASSERT_TRUE(session->resizeInput(input, small).isOk());
  fill(*session->fillInput(input));
  const Status status = session->run();
  EXPECT_TRUE(status.isOk()) << status.message();
}

TEST_F(VulkanSessionTest, ALostDeviceEndsTheSessionAndANewOneWorks) {
  const auto interpreter = transformer();
  for (const RecordMode record : {RecordMode::Indirect, RecordMode::Direct}) {
    auto runtime = *createRuntime("vulkan");
    auto session = *interpreter->createSession({.backend = "vulkan", .record = record}, runtime);
    ASSERT_TRUE(prepare(*session).isOk());
    static_cast<vulkan::VulkanRuntime&>(*runtime).vulkanDevice()->faults().loseDeviceAfter(0);
    const Status lost = session->run();
    EXPECT_EQ(lost.code(), StatusCode::DeviceLost);
    EXPECT_NE(lost.message().find("node '"), std::string::npos) << lost.message();
    const Status again = session->run();
    EXPECT_EQ(again.code(), StatusCode::DeviceLost);
    EXPECT_NE(again.message().find("make a new session"), std::string::npos) << again.message();
    EXPECT_EQ(session->resize().code(), StatusCode::DeviceLost);
    EXPECT_EQ(interpreter->createSession({.backend = "vulkan"}, runtime).error().code(), StatusCode::DeviceLost);
    EXPECT_FALSE(runOnce(interpreter, {.backend = "vulkan", .record = record}).empty());
  }
}

TEST_F(VulkanSessionTest, ImageConvolutionsAreTunedAndRemembered) {
  std::string pattern = (std::filesystem::temp_directory_path() / "opkit_tune_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const auto interpreter = load("zoo:squeezenet");
  const SessionConfig config{.backend = "vulkan", .cacheDir = pattern, .storage = Storage::Image, .tune = true};
  uint64_t measurements[2];
  std::vector<float> results[2];
  for (size_t i = 0; i < 2; ++i) {
    auto session = *interpreter->createSession(config);
    ASSERT_TRUE(prepare(*session).isOk());
    ASSERT_TRUE(session->run().isOk());
    measurements[i] = session->counters().measurements;
    results[i] = result(*session);
  }
  EXPECT_GE(measurements[0], 3u * 10);  // three sizes for each kind of convolution in it
  EXPECT_EQ(measurements[1], 0u);
  EXPECT_EQ(results[0], results[1]);
  std::filesystem::remove_all(pattern);
}

TEST_F(VulkanSessionTest, WhatOneSessionTunesAnotherProcessReads) {
  std::string pattern = (std::filesystem::temp_directory_path() / "opkit_tune_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const auto interpreter = transformer();
  SessionConfig config{.backend = "vulkan", .cacheDir = pattern, .storage = Storage::Buffer, .tune = true};
  const auto measure = [&] {
    auto session = interpreter->createSession(config);  // a separate Runtime, as in another process
    EXPECT_TRUE(session) << session.error().message();
    const Status status = prepare(**session);
    EXPECT_TRUE(status.isOk()) << status.message();
    EXPECT_TRUE((*session)->run().isOk());
    return std::pair((*session)->counters().measurements, result(**session));
  };
  const auto [first, tuned] = measure();
  EXPECT_GT(first, 0u);
  const auto [second, read] = measure();
  EXPECT_EQ(second, 0u);
  EXPECT_EQ(read, tuned);  // the same choices
  config.tune = false;
  EXPECT_EQ(measure().first, 0u);
  expectClose(tuned, runOnce(interpreter, {.backend = "vulkan", .storage = Storage::Buffer}));
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace opkit::harness
