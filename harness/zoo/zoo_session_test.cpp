// The contract of sessions, tested with whole networks on every available backend.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "harness/zoo/load_model.h"
#include "harness/zoo/zoo.h"
#include "harness/zoo/zoo_test_support.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

std::shared_ptr<Interpreter> interpreterOf(const std::string& network) {
  auto model = loadModel("zoo:" + network);
  EXPECT_TRUE(model) << model.error().toString();
  auto interpreter = Interpreter::create(*std::move(model), ops::builtinOps());
  EXPECT_TRUE(interpreter) << interpreter.error().toString();
  return *interpreter;
}

std::unique_ptr<Session> sessionOf(const std::shared_ptr<Interpreter>& interpreter, const SessionConfig& config) {
  auto session = interpreter->createSession(config);
  EXPECT_TRUE(session) << session.error().toString();
  return *std::move(session);
}

/// Fills the inputs, runs, and returns the first output.
std::vector<float> run(Session& session) {
  fillInputs(session);
  const Status status = session.run();
  EXPECT_TRUE(status.isOk()) << status.toString();
  const std::span<float> y = session.output(session.outputNames()[0])->data<float>();
  return {y.begin(), y.end()};
}
/// The same with that shape of the one input.
std::vector<float> run(Session& session, const Shape& shape) {
  EXPECT_TRUE(session.resizeInput("input", shape).isOk());
  return run(session);
}

void expectClose(const std::vector<float>& got, const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  float largest = 0;
  for (const float value : expected) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < got.size(); ++i) ASSERT_LE(std::fabs(got[i] - expected[i]), tolerance * largest) << i;
}

class ZooSession : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime(GetParam())); }
  SessionConfig config() const { return {.backend = GetParam(), .cacheDir = "off", .threads = 2}; }
};

TEST_P(ZooSession, PeakMemoryIsWithinATenthOfTheLowerBound) {
  for (const std::string& network : zooNames()) {
    auto session = sessionOf(interpreterOf(network), config());
    if (network == "transformer") {
      ASSERT_TRUE(session->resizeInput("input", {1, 16, 128}).isOk());
    }
    run(*session);  // a stage is planned once the stages before it have run
    const MemoryStatistics memory = session->statistics().memory[0];
    EXPECT_GT(memory.lowerBoundBytes, 0u);
    EXPECT_LE(static_cast<double>(memory.plannedPeakBytes), 1.1 * static_cast<double>(memory.lowerBoundBytes))
        << network;
  }
}

TEST_P(ZooSession, GoingBackToShapesSeenBeforeCreatesNothing) {
  const std::pair<std::string, std::vector<Shape>> walks[] = {{"squeezenet", {{1, 3, 224, 224}, {1, 3, 192, 192}}},
                                                              {"transformer", {{1, 16, 128}, {1, 24, 128}}},
                                                              {"unet", {{1, 3, 64, 64}, {2, 3, 48, 32}}}};
  for (const auto& [network, shapes] : walks) {
    auto session = sessionOf(interpreterOf(network), config());
    std::vector<std::vector<float>> first;
    for (const Shape& shape : shapes) first.push_back(run(*session, shape));
    run(*session, shapes[0]);  // its place in the arena was lost when the arena grew
    const BackendCounters before = session->counters();
    for (const size_t i : {0, 1, 0}) {
      ASSERT_TRUE(session->resizeInput("input", shapes[i]).isOk());
      ASSERT_TRUE(session->resize().isOk());
    }
    const BackendCounters after = session->counters();
    EXPECT_EQ(after.executionsCreated, before.executionsCreated) << network;
    EXPECT_EQ(after.pipelinesCreated, before.pipelinesCreated) << network;
    EXPECT_EQ(after.allocations, before.allocations) << network;
    EXPECT_EQ(after.bytesUploaded, before.bytesUploaded) << network;
    EXPECT_EQ(run(*session, shapes[0]), first[0]);
    EXPECT_EQ(run(*session, shapes[1]), first[1]);
    EXPECT_EQ(session->statistics().plansMade, 2u);
  }
}

TEST_P(ZooSession, WeightsAreOnTheDeviceOnce) {
  const auto interpreter = interpreterOf("squeezenet");
  const Shape shape{1, 3, 64, 64};
  auto first = sessionOf(interpreter, config());
  const std::vector<float> expected = run(*first, shape);
  const size_t constants = first->statistics().memory[0].constantBytes;
  EXPECT_GT(constants, size_t{4} << 20);  // 1.2 million weights
  auto second = sessionOf(interpreter, config());
  auto clone = *first->clone();
  for (Session* session : {second.get(), clone.get()}) {
    ASSERT_TRUE(session->resizeInput("input", shape).isOk());
    ASSERT_TRUE(session->resize().isOk());
    EXPECT_LT(session->counters().bytesUploaded, constants / 100);  // tables of a plan, no weights
    EXPECT_LT(session->counters().allocations, first->counters().allocations / 4);
    EXPECT_EQ(session->statistics().memory[0].constantBytes, constants);
    EXPECT_EQ(run(*session, shape), expected);
  }
  // A plan for other shapes packs nothing either.
  ASSERT_TRUE(first->resizeInput("input", {1, 3, 48, 48}).isOk());
  ASSERT_TRUE(first->resize().isOk());
  EXPECT_EQ(first->statistics().memory[0].constantBytes, constants);
}

TEST_P(ZooSession, SessionsOfOneInterpreterRunOnSeveralThreads) {
  const auto interpreter = interpreterOf("squeezenet");
  const Shape shapes[] = {{1, 3, 48, 48}, {1, 3, 64, 40}};
  std::vector<std::vector<float>> expected;
  auto alone = sessionOf(interpreter, config());
  for (const Shape& shape : shapes) expected.push_back(run(*alone, shape));
  alone.reset();  // so that the threads pack and upload anew, at the same time
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      auto session = sessionOf(interpreter, config());
      for (const size_t i : {0, 1, 0}) EXPECT_EQ(run(*session, shapes[i]), expected[i]);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ZooSession, CallbacksReadWhatCommandsWrite) {
  auto session = sessionOf(interpreterOf("transformer"), config());
  const std::vector<float> expected = run(*session, {1, 8, 128});
  std::vector<float> last;
  size_t commands = 0;
  const auto ran = session->runWithCallback({}, [&](const CommandInfo& command) {
    ++commands;
    const auto output = command.readOutput(0);
    EXPECT_TRUE(output) << output.error().toString();
    const auto values = output->data<float>();
    last.assign(values.begin(), values.end());
    return true;
  });
  ASSERT_TRUE(ran) << ran.error().toString();
  EXPECT_TRUE(*ran);
  EXPECT_GT(commands, 20u);
  EXPECT_EQ(last, expected);
  EXPECT_EQ(run(*session, {1, 8, 128}), expected);
}

TEST_P(ZooSession, StartsOnTheCpuAndAgreesAfterMovingOver) {
  SessionConfig moving = config();
  moving.startOnCpu = true;
  moving.allowFallback = false;
  auto session = sessionOf(interpreterOf("squeezenet"), moving);
  const Shape shape{1, 3, 48, 48};
  const std::vector<float> before = run(*session, shape);
  const Status moved = session->waitForMove();
  EXPECT_TRUE(moved.isOk()) << moved.toString();
  const uint64_t pipelines = session->counters().pipelinesCreated;
  expectClose(run(*session, shape), before, 1e-4f);
  EXPECT_EQ(session->counters().pipelinesCreated, pipelines);  // all were made on the other thread
  EXPECT_EQ(session->statistics().runsOn, GetParam());
  for (const Placement& row : session->placement()) EXPECT_EQ(row.backend, GetParam());
}

TEST_P(ZooSession, PrecisionDecidesHowFloatsAreStored) {
  const auto interpreter = interpreterOf("squeezenet");
  const Shape shape{1, 3, 48, 48};
  SessionConfig precise = config();
  auto high = sessionOf(interpreter, precise);
  const std::vector<float> expected = run(*high, shape);
  const bool convertsStorage = GetParam() == "vulkan";  // the CPU computes and stores f32 in every mode
  for (const Precision precision : {Precision::Normal, Precision::Low}) {
    precise.precision = precision;
    auto session = sessionOf(interpreter, precise);
    const std::vector<float> y = run(*session, shape);
    expectClose(y, expected, convertsStorage ? 3e-2f : 0.0f);
    EXPECT_EQ(y != expected, convertsStorage);
    EXPECT_EQ(session->placement()[0].outputs.starts_with("f16"), convertsStorage) << session->placement()[0].outputs;
    const size_t bytes = session->statistics().memory[0].plannedPeakBytes;
    EXPECT_EQ(bytes < high->statistics().memory[0].plannedPeakBytes, convertsStorage);
  }
}

/// The part of the union that two boxes y1, x1, y2, x2 share.
float overlap(const float* a, const float* b) {
  const auto area = [](const float* box) { return (box[2] - box[0]) * (box[3] - box[1]); };
  const float height = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const float shared = std::max(height, 0.0f) * std::max(width, 0.0f);
  return shared / (area(a) + area(b) - shared);
}

TEST_P(ZooSession, TheDetectorKeepsBoxesThatDoNotOverlap) {
  auto session = sessionOf(interpreterOf("detector"), config());
  for (const Shape& shape : {Shape{2, 3, 128, 96}, Shape{1, 3, 64, 64}}) {
    const std::vector<float> rows = run(*session, shape);  // image, class, score, y1, x1, y2, x2
    ASSERT_GT(rows.size(), 7u);
    ASSERT_EQ(rows.size() % 7, 0u);
    for (const float* a = rows.data(); a < rows.data() + rows.size(); a += 7) {
      EXPECT_LT(a[0], static_cast<float>(shape[0]));
      EXPECT_GT(a[2], 0.3f);
      for (const float* b = rows.data(); b < a; b += 7)
        if (a[0] == b[0] && a[1] == b[1]) {
          EXPECT_LE(overlap(a + 3, b + 3), 0.5001f);
        }
    }
    const BackendCounters before = session->counters();
    EXPECT_EQ(run(*session, shape), rows);
    const BackendCounters after = session->counters();
    EXPECT_EQ(after.executionsCreated, before.executionsCreated);
    EXPECT_EQ(after.allocations, before.allocations);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ZooSession, ::testing::Values("cpu", "vulkan"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace opkit
