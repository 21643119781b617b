// Values around a node of control flow: bodies read them where they are, and a device gets each of them once.
#include "ops/control_flow/control_flow_test_support.h"
#include "ops/control_flow/scan_generated.h"
#include "ops/gather/gather_generated.h"

namespace opkit::ops::control_flow {
namespace {

constexpr int64_t kElements = 5000;
constexpr uint64_t kBytes = kElements * sizeof(float);

Tensor integers(const Shape& shape, const std::vector<int64_t>& values) {
  return *Tensor::fromValues<int64_t>({DType::Int64, shape}, values);
}

/// A body (iteration, condition, sum, table) -> (condition, sum + table[iteration]).
Model gatheringBody() {
  Model body;
  const TensorId iteration = body.addInput("iteration", kAnything);
  const TensorId condition = body.addInput("condition", kAnything);
  const TensorId sum = body.addInput("sum", kAnything);
  const TensorId table = body.addInput("table", kAnything);
  const TensorId one = body.addNode("Gather", "one", {table, iteration}, packParams(gather::GatherParamsT()))[0];
  body.outputs = {condition, body.addNode("Add", "next", {sum, one})[0]};
  return body;
}

/// The sum of the first elements of x, or with `computed` of 2 x.
Model gatheringModel(bool computed = false) {
  Model model;
  const TensorId trips = model.addInput("trips", {DType::Int64, {}});
  TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  if (computed) x = model.addNode("Add", "twice", {x, x})[0];
  const TensorId zero = model.addConstant("zero", floats({}, {0}));
  addNode(model, "Loop", {trips, {}, zero, x}, {{"body", gatheringBody(), {3}}}, 1);
  return model;
}

void setTable(Session& session, int64_t elements, float factor) {
  ASSERT_TRUE(session.resizeInput("x", {elements}).isOk());
  const std::span<float> x = session.fillInput("x")->data<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = factor * static_cast<float>(i % 100);
}

/// Runs, and returns the bytes that were uploaded meanwhile.
uint64_t uploadedBy(Session& session) {
  const uint64_t before = session.counters().bytesUploaded;
  const Status status = session.run();
  EXPECT_TRUE(status.isOk()) << status.toString();
  return session.counters().bytesUploaded - before;
}

bool isHost(const std::string& backend) { return backend == "cpu"; }

TEST(Captures, AreNotCopiedInEachTrip) {
  for (const std::string& backend : backends())
    for (const bool computed : {false, true}) {
      auto session = sessionOf(gatheringModel(computed), {.backend = backend});
      setTable(*session, kElements, 1);
      const uint64_t perRun = (isHost(backend) ? 0 : kBytes) + (computed && !isHost(backend) ? kBytes : 0);
      for (const int64_t trips : {50, 7, 0}) {
        session->fillInput("trips")->data<int64_t>()[0] = trips;
        EXPECT_LT(uploadedBy(*session), perRun + kBytes / 2) << backend << ", " << trips << " trips";
        const auto expected = static_cast<float>(trips * (trips - 1) / 2 * (computed ? 2 : 1));
        EXPECT_EQ(read(*session, "control"), std::vector<float>{expected});
      }
    }
}

TEST(Captures, MayChangeBetweenRuns) {
  for (const std::string& backend : backends())
    for (const bool computed : {false, true}) {
      auto session = sessionOf(gatheringModel(computed), {.backend = backend});
      session->fillInput("trips")->data<int64_t>()[0] = 4;
      for (const auto& [elements, factor] :
           {std::pair{100, 1.0f}, {100, 2.0f}, {300, 3.0f}, {100, 4.0f}, {300, 5.0f}}) {
        setTable(*session, elements, factor);
        const Status status = session->run();
        ASSERT_TRUE(status.isOk()) << status.toString();
        EXPECT_EQ(read(*session, "control"), std::vector<float>{factor * 6 * (computed ? 2 : 1)}) << backend;
      }
    }
}

/// Outer trips that each run an inner loop of three: the table comes from around both.
TEST(Captures, CrossTwoLoopsOnce) {
  Model body;
  body.addInput("iteration", kAnything);
  const TensorId condition = body.addInput("condition", kAnything);
  const TensorId sum = body.addInput("sum", kAnything);
  const TensorId table = body.addInput("table", kAnything);
  const TensorId three = body.addConstant("three", integers({}, {3}));
  const TensorId inner = body.addNode("Loop", "inner", {three, {}, sum, table}, {}, 1)[0];
  body.nodes.back().subgraphs = {{"body", gatheringBody(), {3}}};
  body.outputs = {condition, inner};
  Model model;
  const TensorId trips = model.addInput("trips", {DType::Int64, {}});
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  const TensorId zero = model.addConstant("zero", floats({}, {0}));
  addNode(model, "Loop", {trips, {}, zero, x}, {{"body", body, {3}}}, 1);
  for (const std::string& backend : backends()) {
    auto session = sessionOf(model, {.backend = backend});
    setTable(*session, kElements, 1);
    for (const int64_t outer : {20, 5, 0}) {
      session->fillInput("trips")->data<int64_t>()[0] = outer;
      EXPECT_LT(uploadedBy(*session), (isHost(backend) ? 0 : kBytes) + kBytes / 2) << backend;
      EXPECT_EQ(read(*session, "control"), std::vector<float>{static_cast<float>(3 * outer)});
    }
  }
}

/// The carried values change places, so the body has two plans in turn: one overwrites what the other holds.
TEST(Captures, OutliveTheOtherPlansOfABody) {
  Model body;
  const TensorId iteration = body.addInput("iteration", kAnything);
  const TensorId condition = body.addInput("condition", kAnything);
  const TensorId sum = body.addInput("sum", kAnything);
  const TensorId a = body.addInput("a", kAnything);
  const TensorId b = body.addInput("b", kAnything);
  const TensorId table = body.addInput("table", kAnything);
  // The first node and the last one read a, so that it lies before the table in memory.
  const TensorId largest = body.addNode("ReduceMax", "largest", {a})[0];
  const TensorId scalar = body.addNode("Squeeze", "scalar", {largest})[0];
  const TensorId one = body.addNode("Gather", "one", {table, iteration}, packParams(gather::GatherParamsT()))[0];
  const TensorId next = body.addNode("Add", "next", {sum, body.addNode("Mul", "product", {scalar, one})[0]})[0];
  const TensorId unit = body.addConstant("unit", floats({}, {1}));
  body.outputs = {condition, next, b, body.addNode("Mul", "same", {a, unit})[0]};
  Model model;
  const TensorId trips = model.addConstant("trips", integers({}, {8}));
  const TensorId zero = model.addConstant("zero", floats({}, {0}));
  const TensorId first = model.addInput("first", {DType::Float32, {300}});
  const TensorId second = model.addInput("second", {DType::Float32, {7000}});
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  addNode(model, "Loop", {trips, {}, zero, first, second, x}, {{"body", body, {5}}}, 3);
  for (const std::string& backend : backends()) {
    auto session = sessionOf(model, {.backend = backend});
    setTable(*session, 3000, 1);
    std::ranges::fill(session->fillInput("first")->data<float>(), 1.0f);
    std::ranges::fill(session->fillInput("second")->data<float>(), 2.0f);
    for (int run = 0; run < 2; ++run) {
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      EXPECT_EQ(read(*session, "control:0"), std::vector<float>{0 + 2 + 2 + 6 + 4 + 10 + 6 + 14}) << backend;
      EXPECT_EQ(session->output("control:1")->desc.shape, (Shape{300}));
    }
  }
}

/// x is around the body, the first value of what it carries, and each of its slices; the loop does not change it.
TEST(Captures, MayBeCarriedAndHandedOn) {
  Model body;
  body.addInput("iteration", kAnything);
  const TensorId condition = body.addInput("condition", kAnything);
  const TensorId carried = body.addInput("carried", kAnything);
  const TensorId same = body.addInput("same", kAnything);
  const TensorId around = body.addInput("x", kAnything);
  body.outputs = {condition, body.addNode("Add", "next", {carried, around})[0], same, around};
  Model model;
  const TensorId trips = model.addInput("trips", {DType::Int64, {}});
  const TensorId x = model.addInput("x", {DType::Float32, {2}});
  addNode(model, "Loop", {trips, {}, x, x, x}, {{"body", body, {4}}}, 3);
  for (const std::string& backend : backends()) {
    auto session = sessionOf(model, {.backend = backend});
    for (const float factor : {1.0f, 3.0f})
      for (const int64_t count : {3, 0, 1}) {
        session->fillInput("trips")->data<int64_t>()[0] = count;
        convertElements(floats({2}, {factor, 2 * factor}), *session->fillInput("x"));
        const Status status = session->run();
        ASSERT_TRUE(status.isOk()) << status.toString();
        const float sum = static_cast<float>(1 + count) * factor;
        EXPECT_EQ(read(*session, "control:0"), (std::vector<float>{sum, 2 * sum})) << backend;
        EXPECT_EQ(read(*session, "control:1"), (std::vector<float>{factor, 2 * factor}));
        EXPECT_EQ(session->output("control:2")->desc.shape, (Shape{count, 2}));
        for (const Tensor& output : session->outputs()) std::ranges::fill(output.data<float>(), -1.0f);
        EXPECT_EQ(session->input("x")->data<float>()[0], factor) << "an output is the input's memory";
      }
  }
}

TEST(Captures, OfBranchesAndScansAreNotCopiedEither) {
  Model branch;
  const TensorId table = branch.addInput("table", kAnything);
  const TensorId zero = branch.addConstant("index", integers({1}, {7}));
  branch.outputs = {branch.addNode("Gather", "one", {table, zero}, packParams(gather::GatherParamsT()))[0]};
  Model scan;
  const TensorId row = scan.addInput("row", kAnything);
  const TensorId around = scan.addInput("table", kAnything);
  const TensorId picked = scan.addNode("Gather", "picked", {around, row}, packParams(gather::GatherParamsT()))[0];
  scan.outputs = {picked};
  Model model;
  const TensorId condition = model.addInput("condition", {DType::Bool, {}});
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  const TensorId rows = model.addConstant("rows", integers({30, 1}, std::vector<int64_t>(30, 8)));
  ScanParamsT params;
  params.num_scan_inputs = 1;
  const TensorId scanned = model.addNode("Scan", "scan", {rows, x}, packParams(params), 1)[0];
  model.nodes.back().subgraphs = {{"body", scan, {1}}};
  addNode(model, "If", {condition, x}, {{"then_branch", branch, {1}}, {"else_branch", branch, {1}}}, 1);
  model.outputs.push_back(scanned);
  for (const std::string& backend : backends()) {
    auto session = sessionOf(model, {.backend = backend});
    setTable(*session, kElements, 1);
    session->fillInput("condition")->data<uint8_t>()[0] = 1;
    for (int run = 0; run < 2; ++run) {
      EXPECT_LT(uploadedBy(*session), (isHost(backend) ? 0 : 2 * kBytes) + kBytes / 2) << backend;
      EXPECT_EQ(read(*session, "control"), std::vector<float>{7});
      EXPECT_EQ(session->outputs()[1].data<float>()[29], 8);
    }
  }
}

// Kernels may rely on the alignment of a backend's tensors; a caller's tensor may begin anywhere.
TEST(Captures, MayBeginAtAnyElement) {
  for (const std::string& backend : backends()) {
    auto session = sessionOf(gatheringModel(), {.backend = backend});
    Tensor whole = floats({101}, std::vector<float>(101, 1.0f));
    Tensor part = whole;
    part.desc.shape = {100};
    part.offsetBytes += sizeof(float);
    session->fillInput("trips")->data<int64_t>()[0] = 5;
    for (const float value : {1.0f, 3.0f}) {
      std::ranges::fill(part.data<float>(), value);
      session->bindInput(1, part);
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      EXPECT_EQ(read(*session, "control"), std::vector<float>{5 * value}) << backend;
    }
  }
}

// With these, every tensor has memory of its own, or memory is short.
TEST(Captures, AreTheSameUnderAHarnessAndALimit) {
  std::vector<SessionConfig> configs(5);
  configs[0].keepTensors = true;
  configs[1].keepTensors = true;
  configs[1].guardBytes = 64;
  configs[2].poison = true;
  configs[3].memoryLimitBytes = size_t{1} << 24;
  configs[4].record = RecordMode::Direct;
  for (const std::string& backend : backends())
    for (SessionConfig config : configs) {
      config.backend = backend;
      auto session = sessionOf(gatheringModel(true), config);
      session->fillInput("trips")->data<int64_t>()[0] = 5;
      for (const float factor : {1.0f, 2.0f}) {
        setTable(*session, 100, factor);
        const Status status = session->run();
        ASSERT_TRUE(status.isOk()) << status.toString();
        EXPECT_EQ(read(*session, "control"), std::vector<float>{20 * factor}) << backend;
        EXPECT_EQ(session->checkGuards().toString(), Status().toString()) << backend;
      }
      int gathers = 0;
      const auto count = [&](const CommandInfo& command) {
        if (command.node != "control/body/one") return true;
        EXPECT_EQ(command.readInput(0)->data<float>()[99], 2 * 2 * 99.0f);
        return ++gathers > 0;
      };
      EXPECT_TRUE(session->runWithCallback({}, count));
      EXPECT_EQ(gathers, 5);
    }
}

}  // namespace
}  // namespace opkit::ops::control_flow
