#include "harness/allocations/small_networks.h"

#include "engine/base/check.h"
#include "harness/testing/mixed_network.h"
#include "harness/zoo/network_builder.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

using Ints = std::vector<int64_t>;
using Type = onnx::TensorProto;
using zoo::NetworkBuilder;

SmallNetwork convolution() {
  NetworkBuilder net("convolution", 13, 1);
  std::string x = net.input("x", {"N", 2, "H", "W"});
  x = net.node("Relu", {net.batchNormalization(net.conv(x, 2, 8, 3, {.stride = 1, .pad = 1, .bias = true}), 8)});
  const std::string left = net.node("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const std::string right = net.node("AveragePool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  x = net.node("Concat", {left, right}, {{"axis", int64_t{1}}});
  x = net.node("Flatten", {net.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  return {"convolution",
          net.finish(net.node("Softmax", {net.gemm(x, 16, 3)}, {{"axis", int64_t{-1}}}), {"N", 3}),
          {{"x", {1, 2, 6, 6}}},
          {{"x", {2, 2, 8, 10}}}};
}

/// Of one head, with a residual and a normalisation.
SmallNetwork attention() {
  NetworkBuilder net("attention", 17, 2);
  const std::string x = net.input("x", {1, "L", 4});
  const auto projected = [&] { return net.node("MatMul", {x, net.normal({4, 4}, 0.5)}); };
  const std::string keys = net.node("Transpose", {projected()}, {{"perm", Ints{0, 2, 1}}});
  const std::string scores = net.node("Mul", {net.node("MatMul", {projected(), keys}), net.scalar(0.5f)});
  const std::string weights = net.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const std::string sum = net.node("Add", {x, net.node("MatMul", {weights, projected()})});
  const std::string scale = net.uniform({4}, 0.5, 1.5);
  const std::string y = net.node("LayerNormalization", {sum, scale, net.normal({4}, 1)}, {{"axis", int64_t{-1}}});
  return {"attention", net.finish(net.node("Tanh", {y}), {1, "L", 4}), {{"x", {1, 3, 4}}}, {{"x", {1, 9, 4}}}};
}

/// In bytes, between two steps of quantisation.
SmallNetwork quantised() {
  NetworkBuilder net("quantised", 13, 3);
  const std::string x = net.input("x", {"N", 2, "H", 6});
  const std::string step = net.scalar(0.05f), zero = net.bytes(Type::UINT8, {}, std::vector<uint8_t>{128});
  std::vector<int8_t> codes;
  for (int i = 0; i < 4 * 2 * 3 * 3; ++i) codes.push_back(static_cast<int8_t>(i * 7 % 31 - 15));
  const std::string weights = net.bytes(Type::INT8, {4, 2, 3, 3}, codes);
  const std::string none = net.bytes(Type::INT8, {}, std::vector<int8_t>{0});
  std::string y = net.node("QuantizeLinear", {x, step, zero});
  y = net.node("QLinearConv", {y, step, zero, weights, net.scalar(0.02f), none, step, zero},
               {{"pads", Ints{1, 1, 1, 1}}});
  return {"quantised",
          net.finish(net.node("DequantizeLinear", {y, step, zero}), {"N", 4, "H", 6}),
          {{"x", {1, 2, 4, 6}}},
          {{"x", {1, 2, 7, 6}}}};
}

/// Extents that follow from data: the positive elements of x.
SmallNetwork staged() {
  NetworkBuilder net("staged", 13, 4);
  const std::string x = net.input("x", {"N", 4});
  const std::string places = net.node("NonZero", {net.node("Relu", {x})});
  const std::string found = net.node("GatherND", {x, net.node("Transpose", {places}, {{"perm", Ints{1, 0}}})});
  return {"staged", net.finish(net.node("Abs", {net.node("Neg", {found})}), {"M"}), {{"x", {2, 4}}}, {{"x", {5, 4}}}};
}

std::vector<uint8_t> fileOf(const Model& model) {
  auto file = writeModel(model);
  OPKIT_CHECK(file.has_value());
  return *std::move(file);
}

/// Doubles `carried` three times; returns it and all its values.
SmallNetwork loop() {
  Model model;
  const TensorId trips = model.addConstant("trips", *Tensor::fromValues<int64_t>({DType::Int64, {}}, {3}));
  const TensorId start = model.addInput("start", {DType::Float32, {kDynamic}});
  Model body;
  body.addInput("iteration", {});
  const TensorId condition = body.addInput("condition", {});
  const TensorId doubled = body.addNode("Neg", "negated", {body.addInput("carried", {})})[0];
  const TensorId sum = body.addNode("Add", "sum", {doubled, body.addInput("start", {})})[0];
  body.outputs = {condition, sum, doubled};
  model.outputs = model.addNode("Loop", "control", {trips, {}, start, start}, {}, 2);
  model.nodes.back().subgraphs = {{"body", body, {3}}};
  return {"loop", fileOf(model), {{"start", {2}}}, {{"start", {5}}}};
}

/// The builder has neither constants nor outputs of strings.
SmallNetwork strings() {
  NetworkBuilder net("strings", 20, 6);
  const std::string x = net.input("x", {"N"}, {}, Type::STRING);
  const std::string longer = net.node("StringConcat", {x, "suffix"});
  const std::vector<uint8_t> bytes = net.finish(net.node("Concat", {longer, x}, {{"axis", int64_t{0}}}), {"M"});
  onnx::ModelProto proto;
  OPKIT_CHECK(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(Type::STRING);
  onnx::TensorProto& suffix = *graph.add_initializer();
  suffix.set_name("suffix");
  suffix.set_data_type(Type::STRING);
  suffix.add_dims(1);
  suffix.add_string_data(" and a suffix that is no short string");
  const std::string file = proto.SerializeAsString();
  return {"strings", {file.begin(), file.end()}, {{"x", {2}}}, {{"x", {3}}}};
}

SmallNetwork branches() {
  return {"if", fileOf(mixedNetwork()), {{"x", {2, 8}}, {"when", {}}}, {{"x", {5, 8}}, {"when", {}}}};
}

}  // namespace

std::vector<SmallNetwork> smallNetworks() {
  return {convolution(), attention(), quantised(), branches(), loop(), staged(), strings()};
}

SmallNetwork pluginNetwork() {
  NetworkBuilder net("plugin", 13, 5);
  const std::string x = net.node("Relu", {net.input("x", {"N", 3})});
  return {"plugin", net.finish(net.node("com.example.CenteredRows", {x}), {"N", 3}), {{"x", {2, 3}}}, {{"x", {4, 3}}}};
}

const OpRegistry& pluginBase() {
  static const OpRegistry base = [] {
    OpRegistry registry;
    registry.add(*ops::builtinOps().find("Relu"));
    for (const char* backend : {"cpu", "vulkan"})
      for (const Creator& creator : ops::builtinOps().creators(backend, "Relu"))
        registry.addCreator(backend, "Relu", creator);
    return registry;
  }();
  return base;
}

const OnnxRules& pluginBaseRules() {
  static const OnnxRules base = [] {
    OnnxRules rules;
    rules.add(
        "Relu", {}, [](OnnxNode& node) { return node.emit("Relu", {node.input(0)}); }, 6);
    return rules;
  }();
  return base;
}

}  // namespace opkit::harness
