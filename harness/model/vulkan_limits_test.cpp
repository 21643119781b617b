// Device limits and bad data, as a session sees them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/op/params.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"
#include "ops/max_roi_pool/max_roi_pool_generated.h"

namespace opkit::harness {
namespace {

std::shared_ptr<Interpreter> make(Model model) { return *Interpreter::create(std::move(model), ops::builtinOps()); }

std::vector<float> valuesOf(const Session& session) {
  const auto values = session.output(session.outputNames().front())->data<float>();
  return {values.begin(), values.end()};
}

/// Relu, then Transpose, of more bytes than the masked device binds.
std::shared_ptr<Interpreter> reluAndTranspose() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {20, 30}});
  model.outputs = model.addNode("Transpose", "transpose", {model.addNode("Relu", "relu", {x})[0]});
  return make(std::move(model));
}

void fillRamp(Session& session) {
  const auto values = session.fillInput("x")->data<float>();
  std::iota(values.begin(), values.end(), -300.0f);
}

TEST(VulkanLimits, AKernelFallsBackWithTheReasonAndARasterIsCut) {
  const auto interpreter = reluAndTranspose();
  const auto expected = *interpreter->createSession({.backend = "cpu"});
  fillRamp(*expected);
  ASSERT_TRUE(expected->run().isOk());
  const auto runtime = *createRuntime("vulkan", {.cacheDir = "off", .mask = "buffer=1k"});
  for (const RecordMode record : {RecordMode::Indirect, RecordMode::Direct}) {
    const auto session = *interpreter->createSession({.backend = "vulkan", .record = record}, runtime);
    fillRamp(*session);
    const Status status = session->run();
    ASSERT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(valuesOf(*session), valuesOf(*expected));
    for (const Placement& row : session->placement()) {
      EXPECT_EQ(row.fellBack, row.type == "Relu") << row.type;
      if (row.type != "Relu") continue;
      EXPECT_TRUE(row.fellBack);
      EXPECT_TRUE(std::ranges::any_of(row.refusals, [](const Refusal& refusal) {
        return refusal.byDevice && refusal.reason.find("exceeds the device limit of 1024 bytes") != std::string::npos;
      }));
    }
  }
}

TEST(VulkanLimits, WithoutAFallbackTheReasonIsTheError) {
  const auto runtime = *createRuntime("vulkan", {.cacheDir = "off", .mask = "buffer=1k"});
  const auto session = *reluAndTranspose()->createSession({.backend = "vulkan", .allowFallback = false}, runtime);
  const Status status = session->resize();
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_NE(status.message().find("exceeds the device limit of 1024 bytes"), std::string::npos) << status.message();
}

/// Rows of x selected by the indices, then a kernel that reads them.
Model gatherThenRelu() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {5, 3}});
  const TensorId indices = model.addInput("indices", {DType::Int64, {4}});
  model.outputs = model.addNode("Relu", "relu", {model.addNode("Gather", "gather", {x, indices})[0]});
  return model;
}

Status runWith(Session& session, const std::vector<int64_t>& indices) {
  std::ranges::copy(indices, session.fillInput("indices")->data<int64_t>().begin());
  return session.run();
}

TEST(Indices, OutOfRangeIsTheSameErrorOnEveryBackend) {
  const auto interpreter = make(gatherThenRelu());
  for (const char* backend : {"reference", "cpu", "vulkan"})
    for (const RecordMode record : {RecordMode::Indirect, RecordMode::Direct}) {
      const auto session = *interpreter->createSession({.backend = backend, .record = record});
      std::ranges::fill(session->fillInput("x")->data<float>(), 7.0f);
      EXPECT_TRUE(runWith(*session, {0, -1, 4, -5}).isOk());
      for (const int64_t bad : {5, -6, 1 << 20}) {
        const Status status = runWith(*session, {0, -1, bad, -5});
        EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << backend << " " << bad;
        EXPECT_NE(status.message().find(fmt::format("Gather: indices must be in [-5, 5), got {}", bad)),
                  std::string::npos)
            << backend << ": " << status.message();
        EXPECT_NE(status.message().find("node 'gather'"), std::string::npos) << status.message();
      }
      EXPECT_EQ(runWith(*session, {0, 0, int64_t{1} << 32, 0}).code(), StatusCode::InvalidArgument) << backend;
      // The report was cleared.
      EXPECT_TRUE(runWith(*session, {0, -1, 4, -5}).isOk());
      EXPECT_EQ(valuesOf(*session), std::vector<float>(12, 7.0f));
    }
}

TEST(Indices, ConstantsOutOfRangeAreRefusedAtTheResize) {
  for (const char* backend : {"reference", "cpu", "vulkan"}) {
    Model model;
    const TensorId x = model.addInput("x", {DType::Float32, {5, 3}});
    const TensorId indices = model.addConstant("indices", *Tensor::fromValues<int64_t>({DType::Int64, {2}}, {-5, 5}));
    model.outputs = model.addNode("Gather", "gather", {x, indices});
    const auto session = *make(std::move(model))->createSession({.backend = backend});
    const Status status = session->resize();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << backend;
    EXPECT_EQ(status.message(), "node 'gather': Gather: indices must be in [-5, 5), got 5") << backend;
  }
}

TEST(Images, OfRoiAlignMustBeInTheBatch) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {2, 1, 3, 3}});
  const TensorId rois = model.addInput("rois", {DType::Float32, {2, 4}});
  const TensorId images = model.addInput("images", {DType::Int64, {2}});
  model.outputs = model.addNode("RoiAlign", "align", {x, rois, images});
  const auto interpreter = make(std::move(model));
  for (const char* backend : {"reference", "cpu", "vulkan"}) {
    const auto session = *interpreter->createSession({.backend = backend});
    const auto run = [&](int64_t image) {
      std::ranges::fill(session->fillInput("x")->data<float>(), 3.0f);
      std::ranges::fill(session->fillInput("rois")->data<float>(), 1.0f);
      std::ranges::fill(session->fillInput("images")->data<int64_t>(), image);
      return session->run();
    };
    EXPECT_TRUE(run(0).isOk()) << backend;
    for (const int64_t bad : {2, -1, 1 << 20})
      EXPECT_EQ(run(bad).message(), fmt::format("node 'align': RoiAlign: batch_indices must be in [0, 2), got {}", bad))
          << backend;
    EXPECT_TRUE(run(1).isOk()) << backend;
  }
}

TEST(Images, OfMaxRoiPoolMustBeInTheBatch) {
  ops::max_roi_pool::MaxRoiPoolParamsT params;
  params.pooled_shape = {1, 2};
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {2, 1, 3, 3}});
  const TensorId rois = model.addInput("rois", {DType::Float32, {2, 5}});
  model.outputs = model.addNode("MaxRoiPool", "pool", {x, rois}, packParams(params));
  const auto interpreter = make(std::move(model));
  for (const char* backend : {"reference", "cpu", "vulkan"}) {
    const auto session = *interpreter->createSession({.backend = backend});
    const auto run = [&](float image) {
      std::ranges::fill(session->fillInput("x")->data<float>(), 3.0f);
      std::ranges::fill(session->fillInput("rois")->data<float>(), 1.0f);
      session->fillInput("rois")->data<float>()[5] = image;
      return session->run();
    };
    EXPECT_TRUE(run(1).isOk()) << backend;
    for (const float bad : {2.0f, -1.0f, 1e6f, NAN})
      EXPECT_EQ(run(bad).message(), fmt::format("node 'pool': MaxRoiPool: images of rois must be in [0, 2), got {}",
                                                bad == bad ? static_cast<int64_t>(bad) : -1))
          << backend;
    EXPECT_TRUE(run(0).isOk()) << backend;
  }
}

}  // namespace
}  // namespace opkit::harness
