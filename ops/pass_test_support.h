// For tests of graph passes: a model under construction with values for its inputs, and its outcome with the passes and
// without. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::ops {

using Types = std::vector<std::string>;  // of operators

/// The values in `dtype`, each rounded once.
inline Tensor tensorOf(const Shape& shape, const std::vector<double>& values, DType dtype = DType::Float32) {
  Tensor tensor = *Tensor::onHost({dtype, shape});
  convertElements(*Tensor::fromValues<double>({DType::Float64, shape}, values), tensor);
  return tensor;
}

/// Numbers from `low` to `high` that the seed settles.
inline Tensor drawnTensor(const Shape& shape, double low, double high, uint32_t seed, DType dtype = DType::Float32) {
  std::vector<double> values(static_cast<size_t>(elementCount(shape)));
  for (double& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = low + (high - low) * (seed >> 8) / 16777216.0;
  }
  return tensorOf(shape, values, dtype);
}

/// A model with constants and nodes named by number, and a value for each of its inputs.
struct PassNet {
  Model model;
  std::map<std::string, Tensor> inputs;

  /// An input of this value; `isOpen` declares no extents.
  TensorId input(const Tensor& value, bool isOpen = false) {
    const std::string name = fmt::format("x{}", inputs.size());
    inputs.emplace(name, value);
    const Shape open(value.desc.shape.size(), kDynamic);
    return model.addInput(name, {value.desc.dtype, isOpen ? open : value.desc.shape});
  }
  TensorId constant(Tensor value) {
    return model.addConstant(fmt::format("c{}", model.tensors.size()), std::move(value));
  }
  TensorId list(const std::vector<int64_t>& values) {
    return constant(*Tensor::fromValues<int64_t>({DType::Int64, {static_cast<int64_t>(values.size())}}, values));
  }
  TensorId node(const char* type, std::vector<TensorId> operands, ParamBytes params = {}) {
    return nodes(type, std::move(operands), 1, std::move(params))[0];
  }
  std::vector<TensorId> nodes(const char* type, std::vector<TensorId> operands, size_t outputs,
                              ParamBytes params = {}) {
    return model.addNode(type, fmt::format("n{}", model.nodes.size()), std::move(operands), std::move(params), outputs);
  }
  /// Makes -x in a branch of control flow: the branch alone reads x.
  TensorId negatedInBranch(TensorId x) {
    Model branch;
    branch.outputs = {branch.addNode("Neg", "negated", {branch.addInput("captured", {})})[0]};
    const TensorId condition = constant(*Tensor::fromValues<uint8_t>({DType::Bool, {}}, {1}));
    const TensorId y = node("If", {condition, x});
    model.nodes.back().subgraphs = {{"then_branch", branch, {1}}, {"else_branch", branch, {1}}};
    return y;
  }
};

/// Has one Runtime per backend for all tests of a suite, so that compiled pipelines are kept.
class PassTest : public ::testing::Test {
 protected:
  struct Outcome {
    Status status = Status::ok();           // of the run or of what precedes it
    Types nodes;                            // types after the passes
    std::map<std::string, size_t> changes;  // by pass before lowering
    Types commands;                         // types of the commands that ran
    std::vector<std::string> outputs;       // names
    std::vector<Shape> shapes;              // per output
    std::vector<std::vector<double>> values;
    SessionStatistics statistics;
  };

  static void TearDownTestSuite() { runtimes_.clear(); }

  static std::vector<std::string> backends() {
    std::vector<std::string> found;
    for (const char* name : {"reference", "cpu", "vulkan"})
      if (runtimeOf(name)) found.emplace_back(name);
    return found;
  }

  static Outcome runWith(const PassNet& net, const std::string& backend, const std::vector<std::string>& disabled) {
    Outcome outcome;
    outcome.status = fill(outcome, net, backend, disabled);
    return outcome;
  }

  /// The outcome with all passes, on the last backend. On each backend the outputs must be those without any pass,
  /// within `tolerance` of their largest element, or within `absolute`.
  static Outcome expectMeaning(const PassNet& net, double tolerance, const std::string& name = "",
                               double absolute = 0) {
    Outcome after;
    for (const std::string& backend : backends()) {
      const Outcome before = runWith(net, backend, {kAllPasses});
      after = runWith(net, backend, {});
      EXPECT_EQ(before.nodes.size(), net.model.nodes.size()) << name;
      expectSame(before, after, tolerance, absolute, name + " on " + backend);
    }
    return after;
  }

  /// Every run must fail, with passes and without.
  static void expectRefused(const PassNet& net, const std::string& name = "") {
    for (const std::string& backend : backends())
      for (const std::vector<std::string>& disabled : {std::vector<std::string>{kAllPasses}, {}})
        EXPECT_FALSE(runWith(net, backend, disabled).status.isOk())
            << name << " on " << backend << (disabled.empty() ? " with passes" : "");
  }

 private:
  /// Null without the device, unless it is promised.
  static std::shared_ptr<Runtime> runtimeOf(const std::string& backend) {
    std::shared_ptr<Runtime>& runtime = runtimes_[backend];
    if (runtime) return runtime;
    auto made = createRuntime(backend);
    if (made)
      runtime = *std::move(made);
    else if (devicesArePromised())
      ADD_FAILURE() << made.error().toString();
    return runtime;
  }

  static Status fill(Outcome& outcome, const PassNet& net, const std::string& backend,
                     const std::vector<std::string>& disabled) {
    OPKIT_ASSIGN(const auto interpreter, Interpreter::create(net.model, builtinOps(), {disabled}));
    for (const ModelNode& node : interpreter->model().nodes) outcome.nodes.push_back(node.type);
    for (const PassCount& count : interpreter->passCounts()) outcome.changes[count.name] = count.changes;
    OPKIT_ASSIGN(const auto session,
                 interpreter->createSession({.backend = backend, .threads = 1}, runtimeOf(backend)));
    for (const auto& [name, value] : net.inputs) OPKIT_TRY(session->resizeInput(name, value.desc.shape));
    OPKIT_TRY(session->resize());
    for (const auto& [name, value] : net.inputs) convertElements(value, *session->fillInput(name));
    OPKIT_TRY(session->run());
    outcome.statistics = session->statistics();
    for (const Placement& row : session->placement())
      if (row.type != "Copy" && row.type != "Convert") outcome.commands.push_back(row.type);
    for (const std::string& name : session->outputNames()) {
      const Tensor& y = *session->output(name);
      const Tensor wide = *Tensor::onHost({DType::Float64, y.desc.shape});
      convertElements(y, wide);
      outcome.outputs.push_back(name);
      outcome.shapes.push_back(y.desc.shape);
      outcome.values.emplace_back(wide.data<double>().begin(), wide.data<double>().end());
    }
    return Status::ok();
  }

  static double largestOf(const std::vector<double>& values) {
    double largest = 0;
    for (const double value : values)
      if (std::isfinite(value)) largest = std::fmax(largest, std::fabs(value));
    return largest;
  }

  static bool isNear(double before, double after, double bound) {
    if (!std::isfinite(before)) return std::isnan(before) ? std::isnan(after) : before == after;
    return std::fabs(before - after) <= bound;
  }

  static void expectSame(const Outcome& before, const Outcome& after, double tolerance, double absolute,
                         const std::string& where) {
    EXPECT_TRUE(before.status.isOk()) << where << ": " << before.status.toString();
    EXPECT_TRUE(after.status.isOk()) << where << ", with passes: " << after.status.toString();
    ASSERT_EQ(before.outputs, after.outputs) << where;
    ASSERT_EQ(before.shapes, after.shapes) << where;
    for (size_t o = 0; o < before.values.size(); ++o) {
      const double bound = std::fmax(tolerance * largestOf(before.values[o]), absolute);
      for (size_t i = 0; i < before.values[o].size(); ++i)
        EXPECT_TRUE(isNear(before.values[o][i], after.values[o][i], bound))
            << where << ", output " << o << ", element " << i << ": " << before.values[o][i]
            << " without passes, with them " << after.values[o][i];
    }
  }

  static inline std::map<std::string, std::shared_ptr<Runtime>> runtimes_;  // shared: as they are returned
};

}  // namespace opkit::ops
