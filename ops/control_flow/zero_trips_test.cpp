// Loops and scans without iterations: their slices have the shapes that this run's inputs give, whatever ran before.
#include "engine/testing/test_backends.h"
#include "ops/concat/concat_generated.h"
#include "ops/control_flow/control_flow_test_support.h"
#include "ops/control_flow/scan_generated.h"

namespace opkit::ops::control_flow {
namespace {

/// y = c ? -x : |x|, or with `grows` c ? -x : x twice along axis 0; c is sum(x) > 0, so a stage ends before the If.
TensorId addChoice(Model& body, TensorId x, const std::string& name, bool grows = false) {
  const TensorId zero = body.addConstant(name + " zero", floats({}, {0}));
  const TensorId sum = body.addNode("ReduceMax", name + " largest", {x})[0];
  const TensorId c = body.addNode("Greater", name + " c", {body.addNode("Squeeze", name + " s", {sum})[0], zero})[0];
  Model then, otherwise;
  then.outputs = then.addNode("Neg", name + " t", {then.addInput("x", kAnything)});
  const TensorId in = otherwise.addInput("x", kAnything);
  if (grows)
    otherwise.outputs = otherwise.addNode("Concat", name + " o", {in, in}, packParams(concat::ConcatParamsT()));
  else
    otherwise.outputs = otherwise.addNode("Abs", name + " o", {in});
  const TensorId y = body.addNode("If", name, {c, x})[0];
  body.nodes.back().subgraphs = {{"then_branch", then, {1}}, {"else_branch", otherwise, {1}}};
  return y;
}

/// A body of Loop (iteration, condition, x) -> (condition, x, slice), or of Scan (x) -> (slice).
struct Body {
  Model model;
  TensorId condition, x;
  explicit Body(bool ofLoop) {
    if (ofLoop) {
      model.addInput("iteration", kAnything);
      condition = model.addInput("condition", kAnything);
    }
    x = model.addInput("x", kAnything);
  }
  Model giving(TensorId slice) {
    if (condition)
      model.outputs = {condition, x, slice};
    else
      model.outputs = {slice};
    return model;
  }
};

Model choiceBody(bool ofLoop) {
  Body body(ofLoop);
  return body.giving(addChoice(body.model, body.x, "choice"));
}

Model twoChoicesBody(bool ofLoop) {
  Body body(ofLoop);
  const TensorId y = addChoice(body.model, body.x, "first");
  return body.giving(addChoice(body.model, body.model.addNode("Mul", "square", {y, y})[0], "second"));
}

/// The slice is what an inner Loop of three iterations carries.
Model innerLoopBody(bool ofLoop) {
  Body body(ofLoop);
  Body inner(true);
  const TensorId y = addChoice(inner.model, inner.x, "inner choice");
  inner.model.outputs = {inner.condition, y};
  const TensorId three = body.model.addConstant("three", *Tensor::fromValues<int64_t>({DType::Int64, {}}, {3}));
  const TensorId z = body.model.addNode("Loop", "inner", {three, {}, body.x}, {}, 1)[0];
  body.model.nodes.back().subgraphs = {{"body", inner.model, {}}};
  return body.giving(z);
}

/// The slice is that of an inner Scan over the rows of x as a column: [k, 1].
Model innerScanBody(bool ofLoop) {
  Body body(ofLoop);
  const TensorId column = body.model.addConstant("column", *Tensor::fromValues<int64_t>({DType::Int64, {2}}, {-1, 1}));
  const TensorId rows = body.model.addNode("Reshape", "rows", {body.x, column})[0];
  ScanParamsT params;
  params.num_scan_inputs = 1;
  const TensorId z = body.model.addNode("Scan", "inner", {rows}, packParams(params), 1)[0];
  body.model.nodes.back().subgraphs = {{"body", choiceBody(false), {}}};
  return body.giving(z);
}

/// A choice inside the chosen branch.
Model nestedChoiceBody(bool ofLoop) {
  Body body(ofLoop);
  Model then, otherwise;
  then.outputs = {addChoice(then, then.addInput("x", kAnything), "deep")};
  otherwise.outputs = otherwise.addNode("Neg", "shallow", {otherwise.addInput("x", kAnything)});
  const TensorId zero = body.model.addConstant("zero", floats({}, {0}));
  const TensorId most = body.model.addNode("Squeeze", "most", {body.model.addNode("ReduceMax", "max", {body.x})[0]})[0];
  const TensorId c = body.model.addNode("Greater", "c", {most, zero})[0];
  const TensorId y = body.model.addNode("If", "outer", {c, body.x})[0];
  body.model.nodes.back().subgraphs = {{"then_branch", then, {1}}, {"else_branch", otherwise, {1}}};
  return body.giving(y);
}

Model growingBody(bool ofLoop) {
  Body body(ofLoop);
  return body.giving(addChoice(body.model, body.x, "choice", true));
}

/// Loop over `trips` with x f32[k], or Scan over xs f32[steps, k]; the last output is the stacked slices.
Model loopOver(const Model& body) {
  Model model;
  const TensorId trips = model.addInput("trips", {DType::Int64, {}});
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  addNode(model, "Loop", {trips, {}, x}, {{"body", body, {}}}, 2);
  return model;
}

Model scanOver(const Model& body) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  ScanParamsT params;
  params.num_scan_inputs = 1;
  addNode(model, "Scan", {x}, {{"body", body, {}}}, 1, packParams(params));
  return model;
}

/// Runs with `steps` of slices that are made of k ones; the descriptions of the slices, or the message.
std::string runOnce(Session& session, int64_t steps, int64_t k) {
  const bool isLoop = session.inputNames().size() == 2;
  const Shape shape = isLoop ? Shape{k} : Shape{steps, k};
  EXPECT_TRUE(session.resizeInput("x", shape).isOk());
  if (isLoop) session.fillInput("trips")->data<int64_t>()[0] = steps;
  std::ranges::fill(session.fillInput("x")->data<float>(), 1.0f);
  const Status status = session.run();
  return status.isOk() ? session.outputs().back().desc.toString() : status.message();
}

struct Row {
  const char* name;
  Model (*body)(bool ofLoop);
  const char* slice;  // appended to the extent k
};

constexpr Row kRows[] = {{"choice", choiceBody, ""},
                         {"two choices", twoChoicesBody, ""},
                         {"inner loop", innerLoopBody, ""},
                         {"inner scan", innerScanBody, ",1"},
                         {"nested choice", nestedChoiceBody, ""}};

TEST(ZeroTrips, SlicesHaveTheShapesOfThisRun) {
  for (const std::string& backend : testBackends())
    for (const Row& row : kRows)
      for (const bool isLoop : {true, false}) {
        SCOPED_TRACE(fmt::format("{}: {} in a {}", backend, row.name, isLoop ? "loop" : "scan"));
        const Model model = isLoop ? loopOver(row.body(true)) : scanOver(row.body(false));
        const auto expected = [&](int64_t steps, int64_t k) {
          return fmt::format("f32[{},{}{}]", steps, k, row.slice);
        };
        EXPECT_EQ(runOnce(*sessionOf(model, {.backend = backend}), 0, 3), expected(0, 3)) << "in a fresh session";
        const auto session = sessionOf(model, {.backend = backend});
        for (const auto& [steps, k] : {std::pair{2, 2}, {0, 4}, {0, 2}, {1, 5}, {0, 3}, {2, 2}})
          EXPECT_EQ(runOnce(*session, steps, k), expected(steps, k));
      }
}

/// The branches differ: a loop has the values that choose, a scan of nothing has not.
TEST(ZeroTrips, ShapesThatDependOnValues) {
  for (const std::string& backend : testBackends()) {
    SCOPED_TRACE(backend);
    const auto loop = sessionOf(loopOver(growingBody(true)), {.backend = backend});
    EXPECT_EQ(runOnce(*loop, 0, 3), "f32[0,3]");
    const auto scan = sessionOf(scanOver(growingBody(false)), {.backend = backend});
    EXPECT_EQ(runOnce(*scan, 2, 3), "f32[2,3]");
    const std::string message = runOnce(*scan, 0, 3);
    EXPECT_NE(message.find("its branches give f32[3] and f32[6]"), std::string::npos) << message;
    EXPECT_TRUE(scan->outputs().empty()) << "the values of the run before are gone";
  }
}

/// Whoever describes a body for a loop without iterations starts no command of it.
TEST(ZeroTrips, NoCommandOfTheBodyRuns) {
  const auto session = sessionOf(loopOver(choiceBody(true)), {.backend = "cpu"});
  ASSERT_TRUE(session->resizeInput("x", {3}).isOk());
  session->fillInput("trips")->data<int64_t>()[0] = 0;
  session->fillInput("x");
  std::vector<std::string> seen;
  const auto ran =
      session->runWithCallback([&](const CommandInfo& command) { return seen.push_back(command.node), true; }, {});
  ASSERT_TRUE(ran) << ran.error().message();
  EXPECT_EQ(seen, std::vector<std::string>{"control"});
}

}  // namespace
}  // namespace opkit::ops::control_flow
