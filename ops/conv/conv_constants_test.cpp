// Weights that kernels of Conv pack stay as long as a plan reads them, whoever frees what nothing uses.
#include "engine/base/hostile_memory.h"
#include "ops/conv/conv.h"
#include "ops/pass_test_support.h"

namespace opkit::ops::conv {
namespace {

struct Row {
  const char* name;
  Shape weights;
  int64_t group;
  DType dtype;
  bool hasBias;

  int64_t channels() const { return weights[1] * group; }
};

const Row kRows[] = {{"dense", {8, 4, 3, 3}, 1, DType::Float32, true},
                     {"dense, fp16", {5, 3, 3, 3}, 1, DType::Float16, true},
                     {"pointwise without bias", {16, 8, 1, 1}, 1, DType::Float32, false},
                     {"depthwise", {6, 1, 3, 3}, 6, DType::Float32, true},
                     {"depthwise, fp16", {9, 1, 5, 3}, 9, DType::Float16, false},
                     {"groups along one axis", {6, 2, 3}, 2, DType::Float32, true}};

std::shared_ptr<Interpreter> interpreterOf(const Row& row) {
  Model model;
  Shape open(row.weights.size(), kDynamic);
  open[1] = row.channels();
  std::vector<TensorId> inputs{model.addInput("x", {row.dtype, open}),
                               model.addConstant("w", drawnTensor(row.weights, -1, 1, 5, row.dtype))};
  if (row.hasBias) inputs.push_back(model.addConstant("b", drawnTensor({row.weights[0]}, -1, 1, 6, row.dtype)));
  ConvParamsT params;
  params.group = row.group;
  model.outputs = model.addNode("Conv", "y", std::move(inputs), packParams(params));
  auto interpreter = Interpreter::create(std::move(model), builtinOps());
  EXPECT_TRUE(interpreter) << interpreter.error().message();
  return *interpreter;
}

std::vector<double> runOn(Session& session, const Row& row, int64_t extent) {
  Shape shape(row.weights.size(), extent);
  shape[0] = 2;
  shape[1] = row.channels();
  EXPECT_TRUE(session.resizeInput("x", shape).isOk());
  convertElements(drawnTensor(shape, -1, 1, 7, row.dtype), *session.fillInput("x"));
  const Status status = session.run();
  if (!status.isOk()) return {};
  const Tensor& y = *session.output("y");
  const Tensor wide = *Tensor::onHost({DType::Float64, y.desc.shape});
  convertElements(y, wide);
  return {wide.data<double>().begin(), wide.data<double>().end()};
}

/// Calls `test` with a configuration and a Runtime for each backend and storage.
template <class Test>
void onEach(Test&& test) {
  for (const std::string backend : {"reference", "cpu", "vulkan"}) {
    const auto runtime = createRuntime(backend);
    if (!runtime && backend == "vulkan" && !devicesArePromised()) continue;
    ASSERT_TRUE(runtime) << runtime.error().message();
    for (const Storage storage : {Storage::Buffer, Storage::Image}) {
      if (backend != "vulkan" && storage == Storage::Image) continue;
      SCOPED_TRACE(backend + (storage == Storage::Image ? " with images" : ""));
      test(SessionConfig{.backend = backend, .allowFallback = false, .storage = storage}, *runtime);
    }
  }
}

TEST(ConvConstants, StayForPlansThatAreKept) {
  onEach([](const SessionConfig& config, const std::shared_ptr<Runtime>& runtime) {
    for (const Row& row : kRows) {
      SCOPED_TRACE(row.name);
      const auto interpreter = interpreterOf(row);
      std::map<int64_t, std::vector<double>> fresh;
      for (const int64_t extent : {9, 6}) {
        fresh[extent] = runOn(**interpreter->createSession(config, runtime), row, extent);
        ASSERT_FALSE(fresh[extent].empty());
      }
      const HostileMemory hostile;
      const auto session = *interpreter->createSession(config, runtime);
      for (const int64_t extent : {9, 6, 9, 6}) EXPECT_EQ(runOn(*session, row, extent), fresh[extent]);
    }
  });
}

/// Sessions of one model share what they pack, and a plan that is refused frees what nothing uses.
TEST(ConvConstants, StayWhenAnotherSessionIsRefused) {
  onEach([](const SessionConfig& config, const std::shared_ptr<Runtime>& runtime) {
    for (const Row& row : kRows) {
      SCOPED_TRACE(row.name);
      const auto interpreter = interpreterOf(row);
      const auto first = *interpreter->createSession(config, runtime);
      const std::vector<double> expected = runOn(*first, row, 9);
      ASSERT_FALSE(expected.empty());
      SessionConfig small = config;
      small.memoryLimitBytes = 64;
      const auto second = *interpreter->createSession(small, runtime);
      const HostileMemory hostile;
      // The oracle has no memory of its own: inputs and outputs are the caller's.
      EXPECT_EQ(runOn(*second, row, 12).empty(), config.backend != "reference") << "64 bytes suffice";
      EXPECT_EQ(runOn(*first, row, 9), expected);
    }
  });
}

}  // namespace
}  // namespace opkit::ops::conv
