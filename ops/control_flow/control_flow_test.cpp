// If, Loop and Scan on every backend: subgraphs, iterations, shapes.
#include "ops/control_flow/control_flow.h"

#include <filesystem>

#include "engine/base/host_memory.h"
#include "engine/tensor/objects.h"
#include "ops/concat/concat_generated.h"
#include "ops/control_flow/control_flow_test_support.h"

namespace opkit::ops::control_flow {
namespace {

/// x -> x + x, then: condition ? -that : that as a row; the branches differ in shape.
Model ifModel() {
  Model model;
  const TensorId condition = model.addInput("condition", {DType::Bool, {}});
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 2}});
  const TensorId twice = model.addNode("Add", "twice", {x, x})[0];
  Model then, otherwise;
  then.outputs = then.addNode("Neg", "negated", {then.addInput("twice", kAnything)});
  const TensorId row = otherwise.addConstant("row", *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {-1}));
  otherwise.outputs = otherwise.addNode("Reshape", "flat", {otherwise.addInput("twice", kAnything), row});
  addNode(model, "If", {condition, twice}, {{"then_branch", then, {1}}, {"else_branch", otherwise, {1}}}, 1);
  model.outputs = model.addNode("Relu", "y", {model.outputs[0]});
  return model;
}

TEST(ControlFlow, IfRunsOneBranchOnWhatSurroundsIt) {
  for (const std::string& backend : backends()) {
    auto session = sessionOf(ifModel(), {.backend = backend});
    for (const bool condition : {true, false, true}) {
      ASSERT_TRUE(session->resizeInput("x", {2, 2}).isOk());
      session->fillInput("condition")->data<uint8_t>()[0] = condition;
      convertElements(floats({2, 2}, {1, -2, 3, -4}), *session->fillInput("x"));
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      EXPECT_EQ(session->output("y")->desc.shape, condition ? (Shape{2, 2}) : Shape{4});
      EXPECT_EQ(read(*session, "y"), condition ? (std::vector<float>{0, 4, 0, 8}) : (std::vector<float>{2, 0, 6, 0}));
    }
    const std::vector<Placement> rows = session->placement();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                            [&](const Placement& row) { return row.node == "control/then_branch/negated"; }));
    EXPECT_TRUE(std::none_of(rows.begin(), rows.end(), [](const Placement& row) { return row.fellBack; }));
  }
}

// An output that is an input, a constant or another output: a caller may write to it, and read it after filling inputs.
size_t threadsOfTheProcess() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

/// y = x after ten Ifs that negate it or leave it.
Model manyIfs() {
  Model model;
  const TensorId condition = model.addInput("condition", {DType::Bool, {}});
  TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  for (int i = 0; i < 10; ++i) {
    Model then, otherwise;
    then.outputs = then.addNode("Neg", "negated", {then.addInput("x", kAnything)});
    otherwise.outputs = otherwise.addNode("Abs", "absolute", {otherwise.addInput("x", kAnything)});
    x = model.addNode("If", fmt::format("if{}", i), {condition, x}, ParamBytes{}, 1)[0];
    model.nodes.back().subgraphs = {{"then_branch", then, {1}}, {"else_branch", otherwise, {1}}};
  }
  model.outputs = {x};
  return model;
}

TEST(ControlFlow, TheBodiesOfASessionShareItsThreads) {
  const auto interpreter = *Interpreter::create(manyIfs(), builtinOps());
  const size_t before = threadsOfTheProcess();
  const auto session = *interpreter->createSession({.threads = 4});
  ASSERT_TRUE(session->resizeInput("x", {3}).isOk());
  std::ranges::fill(session->fillInput("x")->data<float>(), 2.0f);
  session->fillInput("condition")->data<uint8_t>()[0] = 1;
  ASSERT_TRUE(session->run().isOk());
  EXPECT_EQ(session->outputs()[0].data<float>()[2], 2);  // negated ten times
  EXPECT_EQ(threadsOfTheProcess(), before + 3);
}

TEST(ControlFlow, OutputsHaveMemoryOfTheirOwn) {
  Model model = ifModel();
  const TensorId constant = model.addConstant("constant", floats({2}, {5, 6}));
  model.outputs = {model.outputs[0], model.inputs[1], constant, model.outputs[0], model.inputs[1]};
  for (const std::string& backend : backends()) {
    auto session = sessionOf(model, {.backend = backend});
    ASSERT_TRUE(session->resizeInput("x", {1, 2}).isOk());
    for (int run = 0; run < 2; ++run) {
      session->fillInput("condition")->data<uint8_t>()[0] = 1;
      convertElements(floats({1, 2}, {1, -2}), *session->fillInput("x"));
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      const std::vector<std::vector<float>> expected = {{0, 4}, {1, -2}, {5, 6}, {0, 4}, {1, -2}};
      session->fillInput("x")->data<float>()[0] = 9;
      for (size_t i = 0; i < expected.size(); ++i) {
        const std::span<float> values = session->outputs()[i].data<float>();
        EXPECT_EQ(std::vector<float>(values.begin(), values.end()), expected[i]) << backend << " output " << i;
        std::ranges::fill(values, -1.0f);
      }
    }
  }
}

/// Doubles `carried` while it is below `limit`, at most `trips` times; returns it and all its values.
Model loopModel() {
  Model model;
  const TensorId trips = model.addInput("trips", {DType::Int64, {}});
  const TensorId start = model.addInput("start", {DType::Float32, {2}});
  const TensorId limit = model.addInput("limit", {DType::Float32, {}});
  Model body;
  body.addInput("iteration", kAnything);
  body.addInput("condition", kAnything);
  const TensorId carried = body.addInput("carried", kAnything);
  const TensorId bound = body.addInput("limit", kAnything);
  const TensorId doubled = body.addNode("Add", "doubled", {carried, carried})[0];
  const TensorId largest = body.addNode("ReduceMax", "largest", {doubled})[0];
  const TensorId whole = body.addNode("Squeeze", "scalar", {largest})[0];
  body.outputs = {body.addNode("Less", "goes on", {whole, bound})[0], doubled, doubled};
  addNode(model, "Loop", {trips, {}, start, limit}, {{"body", body, {3}}}, 2);
  return model;
}

TEST(ControlFlow, LoopsStopByCountOrConditionAndStackTheirScans) {
  struct Row {
    int64_t trips;
    float limit;
    int64_t expected;  // iterations
  };
  for (const std::string& backend : backends()) {
    auto session = sessionOf(loopModel(), {.backend = backend});
    for (const Row& row : {Row{3, 1e9f, 3}, Row{10, 20, 4}, Row{0, 1e9f, 0}, Row{3, 1e9f, 3}}) {
      session->fillInput("trips")->data<int64_t>()[0] = row.trips;
      session->fillInput("limit")->data<float>()[0] = row.limit;
      convertElements(floats({2}, {1, 2}), *session->fillInput("start"));
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      EXPECT_EQ(session->output("control:1")->desc.shape, (Shape{row.expected, 2}));
      const auto factor = static_cast<float>(1 << row.expected);
      EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{factor, 2 * factor}));
      const std::vector<float> scans = read(*session, "control:1");
      for (size_t i = 0; i < scans.size(); ++i)
        EXPECT_EQ(scans[i], static_cast<float>(2 << (i / 2)) * static_cast<float>(1 + i % 2));
    }
  }
}

void setLoop(Session& session, int64_t trips, float limit) {
  session.fillInput("trips")->data<int64_t>()[0] = trips;
  session.fillInput("limit")->data<float>()[0] = limit;
  convertElements(floats({2}, {1, 2}), *session.fillInput("start"));
}

TEST(ControlFlow, ALoopWithoutAnEndIsStoppedByTheLimit) {
  auto session = sessionOf(loopModel(), {.iterationLimit = 100});
  setLoop(*session, INT64_MAX, std::numeric_limits<float>::infinity());
  const Status status = session->run();
  // Doubling 2 reaches infinity after 127 steps, so it would end.
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("body: it ran 100 times and no condition ended it"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("iterationLimit"), std::string::npos);
  setLoop(*session, 100, std::numeric_limits<float>::infinity());  // counts restart with each run of the node
  EXPECT_TRUE(session->run().isOk());
  EXPECT_TRUE(session->run().isOk());
  auto unlimited = sessionOf(loopModel(), {.iterationLimit = 0});
  setLoop(*unlimited, INT64_MAX, std::numeric_limits<float>::infinity());
  EXPECT_TRUE(unlimited->run().isOk());
  EXPECT_EQ(unlimited->output("control:1")->desc.shape, (Shape{127, 2}));
}

TEST(ControlFlow, CallbacksSeeNodesOfControlFlowAndOfTheirBodies) {
  for (const std::string& backend : backends()) {
    auto session = sessionOf(loopModel(), {.backend = backend});
    setLoop(*session, 3, 1e9f);
    std::vector<std::string> began;
    std::vector<float> doubled;
    const auto before = [&](const CommandInfo& command) {
      began.push_back(command.node);
      if (command.node == "control") {
        EXPECT_EQ(command.type, "Loop");
        EXPECT_EQ(command.backend, "host");
        EXPECT_EQ(toInt64(*command.readInput(0))[0], 3);
        EXPECT_FALSE(command.readInput(1));  // absent
        EXPECT_FALSE(command.readInput(9));
      }
      return true;
    };
    const auto after = [&](const CommandInfo& command) {
      if (command.node == "control/body/doubled") doubled.push_back(command.readOutput(0)->data<float>()[0]);
      return true;
    };
    const Result<bool> ran = session->runWithCallback(before, after);
    ASSERT_TRUE(ran) << ran.error().toString();
    EXPECT_TRUE(*ran);
    EXPECT_EQ(std::ranges::count(began, "control"), 1);
    EXPECT_EQ(std::ranges::count(began, "control/body/doubled"), 3);
    EXPECT_EQ(doubled, (std::vector<float>{2, 4, 8}));
    EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{8, 16}));
    // Stopped within the second iteration.
    int seen = 0;
    const Result<bool> stopped = session->runWithCallback(
        [&](const CommandInfo& command) { return command.node != "control/body/doubled" || ++seen < 2; }, {});
    ASSERT_TRUE(stopped) << stopped.error().toString();
    EXPECT_FALSE(*stopped);
    EXPECT_EQ(seen, 2);
    EXPECT_TRUE(session->run().isOk());
    EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{8, 16}));
  }
}

TEST(ControlFlow, AStoppedRunHasNoValueOfTheRunBefore) {
  auto session = sessionOf(loopModel(), {.keepTensors = true});
  setLoop(*session, 3, 1e9f);
  ASSERT_TRUE(session->run().isOk() && session->readTensor("control:0"));
  EXPECT_TRUE(session->runWithCallback([](const CommandInfo& command) { return command.node != "control"; }, {}));
  EXPECT_FALSE(session->readTensor("control:0"));
}

TEST(ControlFlow, StagesAndBodiesStartOnTheCpuAndMoveOver) {
  for (const std::string& backend : backends()) {
    if (backend == "cpu") continue;
    auto session = sessionOf(loopModel(), {.backend = backend, .startOnCpu = true});
    setLoop(*session, 3, 1e9f);
    ASSERT_TRUE(session->run().isOk());
    EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{8, 16}));
    ASSERT_TRUE(session->waitForMove().isOk());
    EXPECT_EQ(session->statistics().runsOn, backend);
    EXPECT_EQ(session->statistics().moveError, "");
    ASSERT_TRUE(session->run().isOk());
    EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{8, 16}));
    for (const Placement& row : session->placement()) {
      if (row.provider != "control") {
        EXPECT_EQ(row.backend, backend) << row.node;
      }
    }
  }
}

TEST(ControlFlow, LoopInsideIfReadsValuesOfBothGraphsAround) {
  Model inner;  // carried += outer, three times
  inner.addInput("iteration", kAnything);
  const TensorId condition = inner.addInput("condition", kAnything);
  const TensorId carried = inner.addInput("carried", kAnything);
  inner.outputs = {condition, inner.addNode("Add", "sum", {carried, inner.addInput("outer", kAnything)})[0]};
  Model then;
  const TensorId outer = then.addInput("outer", kAnything);
  const TensorId trips = then.addConstant("trips", *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {3}));
  const TensorId zero = then.addConstant("zero", floats({1}, {0}));
  addNode(then, "Loop", {trips, {}, zero, outer}, {{"body", inner, {3}}}, 1);
  Model otherwise;
  otherwise.outputs = {otherwise.addInput("outer", kAnything)};
  Model model;
  const TensorId choice = model.addInput("choice", {DType::Bool, {}});
  const TensorId x = model.addInput("x", {DType::Float32, {1}});
  addNode(model, "If", {choice, x}, {{"then_branch", then, {1}}, {"else_branch", otherwise, {1}}}, 1);
  const Model stored = *readModel(*writeModel(model));
  for (const Model& which : {model, stored}) {
    auto session = sessionOf(which, {.backend = "cpu"});
    session->fillInput("x")->data<float>()[0] = 5;
    for (const bool choose : {true, false}) {
      session->fillInput("choice")->data<uint8_t>()[0] = choose;
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      EXPECT_EQ(read(*session, "control"), std::vector<float>{choose ? 15.0f : 5.0f});
    }
  }
}

/// Running sums of the rows of x, walked backwards, stacked along axis 1.
TEST(ControlFlow, ScanWalksAndStacksAlongAxes) {
  Model body;
  const TensorId sum = body.addInput("sum", kAnything);
  const TensorId next = body.addNode("Add", "next", {sum, body.addInput("row", kAnything)})[0];
  body.outputs = {next, next};
  Model model;
  const TensorId start = model.addConstant("start", floats({2}, {0, 0}));
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 2}});
  ScanParamsT params;
  params.num_scan_inputs = 1;
  params.scan_input_directions = {1};
  params.scan_output_axes = {-1};
  addNode(model, "Scan", {start, x}, {{"body", body, {}}}, 2, packParams(params));
  for (const std::string& backend : backends()) {
    auto session = sessionOf(model, {.backend = backend});
    ASSERT_TRUE(session->resizeInput("x", {3, 2}).isOk());
    convertElements(floats({3, 2}, {1, 2, 3, 4, 5, 6}), *session->fillInput("x"));
    const Status status = session->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{9, 12}));
    EXPECT_EQ(session->output("control:1")->desc.shape, (Shape{2, 3}));
    EXPECT_EQ(read(*session, "control:1"), (std::vector<float>{5, 8, 9, 6, 10, 12}));
    ASSERT_TRUE(session->resizeInput("x", {0, 2}).isOk());
    const Status none = session->run();
    ASSERT_TRUE(none.isOk()) << none.toString();
    EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{0, 0})) << "the initial state";
    EXPECT_EQ(session->output("control:1")->desc.toString(), "f32[2,0]");
  }
}

/// Running sums of the rows of a batch of two, of its own length each.
Model batchedScan(int64_t direction, const Tensor& lengths) {
  Model body;
  const TensorId sum = body.addInput("sum", kAnything);
  const TensorId next = body.addNode("Add", "next", {sum, body.addInput("row", kAnything)})[0];
  body.outputs = {next, next};
  Model model;
  ScanParamsT params;
  params.num_scan_inputs = 1;
  params.scan_input_directions = {direction};
  params.batched = params.has_lengths = true;
  const TensorId start = model.addConstant("start", floats({2, 2}, {1, 2, 3, 4}));
  const TensorId x = model.addConstant("x", floats({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  addNode(model, "Scan", {model.addConstant("lengths", lengths), start, x}, {{"body", body, {}}}, 2,
          packParams(params));
  return model;
}

Tensor lengthsOf(const std::vector<int64_t>& lengths) {
  return *Tensor::fromValues<int64_t>({DType::Int64, {static_cast<int64_t>(lengths.size())}}, lengths);
}

TEST(ControlFlow, ScanRunsAsManyStepsOfAnImageAsItHas) {
  struct Case {
    int64_t direction;
    std::vector<int64_t> lengths;
    std::vector<float> states, sums;
  };
  const std::vector<Case> cases{// those without a length of 0 as ONNX Runtime 1.30 computes them
                                {0, {3, 1}, {7, 11, 9, 11}, {1, 3, 3, 6, 7, 11, 9, 11, 0, 0, 0, 0}},
                                {1, {3, 1}, {7, 11, 9, 11}, {5, 7, 7, 10, 7, 11, 9, 11, 0, 0, 0, 0}},
                                {1, {0, 2}, {1, 2, 17, 20}, {0, 0, 0, 0, 0, 0, 11, 13, 17, 20, 0, 0}},
                                {0, {0, 0}, {1, 2, 3, 4}, std::vector<float>(12, 0.0f)}};
  for (const std::string& backend : backends())
    for (const Case& expected : cases) {
      auto session = sessionOf(batchedScan(expected.direction, lengthsOf(expected.lengths)), {.backend = backend});
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      EXPECT_EQ(read(*session, "control:0"), expected.states);
      EXPECT_EQ(session->output("control:1")->desc.toString(), "f32[2,3,2]");
      EXPECT_EQ(read(*session, "control:1"), expected.sums);
    }
}

TEST(ControlFlow, LengthsOfAScanMustFit) {
  const auto refusal = [](const Tensor& lengths) {
    return sessionOf(batchedScan(0, lengths), {.backend = "cpu"})->run().message();
  };
  EXPECT_EQ(refusal(lengthsOf({3, 4})), "node 'control': Scan: sequence_lens must be in [0, 3], got 4");
  EXPECT_EQ(refusal(lengthsOf({-1, 2})), "node 'control': Scan: sequence_lens must be in [0, 3], got -1");
  EXPECT_EQ(refusal(lengthsOf({3})), "node 'control': Scan: sequence_lens must be i64[2] or i32[2], got i64[1]");
  EXPECT_EQ(refusal(floats({2}, {1, 1})), "node 'control': Scan: sequence_lens must be i64[2] or i32[2], got f32[2]");
}

TEST(ControlFlow, TheConditionOfABodyIsOneFlag) {
  for (const Tensor& condition : {floats({1}, {1}), stringTensor({1}, {"yes"}), lengthsOf({1}),
                                  *Tensor::fromValues<uint8_t>({DType::Bool, {2}}, {1, 1})}) {
    Model body;
    body.addInput("iteration", kAnything);
    body.addInput("condition", kAnything);
    body.outputs = {body.addConstant("again", condition)};
    const TensorId x = body.addConstant("x", floats({1}, {1}));
    body.outputs.push_back(body.addNode("Neg", "slice", {x})[0]);
    Model model;
    const TensorId trips = model.addConstant("trips", lengthsOf({2}));
    addNode(model, "Loop", {trips, {}}, {{"body", body, {}}}, 1);
    EXPECT_EQ(sessionOf(model, {.backend = "cpu"})->run().message(),
              "node 'control': Loop: the body's condition must hold one bool, got " + condition.desc.toString());
  }
}

/// Appends `carried` to itself, without end.
TEST(ControlFlow, ALoopThatGrowsWithoutEndIsOutOfMemory) {
  const size_t before = hostMemoryLimit();
  for (const std::string& backend : backends()) {
    Model body;
    body.addInput("iteration", kAnything);
    const TensorId condition = body.addInput("condition", kAnything);
    const TensorId carried = body.addInput("carried", kAnything);
    const TensorId twice = body.addNode("Concat", "twice", {carried, carried}, packParams(concat::ConcatParamsT()))[0];
    body.outputs = {condition, twice};
    Model model;
    const TensorId start = model.addInput("start", {DType::Float32, {1024}});
    addNode(model, "Loop", {{}, {}, start}, {{"body", body, {}}}, 1);
    auto session = sessionOf(model, {.backend = backend});
    session->fillInput("start");
    setHostMemoryLimit(hostMemoryInUse() + (size_t{64} << 20));
    const Status status = session->run();
    EXPECT_EQ(status.code(), StatusCode::OutOfMemory) << backend << ": " << status.toString();
    EXPECT_NE(status.message().find("node 'control'"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("the limit is"), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
    setHostMemoryLimit(before);
  }
}

TEST(ControlFlow, MistakesAreOneLine) {
  Model model = ifModel();
  model.nodes[NodeId(1)].subgraphs[0].name = "than_branch";
  EXPECT_EQ(Interpreter::create(model, builtinOps()).error().message(),
            "node 'control': expected subgraph 'then_branch', found 'than_branch'");
  model = ifModel();
  model.nodes[NodeId(1)].subgraphs[0].captures = {7};
  EXPECT_EQ(Interpreter::create(model, builtinOps()).error().code(), StatusCode::Corrupt);
  model = ifModel();
  model.nodes[NodeId(1)].subgraphs.pop_back();
  EXPECT_NE(Interpreter::create(model, builtinOps()).error().message().find("takes 2 subgraphs, found 1"),
            std::string::npos);
  model = loopModel();
  model.nodes[NodeId(0)].subgraphs[0].model.outputs.resize(1);
  auto session = sessionOf(model, {.backend = "cpu"});
  setLoop(*session, 1, 1);
  EXPECT_NE(session->run().message().find("the body must take (iteration, condition, carried...)"), std::string::npos);
}

/// A loop of `trips` that gives the value around it in every iteration.
Model stackingModel(DType dtype) {
  Model body;
  body.addInput("iteration", kAnything);
  const TensorId condition = body.addInput("condition", {DType::Bool, {}});
  body.outputs = {body.addNode("Identity", "goes on", {condition})[0], body.addInput("value", kAnything)};
  Model model;
  const TensorId trips = model.addInput("trips", {DType::Int64, {}});
  const TensorId value = model.addInput("value", {dtype, {kDynamic}});
  addNode(model, "Loop", {trips, {}, value}, {{"body", body, {2}}}, 1);
  return model;
}

TEST(ControlFlow, ALoopStacksStringsAndRefusesElementsThatShareBytes) {
  for (const std::string& backend : backends()) {
    auto session = sessionOf(stackingModel(DType::String), {.backend = backend});
    session->fillInput("trips")->data<int64_t>()[0] = 2;
    *session->fillInput("value") = stringTensor({2}, {"a", "b"});
    const Status status = session->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    EXPECT_EQ(session->outputs()[0].desc.toString(), "string[2,2]");
    EXPECT_EQ(stringsOf(session->outputs()[0]), (std::vector<std::string>{"a", "b", "a", "b"}));
  }
  auto session = sessionOf(stackingModel(DType::Int4), {.backend = "cpu"});
  ASSERT_TRUE(session->resizeInput("value", {2}).isOk());
  session->fillInput("trips")->data<int64_t>()[0] = 2;
  std::ranges::fill(session->fillInput("value")->bytes(), std::byte{0x21});
  const Status status = session->run();
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_NE(status.message().find("Loop: elements of i4 cannot be moved one by one"), std::string::npos)
      << status.message();
}

TEST(ControlFlow, SlicesAndStacks) {
  const Tensor whole = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor column = *sliceOf(whole, 1, 2);
  EXPECT_EQ(column.data<float>()[1], 6);
  const std::vector<Tensor> columns{*sliceOf(whole, 1, 0), *sliceOf(whole, 1, 1), column};
  const Tensor again = *stack(columns, -1, {});
  EXPECT_TRUE(std::equal(again.data<float>().begin(), again.data<float>().end(), whole.data<float>().begin()));
  EXPECT_EQ(stack({}, 0, {DType::Float32, {4}})->desc.shape, (Shape{0, 4}));
  EXPECT_FALSE(stack(std::vector<Tensor>{column, whole}, 0, {}));
  EXPECT_FALSE(stack(columns, 5, {}));
}

}  // namespace
}  // namespace opkit::ops::control_flow
