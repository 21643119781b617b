// The streams of ONNX nodes that draw numbers without a seed: nodes of one model differ, however they are named and
// wherever they stand; imports of one model agree.
#include <gtest/gtest.h>

#include <set>

#include "engine/backend/device_test_support.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"

namespace opkit::harness::random_streams {
namespace {

using Floats = std::vector<float>;

onnx::NodeProto& addNode(onnx::GraphProto& graph, const std::string& type, const std::vector<std::string>& inputs,
                         const std::string& output, const std::string& name) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void addInput(onnx::GraphProto& graph, const std::string& name, int type, const std::vector<int64_t>& shape) {
  onnx::ValueInfoProto& info = *graph.add_input();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto& dimensions = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const int64_t extent : shape) dimensions.add_dim()->set_dim_value(extent);
}

/// A graph in an attribute of `node` that draws once, into a value "drawn" that all such graphs have.
void addBranch(onnx::NodeProto& node, const std::string& attribute, const std::string& type, const std::string& name) {
  onnx::AttributeProto& branch = *node.add_attribute();
  branch.set_name(attribute);
  branch.set_type(onnx::AttributeProto::GRAPH);
  addNode(*branch.mutable_g(), type, {"x"}, "drawn", name);
  branch.mutable_g()->add_output()->set_name("drawn");
}

/// Two draws around an If on the input "c" and two Ifs that draw in both branches; x is 64 times one half.
onnx::ModelProto modelOf(const std::string& type, const std::string& name) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *proto.mutable_graph();
  addInput(graph, "x", onnx::TensorProto::FLOAT, {64});
  addInput(graph, "c", onnx::TensorProto::BOOL, {});
  for (const char* output : {"a", "b"}) addNode(graph, type, {"x"}, output, name);
  for (const char* output : {"p", "q"}) {
    onnx::NodeProto& node = addNode(graph, "If", {"c"}, output, name);
    addBranch(node, "then_branch", type, name);
    addBranch(node, "else_branch", type, name);
  }
  for (const char* output : {"a", "b", "p", "q"}) graph.add_output()->set_name(output);
  return proto;
}

/// All outputs; none where a device is missing.
std::vector<Floats> draw(const onnx::ModelProto& proto, const std::string& backend, bool condition) {
  const std::string bytes = proto.SerializeAsString();
  auto model = importOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, ops::builtinOnnxRules(),
                          ops::builtinOps());
  EXPECT_TRUE(model) << model.error().toString();
  if (!model) return {};
  const auto interpreter = Interpreter::create(*std::move(model), ops::builtinOps());
  EXPECT_TRUE(interpreter) << interpreter.error().toString();
  if (!interpreter) return {};
  const auto session = (*interpreter)->createSession({.backend = backend, .threads = 1});
  if (!session && backend == "vulkan" && !devicesArePromised()) return {};
  EXPECT_TRUE(session) << session.error().toString();
  if (!session) return {};
  std::ranges::fill((*session)->fillInput("x")->data<float>(), 0.5f);
  (*session)->fillInput("c")->data<uint8_t>()[0] = condition;
  const Status ran = (*session)->run();
  EXPECT_TRUE(ran.isOk()) << ran.toString();
  std::vector<Floats> drawn;
  for (const Tensor& output : (*session)->outputs()) {
    const auto values = output.data<float>();
    drawn.emplace_back(values.begin(), values.end());
  }
  return drawn;
}

TEST(RandomStreams, OfNodesWithoutASeedDiffer) {
  for (const char* type : {"RandomNormalLike", "RandomUniformLike", "Bernoulli"})
    for (const char* name : {"", "same"})
      for (const std::string& backend : testBackends()) {
        const onnx::ModelProto proto = modelOf(type, name);
        const auto chosen = draw(proto, backend, true), other = draw(proto, backend, false);
        if (chosen.empty()) continue;
        ASSERT_EQ(other.size(), 4u);
        std::set<Floats> streams(chosen.begin(), chosen.end());
        streams.insert(other.begin() + 2, other.end());
        EXPECT_EQ(streams.size(), 6u) << type << " named '" << name << "' on " << backend;
        EXPECT_EQ(chosen, draw(proto, backend, true));
        EXPECT_TRUE(std::equal(chosen.begin(), chosen.begin() + 2, other.begin()));
      }
}

}  // namespace
}  // namespace opkit::harness::random_streams
