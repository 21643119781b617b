// The pass fuse-layer-norm on graphs that nearly are a layer normalisation: shapes and values are those of the nodes,
// which the test computes by itself.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "engine/graph/pass.h"
#include "engine/runtime/session.h"
#include "ops/binary/binary_generated.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::layer_norm {
namespace {

struct Array {
  Shape shape;
  std::vector<double> values;
};

Array drawn(const Shape& shape, double low, double high, uint32_t seed) {
  std::mt19937 random(seed);
  Array array{shape, {}};
  for (int64_t i = 0; i < elementCount(shape, 0, shape.size()); ++i)
    array.values.push_back(static_cast<float>(low + (high - low) * static_cast<double>(random() % 4096) / 4096));
  return array;
}

/// Extents aligned at the last axis; the test draws no shapes that do not fit.
Array combined(const Array& a, const Array& b, const std::function<double(double, double)>& function) {
  Array y;
  const size_t rank = std::max(a.shape.size(), b.shape.size());
  const auto extentOf = [&](const Array& x, size_t d) {
    return d + x.shape.size() < rank ? 1 : x.shape[d + x.shape.size() - rank];
  };
  int64_t count = 1;
  for (size_t d = 0; d < rank; ++d) {
    y.shape.push_back(extentOf(a, d) == 1 ? extentOf(b, d) : extentOf(a, d));
    count *= y.shape.back();
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, atA = 0, atB = 0, stepA = 1, stepB = 1;
    for (size_t d = rank; d-- > 0; rest /= y.shape[d]) {
      const int64_t index = rest % y.shape[d];
      if (extentOf(a, d) > 1) atA += index * stepA;
      if (extentOf(b, d) > 1) atB += index * stepB;
      stepA *= extentOf(a, d);
      stepB *= extentOf(b, d);
    }
    y.values.push_back(function(a.values[static_cast<size_t>(atA)], b.values[static_cast<size_t>(atB)]));
  }
  return y;
}

Array meanOfRows(const Array& x) {
  Array y{x.shape, {}};
  const auto length = static_cast<size_t>(x.shape.back());
  y.shape.back() = 1;
  for (size_t i = 0; i < x.values.size(); i += length) {
    double sum = 0;
    for (size_t k = 0; k < length; ++k) sum += x.values[i + k];
    y.values.push_back(sum / static_cast<double>(length));
  }
  return y;
}

/// Nine nodes; by default those of a layer normalisation.
struct Graph {
  const char* name = "drawn";
  Shape x{2, 3, 8}, scale{8}, bias{8};
  Shape epsilonShape{}, exponentShape{};
  double epsilon = 0.0009765625, exponent = 2;
  DType dtype = DType::Float32;
  int64_t axis = -1;
  bool isOpen = false;         // the model does not declare the extents of x
  bool clampsCentred = false;  // the subtraction clamps at 0
  bool showsCentred = false;   // x - mean is an output, too
  bool isFused = false;        // what the pass is expected to do
};

double plus(double a, double b) { return a + b; }
double minus(double a, double b) { return a - b; }
double times(double a, double b) { return a * b; }

Array expectedOf(const Graph& graph, const Array& x, const Array& scale, const Array& bias) {
  Array centred = combined(x, meanOfRows(x), minus);
  if (graph.clampsCentred)
    for (double& value : centred.values) value = std::fmax(value, 0);
  const size_t ones = static_cast<size_t>(elementCount(graph.epsilonShape, 0, graph.epsilonShape.size()));
  const Array epsilon{graph.epsilonShape, std::vector<double>(ones, graph.epsilon)};
  const Array exponent{graph.exponentShape, {graph.exponent}};
  const Array square = combined(centred, exponent, [](double a, double b) { return std::pow(a, b); });
  Array deviation = combined(meanOfRows(square), epsilon, plus);
  for (double& value : deviation.values) value = std::sqrt(value);
  const Array ratio = combined(centred, deviation, [](double a, double b) { return a / b; });
  return combined(combined(ratio, scale, times), bias, plus);
}

class GraphModel {
 public:
  GraphModel(const Graph& graph, const Array& scale, const Array& bias) : dtype_(graph.dtype) {
    Shape declared = graph.x;
    if (graph.isOpen) std::ranges::fill(declared, kDynamic);
    const TensorId x = model.addInput("x", {dtype_, declared});
    const TensorId axes = model.addConstant("axes", *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {graph.axis}));
    binary::BinaryParamsT clamp;
    clamp.clamp_low = 0;
    const TensorId centred =
        node("Sub", {x, node("ReduceMean", {x, axes})}, graph.clampsCentred ? packParams(clamp) : ParamBytes());
    const TensorId square = node("Pow", {centred, constant({graph.exponentShape, {graph.exponent}})});
    const TensorId sum =
        node("Add", {node("ReduceMean", {square, axes}), constant({graph.epsilonShape, {graph.epsilon}})});
    const TensorId ratio = node("Div", {centred, node("Sqrt", {sum})});
    model.outputs = {node("Add", {node("Mul", {ratio, constant(scale)}), constant(bias)})};
    if (graph.showsCentred) model.outputs.push_back(centred);
  }

  Model model;

 private:
  TensorId constant(const Array& array) {
    Tensor wide = *Tensor::fromValues<double>({DType::Float64, array.shape}, array.values);
    Tensor tensor = *Tensor::onHost({dtype_, array.shape});
    convertElements(wide, tensor);
    return model.addConstant("c" + std::to_string(model.tensors.size()), tensor);
  }
  TensorId node(const char* type, std::vector<TensorId> inputs, ParamBytes params = {}) {
    return model.addNode(type, "n" + std::to_string(model.nodes.size()), std::move(inputs), std::move(params))[0];
  }

  DType dtype_;
};

void expectNodesMeaning(const Graph& graph, uint32_t seed = 1) {
  const Array x = drawn(graph.x, -3, 3, seed), scale = drawn(graph.scale, 0.5, 2, seed + 1),
              bias = drawn(graph.bias, -1, 1, seed + 2), expected = expectedOf(graph, x, scale, bias);
  const GraphModel built(graph, scale, bias);
  for (const char* backend : {"reference", "cpu"}) {
    const auto interpreter = *Interpreter::create(built.model, builtinOps());
    EXPECT_EQ(interpreter->model().nodes[NodeId(0)].type == "LayerNormalization", graph.isFused) << graph.name;
    const auto session = *interpreter->createSession({.backend = backend, .threads = 1});
    ASSERT_TRUE(session->resizeInput("x", graph.x).isOk());
    convertElements(*Tensor::fromValues<double>({DType::Float64, x.shape}, x.values), *session->fillInput("x"));
    const Status status = session->run();
    ASSERT_TRUE(status.isOk()) << graph.name << ", " << backend << ": " << status.toString();
    ASSERT_EQ(session->outputs()[0].desc.shape, expected.shape) << graph.name << ", " << backend;
    Tensor y = *Tensor::onHost({DType::Float64, expected.shape});
    convertElements(session->outputs()[0], y);
    const double tolerance = graph.dtype == DType::Float16 ? 0.02 : 1e-4;
    for (size_t i = 0; i < expected.values.size(); ++i) {
      const double found = y.data<double>()[i], wanted = expected.values[i];
      ASSERT_TRUE(std::isnan(wanted) ? std::isnan(found)
                                     : std::fabs(found - wanted) <= tolerance * (1 + std::fabs(wanted)))
          << graph.name << ", " << backend << ", element " << i << ": expected " << wanted << ", found " << found;
    }
  }
}

TEST(FuseLayerNorm, NearMissesKeepTheirMeaning) {
  const Graph graphs[] = {{.name = "a layer normalisation", .isFused = true},
                          {.name = "f16", .dtype = DType::Float16, .isFused = true},
                          {.name = "f64", .dtype = DType::Float64, .isFused = true},
                          {.name = "scalars of one axis", .epsilonShape = {1}, .exponentShape = {1}, .isFused = true},
                          {.name = "scale and bias broadcast x", .x = {1, 1}, .scale = {2}, .bias = {2}},
                          {.name = "the bias broadcasts x", .x = {3, 1}, .scale = {1}, .bias = {4}},
                          {.name = "one value of scale", .scale = {1}},
                          {.name = "scale of rank 2", .scale = {1, 8}},
                          {.name = "scale of another rank than x", .x = {8}, .scale = {2, 8}},
                          {.name = "epsilon raises the rank", .x = {2, 8}, .epsilonShape = {1, 1, 1, 1}},
                          {.name = "the exponent raises the rank", .x = {8}, .exponentShape = {1, 1}},
                          {.name = "another exponent", .exponent = 4},
                          {.name = "an exponent of nearly 2", .exponent = 2.0000002384185791},
                          {.name = "an epsilon that no float holds", .epsilon = 1e-3, .dtype = DType::Float64},
                          {.name = "the last axis counted from the front", .axis = 2},
                          {.name = "open extents", .isOpen = true},
                          {.name = "open extents, broadcast", .x = {2, 1}, .scale = {3}, .bias = {3}, .isOpen = true},
                          {.name = "a clamp in the subtraction", .clampsCentred = true},
                          {.name = "an output in between", .showsCentred = true}};
  for (const Graph& graph : graphs) expectNodesMeaning(graph);
}

/// Ranks, types and extents at random; the operands broadcast in either direction.
TEST(FuseLayerNorm, DrawnSiblingsKeepTheirMeaning) {
  std::mt19937 random(17);
  const auto below = [&](uint32_t limit) { return random() % limit; };
  size_t fused = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Graph graph;
    graph.x = Shape(1 + below(4));
    for (int64_t& extent : graph.x) extent = 1 + below(3);
    const int64_t last = graph.x.back(), most = last > 1 ? last : 1 + below(4);
    const auto list = [&] { return Shape{below(4) == 0 ? 1 : most}; };
    graph.scale = list();
    graph.bias = list();
    graph.epsilonShape = Shape(below(3) == 0 ? below(6) : 0, 1);
    graph.exponentShape = Shape(below(3) == 0 ? below(6) : 0, 1);
    graph.dtype = below(2) == 0 ? DType::Float32 : DType::Float64;
    graph.isFused = last > 1 && graph.scale[0] == last && graph.bias[0] == last && graph.epsilonShape.size() <= 1 &&
                    graph.exponentShape.size() <= 1;
    fused += graph.isFused;
    expectNodesMeaning(graph, seed);
  }
  EXPECT_GT(fused, 5u);
  EXPECT_LT(fused, 50u);
}

}  // namespace
}  // namespace opkit::ops::layer_norm
