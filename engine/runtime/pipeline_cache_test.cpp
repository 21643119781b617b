#include "engine/runtime/pipeline_cache.h"

#include <gtest/gtest.h>

#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/op/decomposition.h"
#include "engine/testing/test_ops.h"

namespace opkit {
namespace {

/// y = x + weight: keeps a packed copy of a constant weight and needs scratch as large as x.
class PackedPlus final : public Execution {
 public:
  PackedPlus(const CreateArgs& args, std::shared_ptr<const Tensor> packed)
      : packed_(std::move(packed)), count_(args.input(1).elements()) {}
  Result<size_t> scratchBytes(TensorList inputs, TensorList) override { return inputs[0]->sizeBytes(); }
  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    const std::span<float> x = inputs[0]->data<float>(), y = outputs[0]->data<float>();
    const std::span<float> weight = packed_ ? packed_->data<float>() : inputs[1]->data<float>();
    float* sums = cpu::scratchFloats(scratch());
    for (size_t i = 0; i < x.size(); ++i) sums[i] = x[i] + weight[i % static_cast<size_t>(count_)];
    std::copy_n(sums, x.size(), y.begin());
    return Status::ok();
  }
  bool readsInput(size_t index) const override { return index != 1 || !packed_; }

 private:
  std::shared_ptr<const Tensor> packed_;
  int64_t count_;
};

Result<std::unique_ptr<Execution>> createPackedPlus(const CreateArgs& args, Backend& backend) {
  std::shared_ptr<const Tensor> packed;
  if (const Tensor* weight = args.constant(1)) {
    OPKIT_ASSIGN(packed, cpu::packConstant(
                             backend, *weight, "packed plus", weight->desc.elements(),
                             [](const Tensor& source, float* to) { std::ranges::copy(source.data<float>(), to); }));
  }
  return std::unique_ptr<Execution>(std::make_unique<PackedPlus>(args, std::move(packed)));
}

/// y[0] = the sum of `a`, as far as the Creator saw it.
class SumOfA final : public Execution {
 public:
  explicit SumOfA(const CreateArgs& args) {
    for (const int64_t value : toInt64(*args.constant(1))) sum_ += static_cast<float>(value);
  }
  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList, TensorList outputs) override {
    outputs[0]->data<float>()[0] = sum_;
    return Status::ok();
  }

 private:
  float sum_ = 0;
};

/// MirroredIfAny(x) = x + 1: three steps, or none if x is empty.
void addMirroredIfAny(OpRegistry& registry) {
  registry.add({.type = "MirroredIfAny",
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
                  return std::vector{args.input(0)};
                },
                .decompose = [](const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) -> Status {
                  Decomposition::Value y = parts.input(0);
                  if (args.input(0).elements() > 0)
                    for (const char* op : {"Mirror", "AddOne", "Mirror"}) y = parts.add(op, {y});
                  parts.setOutput(0, y);
                  return Status::ok();
                },
                .oracle = [](const OracleArgs& args) -> Status {
                  for (size_t i = 0; i < args.input(0).real.size(); ++i)
                    args.output().real[i] = args.input(0).real[i] + 1;
                  return Status::ok();
                }});
}

/// Lists(x, a, b) gives f32[1] whatever the values of its lists are.
void addLists(OpRegistry& registry) {
  registry.add({.type = "Lists",
                .inputs = {{"x", kFloats},
                           {.name = "a", .dtypes = kIndexTypes, .contents = true},
                           {.name = "b", .dtypes = kIndexTypes, .contents = true}},
                .outputs = {{"y", kFloats}},
                .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
                  return std::vector{TensorDesc{DType::Float32, {1}}};
                }});
  registry.addCreator("cpu", "Lists",
                      {"test", [](const CreateArgs&) { return Status::ok(); },
                       [](const CreateArgs& args, Backend&) -> Result<std::unique_ptr<Execution>> {
                         return std::unique_ptr<Execution>(std::make_unique<SumOfA>(args));
                       }});
}

const OpRegistry& ops() {
  static const OpRegistry registry = [] {
    OpRegistry made = test::makeTestOps();
    made.addCreator("cpu", "Plus", {"test", [](const CreateArgs&) { return Status::ok(); }, createPackedPlus});
    addLists(made);
    addMirroredIfAny(made);
    return made;
  }();
  return registry;
}

/// Packs its weight when it is made, and then runs on no device.
class Refused final : public Execution {
 public:
  explicit Refused(std::shared_ptr<const Tensor> packed) : packed_(std::move(packed)) {}
  Result<size_t> scratchBytes(TensorList, TensorList) override { return Status::unsupported("too large"); }
  Status onResize(TensorList, TensorList) override { return Status::internal("refused"); }
  Status onExecute(TensorList, TensorList) override { return Status::internal("refused"); }

 private:
  std::shared_ptr<const Tensor> packed_;
};

const OpRegistry& refusingOps() {
  static const OpRegistry registry = [] {
    OpRegistry made = test::makeTestOps();
    const auto takeAll = [](const CreateArgs&) { return Status::ok(); };
    made.addCreator(
        "cpu", "Plus",
        {"refused", takeAll, [](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
           const auto copy = [](const Tensor& source, float* to) { std::ranges::copy(source.data<float>(), to); };
           const Tensor& weight = *args.constant(1);
           OPKIT_ASSIGN(auto packed, cpu::packConstant(backend, weight, "refused", weight.desc.elements(), copy));
           return std::unique_ptr<Execution>(std::make_unique<Refused>(std::move(packed)));
         }});
    return made;
  }();
  return registry;
}

constexpr int64_t kWeights = 16384;

/// y = Mirror(x + weight), weight f32[kWeights] constant.
Model plusModel() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const std::vector<float> ones(kWeights, 1.0f);
  const TensorId weight = model.addConstant("weight", *Tensor::fromValues<float>({DType::Float32, {kWeights}}, ones));
  model.outputs = model.addNode("Mirror", "mirror", model.addNode("Plus", "plus", {x, weight}));
  return model;
}

std::shared_ptr<Interpreter> interpreterOf(Model model) {
  auto interpreter = Interpreter::create(std::move(model), ops());
  EXPECT_TRUE(interpreter) << interpreter.error().toString();
  return *interpreter;
}

std::unique_ptr<Session> cachedSessionOf(const std::shared_ptr<Interpreter>& interpreter,
                                         const SessionConfig& config = {}) {
  auto session = interpreter->createSession(config);
  EXPECT_TRUE(session) << session.error().toString();
  return *std::move(session);
}

Status runSession(Session& session, const Shape& shape, float value) {
  OPKIT_TRY(session.resizeInput("x", shape));
  std::ranges::fill(session.fillInput("x")->data<float>(), value);
  return session.run();
}

void expectRun(Session& session, const Shape& shape, float value) {
  const Status status = runSession(session, shape, value);
  ASSERT_TRUE(status.isOk()) << status.toString();
  const Tensor& y = *session.output(session.outputNames()[0]);
  EXPECT_EQ(y.desc.shape, shape);
  for (const float element : y.data<float>()) ASSERT_EQ(element, value + 1);
}

TEST(PipelineCache, ShapesSeenBeforeFindTheirPlan) {
  auto session = cachedSessionOf(interpreterOf(plusModel()));
  expectRun(*session, {2, 3}, 1);
  expectRun(*session, {50, 40}, 2);  // the arena grows: the first plan gives up its place
  expectRun(*session, {2, 3}, 3);
  const BackendCounters before = session->counters();
  for (int i = 0; i < 3; ++i) {
    expectRun(*session, {50, 40}, 4);
    expectRun(*session, {2, 3}, 5);
  }
  const BackendCounters after = session->counters();
  EXPECT_EQ(after.executionsCreated, before.executionsCreated);
  EXPECT_EQ(after.allocations, before.allocations);
  const SessionStatistics statistics = session->statistics();
  EXPECT_EQ(statistics.plansMade, 2u);
  EXPECT_EQ(statistics.plansFound, 7u);
  EXPECT_EQ(statistics.plansKept, 2u);
  EXPECT_EQ(statistics.resizes, 9u);
}

TEST(PipelineCache, UnchangedShapesAreCountedAndDoNothing) {
  auto session = cachedSessionOf(interpreterOf(plusModel()));
  expectRun(*session, {2, 3}, 1);
  EXPECT_EQ(session->statistics().resizesUnchanged, 0u);
  EXPECT_TRUE(session->resize().isOk());
  expectRun(*session, {2, 3}, 2);
  EXPECT_EQ(session->statistics().resizesUnchanged, 2u);
  EXPECT_EQ(session->statistics().resizes, 1u);
}

TEST(PipelineCache, TheOldestPlanMakesRoom) {
  auto session = cachedSessionOf(interpreterOf(plusModel()), {.planCacheSize = 2});
  for (const int64_t rows : {1, 2, 1, 3, 1, 2}) expectRun(*session, {rows, 3}, static_cast<float>(rows));
  const SessionStatistics statistics = session->statistics();
  EXPECT_EQ(statistics.plansKept, 2u);
  EXPECT_EQ(statistics.plansMade, 4u);  // 1, 2, 3, and 2 again: 1 was always used later
  EXPECT_EQ(statistics.plansFound, 2u);
  // Two plans of two commands, and the raster of a third shape. The rest returned and was taken again.
  EXPECT_EQ(statistics.executionsCreated, 2u * 2 + 1);
}

// The raster's key has its regions, so that each shape has one of its own.
TEST(PipelineCache, TwiceAsManyShapesAsPlansFindTheirExecutions) {
  constexpr int64_t kShapes = 8;
  auto session = cachedSessionOf(interpreterOf(plusModel()), {.planCacheSize = kShapes / 2});
  for (int64_t rows = 1; rows <= kShapes; ++rows) expectRun(*session, {rows, 3}, 1);
  const size_t made = session->statistics().executionsCreated;
  for (int64_t rows = kShapes; rows > 0; --rows) expectRun(*session, {rows, 3}, 2);
  EXPECT_EQ(session->statistics().plansMade, kShapes + kShapes / 2u);
  EXPECT_EQ(session->statistics().executionsCreated, made);
}

TEST(PipelineCache, PlansWithoutStepsDestroyNoExecutions) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  model.outputs = model.addNode("MirroredIfAny", "mirrored", {x});
  const auto interpreter = interpreterOf(std::move(model));
  for (const size_t kept : {1, 4}) {
    auto session = cachedSessionOf(interpreter, {.planCacheSize = kept});
    ASSERT_TRUE(runSession(*session, {2, 3}, 1).isOk());
    const size_t made = session->statistics().executionsCreated;
    EXPECT_EQ(made, 3u);
    for (int64_t columns = 1; columns <= 6; ++columns) ASSERT_TRUE(runSession(*session, {0, columns}, 1).isOk());
    EXPECT_EQ(session->statistics().executionsCreated, made);
    ASSERT_TRUE(runSession(*session, {2, 3}, 1).isOk());
    EXPECT_EQ(session->statistics().plansMade, 8u);  // the last one anew
    EXPECT_EQ(session->statistics().executionsCreated, made) << kept << " plans kept";
  }
}

TEST(PipelineCache, RefusedKernelsKeepNoPackedConstants) {
  const auto interpreter = *Interpreter::create(plusModel(), refusingOps());
  auto session = *interpreter->createSession({});
  for (const int64_t rows : {1, 2}) {
    ASSERT_TRUE(session->resizeInput("x", {rows, kWeights}).isOk());
    ASSERT_TRUE(session->resize().isOk());
    EXPECT_EQ(session->placement()[0].refusals[0].reason, "too large");
    EXPECT_EQ(session->statistics().memory[0].constantBytes, 0u);
  }
}

TEST(PipelineCache, ContentsOfInputsBelongToThePlan) {
  Model model;
  const TensorId shape = model.addInput("shape", {DType::Int64, {kDynamic}});
  const TensorId value = model.addInput("value", {DType::Float32, {1}});
  model.outputs = {model.addNode("FillTo", "fill", {shape, value})[0], shape};
  auto session = cachedSessionOf(interpreterOf(std::move(model)));
  session->fillInput("value")->data<float>()[0] = 4;
  for (const int64_t columns : {3, 5, 3, 5, 3}) {
    if (columns == 3) {  // the input gets new memory; its former memory has held other values since
      ASSERT_TRUE(session->resizeInput("shape", {1}).isOk());
      ASSERT_TRUE(session->resizeInput("shape", {2}).isOk());
    }
    session->fillInput("shape")->data<int64_t>()[0] = 2;
    session->fillInput("shape")->data<int64_t>()[1] = columns;
    ASSERT_TRUE(session->run().isOk());
    EXPECT_EQ(session->output("fill")->desc.shape, (Shape{2, columns}));
    EXPECT_EQ(session->output("shape")->data<int64_t>()[1], columns);  // not the later values of the input
  }
  EXPECT_EQ(session->statistics().plansMade, 2u);
}

TEST(PipelineCache, SessionsAndClonesShareConstants) {
  const auto interpreter = interpreterOf(plusModel());
  auto first = cachedSessionOf(interpreter);
  expectRun(*first, {2, 3}, 1);
  EXPECT_EQ(first->statistics().memory[0].constantBytes, kWeights * sizeof(float));
  const uint64_t allocations = first->counters().allocations;
  auto second = cachedSessionOf(interpreter);
  auto clone = first->clone();
  ASSERT_TRUE(clone) << clone.error().toString();
  EXPECT_EQ((*clone)->input("x")->desc.shape, (Shape{2, 3}));
  EXPECT_EQ((*clone)->fillInput("x")->data<float>()[0], 1);
  for (Session* other : {second.get(), clone->get()}) {
    expectRun(*other, {2, 3}, 2);
    EXPECT_EQ(other->statistics().memory[0].constantBytes, kWeights * sizeof(float));
    EXPECT_EQ(other->counters().allocations, allocations - 1);  // all but the packed weight
  }
  // The store goes with the last session, so that another one packs again.
  first.reset(), second.reset(), clone->reset();
  auto late = cachedSessionOf(interpreter);
  expectRun(*late, {2, 3}, 1);
  EXPECT_EQ(late->counters().allocations, allocations);
}

TEST(PipelineCache, ScratchIsPlannedAmongTheTensors) {
  auto session = cachedSessionOf(interpreterOf(plusModel()));
  expectRun(*session, {64, 64}, 1);
  const MemoryStatistics memory = session->statistics().memory[0];
  EXPECT_EQ(memory.largestScratchBytes, 64u * 64 * sizeof(float));
  // Scratch and sum live together; x and the mirrored output are the caller's.
  EXPECT_EQ(memory.plannedPeakBytes, 2u * 64 * 64 * sizeof(float));
  EXPECT_EQ(memory.arenaBytes, memory.plannedPeakBytes);
  auto guarded = cachedSessionOf(interpreterOf(plusModel()), {.guardBytes = 64, .poison = true});
  expectRun(*guarded, {3, 5}, 1);
  EXPECT_TRUE(guarded->checkGuards().isOk());
}

TEST(PipelineCache, MemoryOverTheLimitIsRefusedAndTheSessionGoesOn) {
  const size_t weights = kWeights * sizeof(float);
  auto session = cachedSessionOf(interpreterOf(plusModel()), {.memoryLimitBytes = weights + 3 * 4096});
  expectRun(*session, {32, 32}, 1);
  const Status refused = runSession(*session, {64, 64}, 2);
  EXPECT_EQ(refused.code(), StatusCode::OutOfMemory);
  EXPECT_NE(refused.message().find("the limit is 77824"), std::string::npos) << refused.message();
  EXPECT_TRUE(session->placement().empty());
  expectRun(*session, {32, 32}, 3);
  expectRun(*session, {8, 8}, 4);
  auto tight = cachedSessionOf(interpreterOf(plusModel()), {.memoryLimitBytes = weights});
  EXPECT_EQ(runSession(*tight, {1, 1}, 1).code(), StatusCode::OutOfMemory);
}

TEST(PipelineCache, LowMemoryKeepsNoPackedCopiesAndOnePlan) {
  auto session = cachedSessionOf(interpreterOf(plusModel()), {.memory = MemoryHint::Low});
  expectRun(*session, {2, 3}, 1);
  expectRun(*session, {4, 3}, 2);
  EXPECT_EQ(session->statistics().memory[0].constantBytes, 0u);
  EXPECT_EQ(session->statistics().plansKept, 1u);
}

TEST(PipelineCache, APlannedPlacementIsThatOfTheResizeAndTakesNoMemory) {
  auto session = cachedSessionOf(interpreterOf(plusModel()), {});
  expectRun(*session, {2, 3}, 1);
  ASSERT_TRUE(session->resizeInput("x", {4, 3}).isOk());
  const auto allocations = session->counters().allocations;
  const auto planned = session->plannedPlacement();
  ASSERT_TRUE(planned) << planned.error().message();
  EXPECT_EQ(session->counters().allocations, allocations);
  EXPECT_TRUE(session->placement().empty());  // of a resize
  ASSERT_TRUE(session->resize().isOk());
  EXPECT_EQ(session->statistics().plansMade, 2u);
  const auto placed = session->placement();
  ASSERT_EQ(planned->size(), placed.size());
  for (size_t i = 0; i < placed.size(); ++i)
    EXPECT_EQ((*planned)[i].kernel + (*planned)[i].outputs, placed[i].kernel + placed[i].outputs);
  expectRun(*session, {4, 3}, 2);
}

TEST(PipelineCache, OutputsTakeOverInputsWhereTheCardAllowsIt) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const TensorId once = model.addNode("NegateInPlace", "once", {x})[0];
  const TensorId view = model.addNode("View", "view", {once})[0];
  const TensorId twice = model.addNode("NegateInPlace", "twice", {view})[0];
  const TensorId thrice = model.addNode("NegateInPlace", "thrice", {twice})[0];
  model.outputs = {model.addNode("Concat2", "both", {twice, thrice})[0]};  // so `thrice` must leave `twice` alone
  const auto interpreter = interpreterOf(std::move(model));
  auto session = cachedSessionOf(interpreter);
  ASSERT_TRUE(runSession(*session, {16, 16}, 5).isOk());
  const std::span<float> y = session->output(session->outputNames()[0])->data<float>();
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[255], 5);
  EXPECT_EQ(y[256], -5);
  EXPECT_EQ(session->statistics().inPlace, 1u);  // `twice`: x is the caller's, as is `both`
  EXPECT_EQ(session->statistics().plannedPeakBytes, (1u + 1) * 256 * sizeof(float));
  auto keeping = cachedSessionOf(interpreter, {.keepTensors = true});
  ASSERT_TRUE(runSession(*keeping, {16, 16}, 5).isOk());
  EXPECT_EQ(keeping->statistics().inPlace, 0u);
  EXPECT_EQ(keeping->readTensor("once")->data<float>()[0], -5);
}

// [1], [2, 3] and [1, 2], [3] are the same numbers in a row.
TEST(PipelineCache, ListsThatAPlanDependsOnDoNotRunTogether) {
  Model model;
  const TensorId a = model.addInput("a", {DType::Int64, {kDynamic}}),
                 b = model.addInput("b", {DType::Int64, {kDynamic}});
  model.outputs = model.addNode("Lists", "lists", {model.addInput("x", {DType::Float32, {1}}), a, b});
  const auto interpreter = interpreterOf(std::move(model));
  const auto session = cachedSessionOf(interpreter, {.planCacheSize = 1});
  session->fillInput("x")->data<float>()[0] = 1;
  for (const int64_t split : {1, 2, 1, 2}) {
    ASSERT_TRUE(session->resizeInput("a", {split}).isOk());
    ASSERT_TRUE(session->resizeInput("b", {3 - split}).isOk());
    int64_t next = 1;
    for (const char* name : {"a", "b"})
      for (int64_t& value : session->fillInput(name)->data<int64_t>()) value = next++;
    const Status ran = session->run();
    ASSERT_TRUE(ran.isOk()) << ran.message();
    EXPECT_EQ(session->output(session->outputNames()[0])->data<float>()[0], split == 1 ? 1.0f : 3.0f);
  }
}

}  // namespace
}  // namespace opkit
