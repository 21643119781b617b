#include "engine/runtime/session.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/backend/extra_creators.h"
#include "engine/backend/keeps_outputs.h"
#include "engine/testing/test_ops.h"

namespace opkit {
namespace {

const OpRegistry& testOps() {
  static const OpRegistry registry = test::makeTestOps();
  return registry;
}

/// x f32[?,?] through one-input operators; the last output is the model's.
Model dynamicChain(const std::vector<std::string>& types) {
  Model model;
  TensorId tensor = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  model.inputs = {tensor};
  for (size_t i = 0; i < types.size(); ++i)
    tensor = model.addNode(types[i], fmt::format("{}{}", types[i], i), {tensor})[0];
  model.outputs = {tensor};
  return model;
}

std::unique_ptr<Session> sessionOf(Model model, const SessionConfig& config = {}) {
  auto interpreter = Interpreter::create(std::move(model), testOps());
  EXPECT_TRUE(interpreter) << interpreter.error().toString();
  auto session = (*interpreter)->createSession(config);
  EXPECT_TRUE(session) << session.error().toString();
  return *std::move(session);
}

Status refuseAll(const CreateArgs&) { return Status::unsupported("not today"); }

std::vector<float> runOn(Session& session, const Shape& shape, float first) {
  EXPECT_TRUE(session.resizeInput("x", shape).isOk());
  const std::span<float> x = session.fillInput("x")->data<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = first + static_cast<float>(i);
  const Status status = session.run();
  EXPECT_TRUE(status.isOk()) << status.toString();
  const std::span<float> y = session.output(session.outputNames()[0])->data<float>();
  return {y.begin(), y.end()};
}

TEST(Session, RunsOperatorsAndRegions) {
  auto session = sessionOf(dynamicChain({"AddOne", "View", "Mirror", "Negate"}));
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{-4, -3, -2, -1}));
  EXPECT_EQ(session->output(session->outputNames()[0])->desc.shape, Shape{4});
}

TEST(Session, RasterIsAnOperatorLikeOthers) {
  // Rules of the whole session leave it alone; a rule that names it holds.
  SessionConfig config{.keepTensors = true};
  ASSERT_TRUE(config.providers.add(ProviderRule::Kind::Force, "reference").isOk());
  auto session = sessionOf(dynamicChain({"Mirror"}), config);
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(session->placement()[0].provider, "opkit");
  ASSERT_TRUE(config.providers.add(ProviderRule::Kind::Force, "Raster=reference").isOk());
  session = sessionOf(dynamicChain({"Mirror"}), config);
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(session->placement()[0].provider, "reference");
  // A kernel from outside serves all operators that only move data.
  const ExtraCreators outside = ExtraCreators::add(ExtraCreators::Order::First, [](auto backend, const OpDef& def) {
    const bool mine = backend == "cpu" && def.type == "Raster";
    return mine ? std::vector{Creator{.provider = "outside", .supports = refuseAll}} : std::vector<Creator>();
  });
  session = sessionOf(dynamicChain({"Mirror"}), {.keepTensors = true});
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(session->placement()[0].refusals[0].reason, "not today");
}

TEST(Session, WithoutARasterKernelDataMovesOnTheCpu) {
  auto session = sessionOf(dynamicChain({"Mirror"}), {.backend = "null"});
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{3, 2, 1, 0}));
  ASSERT_EQ(session->placement().size(), 1u);
  const Placement row = session->placement()[0];
  EXPECT_EQ(row.backend, "cpu");
  EXPECT_TRUE(row.fellBack && row.raster);
  EXPECT_EQ(row.refusals[0].reason, "Raster: no kernel");
}

/// y = FillTo(CountPositive(AddOne(x)), x0): as long as there are positive elements.
Model countedModel() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const TensorId one = model.addConstant("one", *Tensor::fromValues<float>({DType::Float32, {1}}, {1}));
  const TensorId more = model.addNode("AddOne", "more", {x})[0];
  const TensorId count = model.addNode("CountPositive", "count", {more})[0];
  const TensorId filled = model.addNode("FillTo", "filled", {count, one})[0];
  model.outputs = model.addNode("Negate", "negated", {filled});
  return model;
}

TEST(Session, PlansShapesThatDependOnARunInALaterStage) {
  for (const bool keep : {false, true}) {
    auto session = sessionOf(countedModel(), {.keepTensors = keep, .guardBytes = keep ? 32u : 0u});
    EXPECT_EQ(runOn(*session, {1, 5}, -3), (std::vector<float>{-1, -1}));  // -2, -1, 0, 1, 2
    EXPECT_EQ(session->statistics().stages, 2u);
    EXPECT_EQ(runOn(*session, {1, 5}, -4), (std::vector<float>{-1}));
    EXPECT_EQ(runOn(*session, {1, 5}, -9), (std::vector<float>{}));
    const SessionStatistics planned = session->statistics();
    const BackendCounters before = session->counters();
    EXPECT_EQ(runOn(*session, {1, 5}, -4), (std::vector<float>{-1}));
    EXPECT_EQ(session->statistics().plansMade, planned.plansMade);
    EXPECT_EQ(session->counters().executionsCreated, before.executionsCreated);
    EXPECT_EQ(session->counters().allocations, before.allocations);
  }
}

TEST(Session, ComputesExtentsOfConstantsAtResize) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const TensorId values = model.addConstant("values", *Tensor::fromValues<float>({DType::Float32, {3}}, {1, -1, 2}));
  const TensorId one = model.addConstant("one", *Tensor::fromValues<float>({DType::Float32, {1}}, {1}));
  const TensorId count = model.addNode("CountPositive", "count", {values})[0];
  model.outputs = model.addNode("Concat2", "joined", {x, model.addNode("FillTo", "filled", {count, one})[0]});
  auto session = sessionOf(model);
  EXPECT_EQ(runOn(*session, {1, 1}, 7), (std::vector<float>{7, 1, 1}));
  EXPECT_EQ(session->statistics().stages, 1u);
}

TEST(Session, RunsDecomposedOperatorsAsTheirParts) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  model.outputs = model.addNode("MirrorPlusOne", "composite", {x}, {}, 2);
  for (const bool keep : {false, true}) {
    auto session = sessionOf(model, {.keepTensors = keep, .guardBytes = keep ? 32u : 0u});
    for (const int64_t rows : {1, 2, 1}) {
      const std::vector<float> y = runOn(*session, {rows, 2}, 0);
      EXPECT_EQ(y, rows == 1 ? (std::vector<float>{2, 1}) : (std::vector<float>{4, 3, 2, 1}));
      EXPECT_EQ(session->output("composite:1")->data<float>()[1], 1);
      EXPECT_TRUE(session->checkGuards().isOk());
    }
    std::vector<std::string> types;
    for (const Placement& row : session->placement()) types.push_back(row.type);
    const std::vector<std::string> parts{"Mirror", "Plus"};
    EXPECT_TRUE(std::equal(parts.begin(), parts.end(), types.begin())) << types.size();
  }
}

TEST(Session, HoldsWhoeverOwnsTheCodeOfItsRegistry) {
  OpRegistry registry = test::makeTestOps();
  auto owner = std::make_shared<int>(0);
  registry.addOwner(owner);
  {
    const auto interpreter = Interpreter::create(dynamicChain({"AddOne"}), registry);
    ASSERT_TRUE(interpreter);
    EXPECT_EQ(owner.use_count(), 2);
    const auto session = std::move(*(*interpreter)->createSession({}));
    EXPECT_GE(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
  owner.reset();
  EXPECT_FALSE(Interpreter::create(dynamicChain({"AddOne"}), registry));
}

TEST(Session, ProfilesTheHost) {
  auto session = sessionOf(dynamicChain({"AddOne", "Mirror"}), {.profile = true});
  runOn(*session, {2, 3}, 0);
  const std::vector<Placement> rows = session->placement();
  ASSERT_EQ(rows.size(), 2u);
  double end = 0;
  for (const Placement& row : rows) {
    EXPECT_GE(row.hostStartNs, end);
    EXPECT_GT(row.hostNs, 0);
    EXPECT_EQ(row.bytesRead, 24u);
    EXPECT_EQ(row.bytesWritten, 24u);
    end = row.hostStartNs + row.hostNs;
  }
  auto plain = sessionOf(dynamicChain({"AddOne"}));
  runOn(*plain, {2, 3}, 0);
  EXPECT_LT(plain->placement()[0].hostNs, 0);
}

TEST(Session, SameShapesResizeOnce) {
  auto session = sessionOf(dynamicChain({"AddOne"}));
  runOn(*session, {2, 3}, 0);
  runOn(*session, {2, 3}, 5);
  EXPECT_EQ(session->statistics().resizes, 1u);
  EXPECT_EQ(runOn(*session, {1, 2}, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(session->statistics().resizes, 2u);
}

TEST(Session, NewShapesTakeOverTheExecutionsOfDroppedPlans) {
  auto session = sessionOf(dynamicChain({"AddOne", "Mirror", "Negate"}), {.planCacheSize = 1});
  runOn(*session, {2, 3}, 0);
  const uint64_t created = session->counters().executionsCreated;
  EXPECT_GE(created, 3u);
  EXPECT_EQ(runOn(*session, {1, 2}, 0), (std::vector<float>{-2, -1}));
  EXPECT_EQ(session->counters().executionsCreated, created + 1);  // a raster with other regions
}

TEST(Session, ViewsShareMemoryAndCostNoStep) {
  auto session = sessionOf(dynamicChain({"AddOne", "View", "View", "Negate"}));
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(session->placement().size(), 2u);
  auto keeping = sessionOf(dynamicChain({"AddOne", "View", "View", "Negate"}), {.keepTensors = true});
  EXPECT_EQ(runOn(*keeping, {2, 2}, 0), (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(keeping->placement().size(), 4u);
}

TEST(Session, OneRunsOutputsMayBeTheNextOnesInputs) {
  auto session = sessionOf(dynamicChain({"Mirror"}));
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{3, 2, 1, 0}));
  for (const std::vector<float>& expected : {std::vector<float>{0, 1, 2, 3}, {3, 2, 1, 0}}) {
    session->bindInput(0, session->outputs()[0]);
    ASSERT_TRUE(session->run().isOk());
    const auto y = session->outputs()[0].data<float>();
    EXPECT_EQ(std::vector<float>(y.begin(), y.end()), expected);
  }
}

TEST(Session, KernelsThatSaySoFindTheirOutputsWhereTheyWere) {
  class Keeping final : public Execution, public KeepsOutputs {
   public:
    Status onResize(TensorList, TensorList outputs) override {
      OPKIT_CHECK(outputs[0]->buffer);
      output_ = outputs[0]->data<float>();
      return Status::ok();
    }
    Status onExecute(TensorList inputs, TensorList) override {
      std::ranges::copy(inputs[0]->data<float>(), output_.begin());
      return Status::ok();
    }
    bool keepsOutputs() const override { return true; }

   private:
    std::span<float> output_;
  };
  OpRegistry registry = test::makeTestOps();
  registry.addFirstCreator("cpu", "AddOne",
                           {"keeping", [](const CreateArgs&) { return Status::ok(); },
                            [](const CreateArgs&, Backend&) -> Result<std::unique_ptr<Execution>> {
                              return std::unique_ptr<Execution>(std::make_unique<Keeping>());
                            }});
  const auto session = (*Interpreter::create(dynamicChain({"AddOne"}), registry))->createSession({});
  ASSERT_TRUE(session);
  for (const float first : {0.0f, 7.0f})
    EXPECT_EQ(runOn(**session, {2, 2}, first), (std::vector<float>{first, first + 1, first + 2, first + 3}));
}

TEST(Session, OutputsThatShareMemoryAndInputsAreOutputs) {
  Model model = dynamicChain({"AddOne"});
  const TensorId view = model.addNode("View", "view", {model.outputs[0]})[0];
  const TensorId inputView = model.addNode("View", "inputView", {model.inputs[0]})[0];
  model.outputs = {view, model.outputs[0], model.outputs[0], inputView, model.inputs[0]};
  auto session = sessionOf(std::move(model));
  for (const float first : {0.0f, 7.0f}) {
    runOn(*session, {1, 2}, first);
    ASSERT_EQ(session->outputs().size(), 5u);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(session->outputs()[i].data<float>()[1], first + (i < 3 ? 2 : 1)) << i;
  }
}

TEST(Session, MemoryOfDeadTensorsIsReused) {
  auto session = sessionOf(dynamicChain({"AddOne", "Negate", "AddOne", "Negate", "AddOne"}));
  runOn(*session, {64, 64}, 0);
  EXPECT_EQ(session->statistics().plannedPeakBytes, 2u * 64 * 64 * sizeof(float));
  EXPECT_EQ(session->statistics().plannedPeakBytes, session->statistics().lowerBoundBytes);
}

TEST(Session, FallsBackWithCopiesAndSaysWhy) {
  auto session = sessionOf(dynamicChain({"AddOne", "Mirror"}), {.backend = "null"});
  EXPECT_EQ(runOn(*session, {1, 3}, 0), (std::vector<float>{3, 2, 1}));
  bool fellBack = false;
  for (const Placement& row : session->placement()) {
    if (row.type != "AddOne") continue;
    fellBack = row.fellBack && row.backend == "cpu" && !row.refusals.empty();
  }
  EXPECT_TRUE(fellBack);
  auto strict = sessionOf(dynamicChain({"AddOne"}), {.backend = "null", .allowFallback = false});
  const Status refused = strict->resize();
  EXPECT_EQ(refused.code(), StatusCode::Unsupported);
  EXPECT_NE(refused.message().find("AddOne"), std::string::npos) << refused.message();
}

TEST(Session, ContentsOfShapesAreKnownAtResize) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const TensorId value = model.addConstant("value", *Tensor::fromValues<float>({DType::Float32, {1}}, {7}));
  const TensorId shape = model.addNode("ShapeOf", "shape", {x})[0];
  const TensorId filled = model.addNode("FillTo", "fill", {shape, value})[0];
  model.outputs = {model.addNode("Concat2", "concat", {x, filled})[0]};
  auto session = sessionOf(std::move(model));
  EXPECT_EQ(runOn(*session, {1, 2}, 0), (std::vector<float>{0, 1, 7, 7}));
  EXPECT_EQ(runOn(*session, {1, 1}, 3), (std::vector<float>{3, 7}));
}

TEST(Session, InputsThatDecideShapesAreWatched) {
  Model model;
  const TensorId shape = model.addInput("shape", {DType::Int64, {2}});
  const TensorId value = model.addInput("value", {DType::Float32, {1}});
  model.outputs = {model.addNode("AddOne", "plus", {model.addNode("FillTo", "fill", {shape, value})[0]})[0]};
  auto session = sessionOf(std::move(model));
  session->fillInput("value")->data<float>()[0] = 4;
  for (const int64_t columns : {3, 5, 0}) {
    session->fillInput("shape")->data<int64_t>()[0] = 1;
    session->fillInput("shape")->data<int64_t>()[1] = columns;
    const Status status = session->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    const Tensor* y = session->output(session->outputNames()[0]);
    EXPECT_EQ(y->desc.shape, (Shape{1, columns}));
    for (float element : y->data<float>()) EXPECT_EQ(element, 5);
  }
  session->fillInput("shape")->data<int64_t>()[1] = -4;
  EXPECT_EQ(session->run().code(), StatusCode::InvalidArgument);
  session->fillInput("shape")->data<int64_t>()[1] = 2;
  EXPECT_TRUE(session->run().isOk());  // a failed resize changes nothing
}

TEST(Session, ConstantsFoldOnce) {
  Model model;
  const TensorId constant = model.addConstant("c", *Tensor::fromValues<float>({DType::Float32, {1, 2}}, {1, 2}));
  const TensorId folded = model.addNode("Mirror", "mirror", {model.addNode("AddOne", "plus", {constant})[0]})[0];
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  model.outputs = {model.addNode("Concat2", "concat", {x, folded})[0], folded};
  auto session = sessionOf(std::move(model));
  EXPECT_EQ(runOn(*session, {1, 1}, 9), (std::vector<float>{9, 3, 2}));
  EXPECT_EQ(session->statistics().foldedNodes, 2u);
  EXPECT_EQ(session->output(session->outputNames()[1])->data<float>()[0], 3);
}

TEST(Session, CallbacksSeeEveryCommandAndItsTensors) {
  auto session = sessionOf(dynamicChain({"AddOne", "Negate", "AddOne"}));
  ASSERT_TRUE(session->resizeInput("x", {1, 2}).isOk());
  session->fillInput("x")->data<float>()[1] = 4;
  std::vector<std::string> seen;
  std::vector<float> read;
  const auto before = [&](const CommandInfo& command) {
    seen.push_back("before " + command.node + " " + command.inputs[0]);
    read.push_back(command.readInput(0)->data<float>()[1]);
    return true;
  };
  const auto after = [&](const CommandInfo& command) {
    seen.push_back("after " + command.type + " " + command.outputs[0] + " on " + command.backend);
    read.push_back(command.readOutput(0)->data<float>()[1]);
    EXPECT_EQ(command.readOutput(1).error().code(), StatusCode::InvalidArgument);
    return true;
  };
  EXPECT_TRUE(*session->runWithCallback(before, after));
  EXPECT_EQ(seen, (std::vector<std::string>{"before AddOne0 x", "after AddOne AddOne0 on cpu", "before Negate1 AddOne0",
                                            "after Negate Negate1 on cpu", "before AddOne2 Negate1",
                                            "after AddOne AddOne2 on cpu"}));
  EXPECT_EQ(read, (std::vector<float>{4, 5, 5, -5, -5, -4}));
  EXPECT_EQ(session->output("AddOne2")->data<float>()[1], -4);
  EXPECT_TRUE(*session->runWithCallback({}, {}));
}

TEST(Session, CallbacksStopTheRun) {
  auto session = sessionOf(dynamicChain({"AddOne", "Negate", "AddOne"}));
  session->fillInput("x")->data<float>()[0] = 0;
  size_t calls = 0;
  EXPECT_FALSE(*session->runWithCallback({}, [&](const CommandInfo&) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2u);
  EXPECT_FALSE(*session->runWithCallback([&](const CommandInfo&) { return ++calls < 4; }, {}));
  EXPECT_EQ(calls, 4u);
  EXPECT_EQ(runOn(*session, {1, 1}, 1), (std::vector<float>{-1}));  // the next run is whole
}

TEST(Session, StartsOnTheCpuAndMovesOver) {
  auto session = sessionOf(dynamicChain({"AddOne", "Mirror"}), {.backend = "reference", .startOnCpu = true});
  EXPECT_TRUE(session->waitForMove().isOk());  // nothing to wait for before the first shapes are known
  ASSERT_TRUE(session->resizeInput("x", {1, 3}).isOk());
  ASSERT_TRUE(session->resize().isOk());
  EXPECT_EQ(session->statistics().runsOn, "cpu");
  EXPECT_EQ(session->placement()[0].backend, "cpu");
  const std::vector<float> expected{3, 2, 1};
  ASSERT_TRUE(session->waitForMove().isOk());
  EXPECT_EQ(session->statistics().runsOn, "reference");
  EXPECT_EQ(runOn(*session, {1, 3}, 0), expected);
  EXPECT_EQ(session->placement()[0].backend, "reference");
  EXPECT_EQ(runOn(*session, {1, 4}, 0), (std::vector<float>{4, 3, 2, 1}));
  EXPECT_EQ(session->statistics().moveError, "");
}

TEST(Session, RunsMoveOverByThemselvesOnceTheBackendIsReady) {
  auto session = sessionOf(dynamicChain({"AddOne", "Mirror"}), {.backend = "reference", .startOnCpu = true});
  size_t runs = 0;
  while (session->statistics().runsOn != "reference" && runs < 1000000) {
    ASSERT_EQ(runOn(*session, {1, 3}, static_cast<float>(runs % 7)).back(), static_cast<float>(runs % 7) + 1);
    ++runs;
  }
  EXPECT_EQ(session->statistics().runsOn, "reference");
  EXPECT_EQ(session->statistics().runsBeforeMove, runs - 1);
}

TEST(Session, StaysOnTheCpuAndSaysWhyWhenTheBackendCannot) {
  auto session = sessionOf(dynamicChain({"AddOne"}), {.backend = "null", .allowFallback = false, .startOnCpu = true});
  EXPECT_EQ(runOn(*session, {1, 1}, 1), (std::vector<float>{2}));
  static_cast<void>(session->waitForMove());
  EXPECT_EQ(runOn(*session, {1, 1}, 2), (std::vector<float>{3}));
  EXPECT_EQ(session->statistics().runsOn, "cpu");
  EXPECT_NE(session->statistics().moveError.find("AddOne"), std::string::npos) << session->statistics().moveError;
}

TEST(Session, RunsOnlyWithValuesForEveryInput) {
  auto session = sessionOf(dynamicChain({"AddOne"}));
  ASSERT_TRUE(session->resizeInput("x", {1, 2}).isOk());
  EXPECT_TRUE(session->resize().isOk());
  const Status missing = session->run();
  EXPECT_EQ(missing.code(), StatusCode::InvalidArgument);
  EXPECT_NE(missing.message().find("1 input is without values: 'x'"), std::string::npos) << missing.message();
  EXPECT_EQ(session->runWithCallback({}, {}).error().code(), StatusCode::InvalidArgument);
  session->fillInput("x")->data<float>()[0] = 1;
  EXPECT_TRUE(session->run().isOk());
  ASSERT_TRUE(session->resizeInput("x", {1, 2}).isOk());  // the same shape keeps them
  EXPECT_TRUE(session->run().isOk());
  EXPECT_TRUE((*session->clone())->run().isOk());
  ASSERT_TRUE(session->resizeInput("x", {1, 3}).isOk());
  EXPECT_EQ(session->run().code(), StatusCode::InvalidArgument);
  ASSERT_TRUE(session->resizeInput("x", {0, 3}).isOk());  // nothing to give
  EXPECT_TRUE(session->run().isOk());
}

TEST(Session, LookingAtAnInputGivesItNoValues) {
  auto session = sessionOf(dynamicChain({"AddOne"}));
  ASSERT_TRUE(session->resizeInput("x", {2, 3}).isOk());
  EXPECT_EQ(session->input("x")->desc.shape, (Shape{2, 3}));
  EXPECT_EQ(session->input("nope"), nullptr);
  EXPECT_NE(session->run().message().find("1 input is without values: 'x'"), std::string::npos);
  std::ranges::fill(session->fillInput("x")->data<float>(), 4.0f);
  EXPECT_TRUE(session->run().isOk());
  EXPECT_EQ(session->input("x")->data<float>()[5], 4.0f);
}

TEST(Session, OutputsHaveValuesAfterARunThatSucceeded) {
  auto session = sessionOf(dynamicChain({"AddOne"}));
  const std::string y = session->outputNames()[0];
  const auto hasNone = [&] { return session->outputs().empty() && session->output(y) == nullptr; };
  EXPECT_TRUE(hasNone());
  ASSERT_TRUE(session->resizeInput("x", {2, 3}).isOk());
  ASSERT_TRUE(session->resize().isOk());
  EXPECT_TRUE(hasNone()) << "after a resize";
  EXPECT_EQ(session->outputDescs()[0].shape, (Shape{2, 3}));
  EXPECT_EQ(runOn(*session, {2, 2}, 0), (std::vector<float>{1, 2, 3, 4}));
  ASSERT_TRUE(session->resize().isOk());
  EXPECT_FALSE(hasNone()) << "nothing was to do";
  ASSERT_TRUE(session->resizeInput("x", {1, 1}).isOk());
  EXPECT_FALSE(session->run().isOk()) << "without values";
  EXPECT_TRUE(hasNone());
  EXPECT_EQ(runOn(*session, {2, 2}, 5), (std::vector<float>{6, 7, 8, 9}));
  const auto stopped = session->runWithCallback([](const CommandInfo&) { return false; }, {});
  EXPECT_FALSE(*stopped);
  EXPECT_TRUE(hasNone()) << "a callback stopped the run";
  ASSERT_TRUE(*session->runWithCallback([](const CommandInfo&) { return true; }, {}));
  EXPECT_FALSE(hasNone());
  ASSERT_TRUE(session->resizeInput("x", {2, 3}).isOk());
  ASSERT_TRUE(session->resize().isOk());
  EXPECT_TRUE(hasNone()) << "of a plan for other shapes";
}

TEST(Session, RefusesThreadsThatNobodyMeans) {
  const auto interpreter = *Interpreter::create(dynamicChain({"AddOne"}), testOps());
  for (const char* backend : {"cpu", "reference", "null"})
    for (const size_t threads : {size_t{100000}, static_cast<size_t>(-1)})
      EXPECT_EQ(interpreter->createSession({.backend = backend, .threads = threads}).error().code(),
                StatusCode::InvalidArgument)
          << backend;
}

TEST(Session, BadRequestsAreOneLine) {
  auto session = sessionOf(dynamicChain({"AddOne"}));
  EXPECT_EQ(session->resizeInput("y", {1, 1}).message(), "no input is called 'y'; the model's inputs are: x");
  EXPECT_EQ(session->resizeInput("x", {1}).message(), "input 'x': the model declares f32[?,?], got shape [1]");
  EXPECT_EQ(session->resizeInput("x", {1, -3}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(session->resizeInput("x", {1 << 30, 1 << 30}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(session->fillInput("nope"), nullptr);
  EXPECT_FALSE(session->readTensor("x"));
  auto interpreter = Interpreter::create(dynamicChain({"NoSuchOp"}), testOps());
  EXPECT_EQ(interpreter.error().code(), StatusCode::Unsupported);
  EXPECT_NE(interpreter.error().message().find("NoSuchOp"), std::string::npos);
}

TEST(Session, GuardsCatchWritesOutside) {
  class Overrun final : public Execution {
   public:
    explicit Overrun(bool copies) : copies_(copies) {}
    Status onResize(TensorList, TensorList) override { return Status::ok(); }
    Status onExecute(TensorList inputs, TensorList outputs) override {
      const auto end = static_cast<size_t>(outputs[0]->desc.elements());
      for (float& element : outputs[0]->data<float>()) element = 0;
      outputs[0]->data<float>().data()[end] = copies_ ? inputs[0]->data<float>().data()[end] : 1;
      return Status::ok();
    }

   private:
    bool copies_;  // the input's guard onto the output's
  };
  for (const bool copies : {false, true}) {
    OpRegistry broken = test::makeTestOps();
    broken.addFirstCreator("cpu", "AddOne",
                           {"broken", [](const CreateArgs&) { return Status::ok(); },
                            [copies](const CreateArgs&, Backend&) -> Result<std::unique_ptr<Execution>> {
                              return std::unique_ptr<Execution>(std::make_unique<Overrun>(copies));
                            }});
    auto interpreter = Interpreter::create(dynamicChain({"AddOne"}), broken);
    auto session = (*interpreter)->createSession({.guardBytes = 64, .poison = true});
    ASSERT_TRUE(session) << session.error().toString();
    runOn(**session, {3, 5}, 0);
    const Status caught = (*session)->checkGuards();
    EXPECT_NE(caught.message().find("past the end of tensor"), std::string::npos) << caught.toString();
  }
  auto clean = sessionOf(dynamicChain({"AddOne"}), {.guardBytes = 64, .poison = true});
  runOn(*clean, {3, 5}, 0);
  EXPECT_TRUE(clean->checkGuards().isOk());
}

TEST(Session, SessionsOfOneInterpreterRunOnSeveralThreads) {
  auto interpreter = *Interpreter::create(dynamicChain({"AddOne", "Mirror", "Negate"}), testOps());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto session = *interpreter->createSession({.threads = 1});
      for (int64_t columns = 1; columns < 20; ++columns) {
        const std::vector<float> y = runOn(*session, {1, columns}, static_cast<float>(t));
        EXPECT_EQ(y.back(), -static_cast<float>(t) - 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace opkit
