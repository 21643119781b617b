// What a session does after a refusal or an exception: nothing sticks, and the parts of one session keep to its limits
// together.
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "engine/base/host_memory.h"
#include "engine/runtime/pipeline_cache.h"
#include "engine/testing/test_ops.h"

namespace opkit::refusals {
namespace {

/// y = a + b, reading both at run; the oracle would keep constants in a form of its own.
class Sum final : public Execution {
 public:
  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    const std::span<float> a = inputs[0]->data<float>(), b = inputs[1]->data<float>(), y = outputs[0]->data<float>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
    return Status::ok();
  }
};

const OpRegistry& testOps() {
  static const OpRegistry registry = [] {
    OpRegistry made = test::makeTestOps();
    made.addCreator("cpu", "Plus",
                    {"test", [](const CreateArgs&) { return Status::ok(); },
                     [](const CreateArgs&, Backend&) -> Result<std::unique_ptr<Execution>> {
                       return std::unique_ptr<Execution>(std::make_unique<Sum>());
                     }});
    return made;
  }();
  return registry;
}

std::unique_ptr<Session> sessionOf(Model model, const SessionConfig& config = {}) {
  auto session = (*Interpreter::create(std::move(model), testOps()))->createSession(config);
  EXPECT_TRUE(session) << session.error().toString();
  return *std::move(session);
}

Status run(Session& session, const Shape& shape, float value) {
  OPKIT_TRY(session.resizeInput("x", shape));
  std::ranges::fill(session.fillInput("x")->data<float>(), value);
  return session.run();
}

void expectRun(Session& session, const Shape& shape, float value, float expected) {
  const Status status = run(session, shape, value);
  ASSERT_TRUE(status.isOk()) << status.toString();
  const Tensor& y = *session.output(session.outputNames()[0]);
  for (const float element : y.data<float>()) ASSERT_EQ(element, expected);
}

/// y = Mirror(x), without a constant.
Model mirrorModel() {
  Model model;
  model.outputs = model.addNode("Mirror", "y", {model.addInput("x", {DType::Float32, {kDynamic, kDynamic}})});
  return model;
}

constexpr int64_t kSide = 64;
constexpr size_t kBytes = kSide * kSide * sizeof(float);

/// y = Mirror(x) + weight, f32[kSide * kSide] of ones at an address that the CPU does not read in place: its memory is
/// taken after the arena's.
Model weightModel() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const std::vector<float> ones(kSide * kSide + 1, 1.0f);
  Tensor weight = *Tensor::fromValues<float>({DType::Float32, {kSide * kSide + 1}}, ones);
  weight.desc.shape = {kSide * kSide};
  weight.offsetBytes = sizeof(float);
  const TensorId mirror = model.addNode("Mirror", "mirror", {x})[0];
  model.outputs = model.addNode("Plus", "y", {mirror, model.addConstant("weight", weight)});
  return model;
}

/// The first count(x) elements of x + 1, plus 1, in stages. The first and the last also negate twice, which takes
/// memory of theirs: that of inputs and outputs is the caller's.
Model countedModel() {
  Model model;
  const auto negatedTwice = [&](TensorId tensor) {
    for (int i = 0; i < 2; ++i)
      tensor = model.addNode("Negate", fmt::format("negate{}", model.nodes.size()), {tensor})[0];
    return tensor;
  };
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const TensorId one = model.addConstant("one", *Tensor::fromValues<float>({DType::Float32, {1}}, {1}));
  const TensorId more = model.addNode("AddOne", "more", {negatedTwice(x)})[0];
  const TensorId filled =
      model.addNode("FillTo", "filled", {model.addNode("CountPositive", "count", {more})[0], one})[0];
  model.outputs = {negatedTwice(model.addNode("Plus", "sum", {filled, model.addNode("View", "flat", {more})[0]})[0])};
  return model;
}

class HostMemoryLimit {
 public:
  ~HostMemoryLimit() { setHostMemoryLimit(before_); }
  static void allow(size_t bytes) { setHostMemoryLimit(hostMemoryInUse() + bytes); }

 private:
  size_t before_ = hostMemoryLimit();
};

TEST(Refusals, AfterARefusedOutputTheSameShapesRunOnceThereIsMemory) {
  const HostMemoryLimit limit;
  auto session = sessionOf(mirrorModel());
  expectRun(*session, {1, 1}, 1, 1);
  ASSERT_TRUE(session->resizeInput("x", {kSide, kSide}).isOk());
  std::ranges::fill(session->fillInput("x")->data<float>(), 3.0f);
  HostMemoryLimit::allow(kBytes / 2);  // the output is written where the caller has it, and needs twice as much
  for (int i = 0; i < 2; ++i) EXPECT_EQ(session->run().code(), StatusCode::OutOfMemory);
  setHostMemoryLimit(0);
  expectRun(*session, {kSide, kSide}, 3, 3);
}

TEST(Refusals, AThrowingCallbackIsNotCalledAgain) {
  for (const bool staged : {false, true}) {
    auto session = sessionOf(staged ? countedModel() : mirrorModel());
    expectRun(*session, {1, 2}, 1, staged ? 3 : 1);
    const auto thrown = [](const CommandInfo&) -> bool { throw std::runtime_error("the caller's"); };
    EXPECT_NE(session->runWithCallback({}, thrown).error().message().find("the caller's"), std::string::npos);
    expectRun(*session, {1, 2}, 2, staged ? 4 : 2);
  }
}

size_t memoryOf(const Session& session) {
  const MemoryStatistics memory = session.statistics().memory[0];
  return memory.constantBytes + memory.arenaBytes;
}

/// The memory that a session without a limit takes for one shape.
size_t memoryFor(const Model& model, const Shape& shape) {
  auto session = sessionOf(model);
  EXPECT_TRUE(run(*session, shape, 1).isOk());
  return memoryOf(*session);
}

TEST(Refusals, MemoryTakenForRefusedShapesIsFreeForSmallerOnes) {
  const size_t needed = memoryFor(weightModel(), {kSide, kSide});
  ASSERT_EQ(needed, 2 * kBytes);  // `mirror` and the weight
  auto session = sessionOf(weightModel(), {.memoryLimitBytes = needed - 1});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(*session, {kSide, kSide}, 1).code(), StatusCode::OutOfMemory);
  expectRun(*session, {kSide / 2, kSide}, 2, 3);
  expectRun(*session, {1, 1}, 3, 4);
  expectRun(*session, {kSide / 2, kSide}, 4, 5);
}

TEST(Refusals, ALargerArenaOfOtherShapesIsGivenUpForConstants) {
  auto session = sessionOf(weightModel(), {.memoryLimitBytes = 2 * kBytes});
  expectRun(*session, {kSide, kSide}, 1, 2);
  EXPECT_EQ(memoryOf(*session), 2 * kBytes);
  auto tight = sessionOf(weightModel(), {.memoryLimitBytes = kBytes * 3 / 2});
  EXPECT_EQ(run(*tight, {kSide, kSide}, 1).code(), StatusCode::OutOfMemory);
  expectRun(*tight, {kSide / 2, kSide}, 1, 2);
  EXPECT_LE(memoryOf(*tight), kBytes * 3 / 2);
}

TEST(Refusals, StagesKeepToTheLimitTogether) {
  const Shape wide{1, kSide * kSide};
  const size_t free = memoryFor(countedModel(), wide);
  for (const size_t limit : {free, free - 1, free * 3 / 4}) {
    auto session = sessionOf(countedModel(), {.memoryLimitBytes = limit});
    for (const float value : {1.0f, -5.0f, 2.0f}) {
      expectRun(*session, wide, value, value + 2);
      EXPECT_LE(memoryOf(*session), limit) << value;
    }
  }
  auto session = sessionOf(countedModel(), {.memoryLimitBytes = kBytes});
  EXPECT_EQ(run(*session, wide, 1).code(), StatusCode::OutOfMemory);
  expectRun(*session, {1, 3}, 1, 3);
}

size_t threadsOfTheProcess() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

TEST(Refusals, StagesShareThreads) {
  const size_t before = threadsOfTheProcess();
  auto session = sessionOf(countedModel(), {.threads = 4});
  expectRun(*session, {1, 3}, 1, 3);
  EXPECT_EQ(session->statistics().stages, 2u);
  EXPECT_EQ(threadsOfTheProcess(), before + 3);
}

class Holder final : public MemoryHolder {
 public:
  bool giveUpMemory() override { return ++asked_ > 0; }
  int asked() const { return asked_; }

 private:
  int asked_ = 0;
};

// Another thread may prepare the part that asks, while the session's thread runs the one that would be asked.
TEST(Refusals, OnlyPartsOfTheSessionsThreadTakeEachOthersMemory) {
  MemoryBudget budget(100);
  Holder running, prepared;
  budget.add(running);
  ASSERT_TRUE(budget.hold(running, 80, {}).isOk());
  EXPECT_EQ(budget.hold(prepared, 50, {}).code(), StatusCode::OutOfMemory);
  EXPECT_EQ(running.asked(), 0);
  budget.add(prepared);
  EXPECT_TRUE(budget.hold(prepared, 50, {}).isOk());
  EXPECT_EQ(running.asked(), 1);
}

TEST(Refusals, APreparationStopsWhenItsSessionEnds) {
  const auto interpreter = *Interpreter::create(mirrorModel(), testOps());
  const auto runtime = *interpreter->runtimeOf({});
  for (const bool ending : {false, true}) {
    const auto share = std::make_shared<SessionShare>(SessionConfig());
    share->ending = ending;
    const auto pipelines = *PipelineCache::create(*interpreter, {}, runtime, share, share->prepared);
    const std::vector<Tensor> inputs{*Tensor::onHost({DType::Float32, {2, 2}})};
    const std::vector<uint64_t> versions{0};
    EXPECT_EQ(pipelines->resize({inputs, versions}).isOk(), !ending);
    EXPECT_EQ(pipelines->counters().executionsCreated, ending ? 0u : 1u);
  }
}

}  // namespace
}  // namespace opkit::refusals
