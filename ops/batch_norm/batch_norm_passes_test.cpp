// The pass fold-batch-norm on graphs that nearly are a convolution with constant statistics.
#include "ops/batch_norm/batch_norm_generated.h"
#include "ops/conv/conv_generated.h"
#include "ops/pass_test_support.h"

namespace opkit::ops::batch_norm {
namespace {

using FoldBatchNorm = PassTest;

/// A normalised 1x1 convolution with two channels; by default one that the pass folds.
struct Graph {
  const char* name = "drawn";
  std::vector<double> x{1, -2, 3, 0.5, 4, -1};    // [1, 2, 1, 3]
  std::vector<double> weights{0.5, -1, 0.25, 2};  // [2, 2, 1, 1]
  std::vector<double> bias{}, scale{2, 0.5}, shift{1, -1}, mean{0.25, -0.5}, variance{0.25, 4};
  double epsilon = 1e-5;
  DType dtype = DType::Float32, statistics = DType::Float32;
  Shape channels{2};  // of bias and statistics
  int runTime = -1;   // this input of the normalisation is computed by a run; 0 is the bias of the convolution
  bool isOpen = false, isDepthwise = false, hasClamp = false, showsConv = false, isReadInBranch = false;
  bool isFolded = false;  // what the pass is expected to do
};

PassNet netOf(const Graph& graph) {
  PassNet net;
  std::vector<TensorId> operands{net.input(tensorOf({1, 2, 1, 3}, graph.x, graph.dtype), graph.isOpen)};
  const std::vector<double> weights(graph.weights.begin(), graph.weights.begin() + (graph.isDepthwise ? 2 : 4));
  operands.push_back(net.constant(tensorOf({2, graph.isDepthwise ? 1 : 2, 1, 1}, weights, graph.dtype)));
  const auto perChannel = [&](const std::vector<double>& values, DType dtype, int input) {
    const Tensor tensor = tensorOf(graph.channels, values, dtype);
    return graph.runTime == input ? net.input(tensor) : net.constant(tensor);
  };
  if (!graph.bias.empty()) operands.push_back(perChannel(graph.bias, graph.dtype, 0));
  conv::ConvParamsT params;
  if (graph.isDepthwise) params.group = 2;
  if (graph.hasClamp) params.clamp_low = 0;
  const TensorId conv = net.node("Conv", operands, packParams(params));
  std::vector<TensorId> inputs{conv};
  for (const std::vector<double>* values : {&graph.scale, &graph.shift, &graph.mean, &graph.variance})
    inputs.push_back(perChannel(*values, graph.statistics, static_cast<int>(inputs.size())));
  BatchNormParamsT norm;
  norm.epsilon = static_cast<float>(graph.epsilon);
  net.model.outputs = {net.node("BatchNormalization", inputs, packParams(norm))};
  if (graph.showsConv) net.model.outputs.push_back(conv);
  if (graph.isReadInBranch) net.model.outputs.push_back(net.negatedInBranch(conv));
  return net;
}

const Graph kGraphs[] = {
    {.name = "a folded one", .isFolded = true},
    {.name = "a bias", .bias = {3, -7}, .isFolded = true},
    {.name = "open extents", .isOpen = true, .isFolded = true},
    {.name = "depthwise", .isDepthwise = true, .isFolded = true},
    {.name = "a scale of 0", .scale = {0, 1}, .isFolded = true},
    {.name = "a channel without weights", .weights = {0, 0, 1, 1}, .isFolded = true},
    {.name = "f16", .bias = {3, -7}, .dtype = DType::Float16, .isFolded = true},
    {.name = "f16 with statistics in f16", .dtype = DType::Float16, .statistics = DType::Float16, .isFolded = true},
    {.name = "weights beyond f16", .weights = {1000, 0, 1, 1}, .scale = {100, 1}, .dtype = DType::Float16},
    {.name = "a bias beyond f16", .shift = {70000, 0}, .mean = {0, 0}, .dtype = DType::Float16},
    {.name = "weights that vanish in f16", .weights = {1e-3, 0, 1, 1}, .scale = {1e-3, 1}, .dtype = DType::Float16},
    {.name = "f64", .dtype = DType::Float64},
    {.name = "statistics in f64", .statistics = DType::Float64},
    {.name = "a bias that a run computes", .bias = {3, -7}, .runTime = 0},
    {.name = "a scale that a run computes", .runTime = 1},
    {.name = "a variance that a run computes", .runTime = 4},
    {.name = "statistics of rank 2, which are refused", .channels = {1, 2}},
    {.name = "a clamp in between", .hasClamp = true},
    {.name = "the convolution is an output", .showsConv = true},
    {.name = "a branch reads the convolution", .isReadInBranch = true},
    {.name = "no variance and no epsilon", .variance = {0, 4}, .epsilon = 0},
    {.name = "a negative variance", .variance = {-1, 4}},
    {.name = "no variance of a channel without weights", .weights = {0, 0, 1, 1}, .variance = {0, 4}, .epsilon = 0},
    {.name = "a scale that is no number", .scale = {NAN, 1}},
    {.name = "an infinite weight", .weights = {INFINITY, 0, 1, 1}, .scale = {-1, 1}, .isFolded = true},
    {.name = "weights beyond f32",
     .x = {1e-20, 2e-20, 3e-20, 1e-20, 2e-20, 3e-20},
     .weights = {1e30, 1e30, 1, 1},
     .scale = {1e10, 1}},
    {.name = "products beyond f32",
     .x = {1000, 2000, 0, 1000, 2000, 0},
     .weights = {1e8, -1e8, 1, 1},
     .scale = {1e28, 1},
     .mean = {0, 0}},
    {.name = "a bias beyond f32",
     .x = {1e30, 1e30, 1e30, 0, 0, 0},
     .weights = {1e5, 0, 1, 1},
     .scale = {1e5, 1},
     .mean = {1e35, 0}},
    {.name = "weights that vanish",
     .x = {1e30, 2e30, -1e30, 1e30, 1e30, 1e30},
     .weights = {1e-30, 0, 1e-30, 1e-30},
     .scale = {1e-20, 1e-20},
     .shift = {0, 0},
     .mean = {0, 0}}};

TEST_F(FoldBatchNorm, NearMissesKeepTheirMeaning) {
  for (const Graph& graph : kGraphs) {
    const PassNet net = netOf(graph);
    if (graph.channels.size() > 1) {
      expectRefused(net, graph.name);
      continue;
    }
    const Outcome after = expectMeaning(net, graph.dtype == DType::Float16 ? 2e-3 : 1e-5, graph.name);
    EXPECT_EQ(after.nodes.size() < net.model.nodes.size(), graph.isFolded) << graph.name;
  }
}

}  // namespace
}  // namespace opkit::ops::batch_norm
