#include "engine/import/onnx/inline_branches.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace opkit {
namespace {

using Names = std::vector<std::string>;

onnx::NodeProto& addNode(onnx::GraphProto& graph, const std::string& type, const Names& inputs, const Names& outputs) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  return node;
}

onnx::GraphProto& addGraph(onnx::NodeProto& node, const std::string& name) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  return *attribute.mutable_g();
}

void setFlag(onnx::TensorProto& tensor, bool value) {
  tensor.set_data_type(onnx::TensorProto::BOOL);
  tensor.add_int32_data(value);
}

/// y = If(c){t = Neg(x); t | Unknown(x)}: `c` is an initializer.
onnx::ModelProto choice(bool value) {
  onnx::ModelProto model;
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.add_input()->set_name("x");
  onnx::TensorProto& flag = *graph.add_initializer();
  flag.set_name("c");
  setFlag(flag, value);
  onnx::NodeProto& node = addNode(graph, "If", {"c"}, {"y"});
  node.set_name("choose");
  onnx::GraphProto& yes = addGraph(node, "then_branch");
  addNode(yes, "Neg", {"x"}, {"t"});
  yes.add_output()->set_name("t");
  onnx::GraphProto& no = addGraph(node, "else_branch");
  addNode(no, "Unknown", {"x"}, {"y"});
  no.add_output()->set_name("y");
  return model;
}

Names linesOf(const onnx::GraphProto& graph) {
  Names lines;
  for (const onnx::NodeProto& node : graph.node())
    lines.push_back(
        fmt::format("{}({})->{}", node.op_type(), fmt::join(node.input(), ","), fmt::join(node.output(), ",")));
  return lines;
}

TEST(InlineBranches, TheTakenBranchStays) {
  onnx::ModelProto model = choice(true);
  ASSERT_TRUE(inlineConstantBranches(model).isOk());
  EXPECT_EQ(linesOf(model.graph()), (Names{"Neg(x)->choose.then_branch1/t", "Identity(choose.then_branch1/t)->y"}));
  model = choice(false);  // its value has the name of the node's output
  ASSERT_TRUE(inlineConstantBranches(model).isOk());
  EXPECT_EQ(linesOf(model.graph()), (Names{"Unknown(x)->choose.else_branch1/y", "Identity(choose.else_branch1/y)->y"}));
}

TEST(InlineBranches, NestedConditionsMayBeConstantsAround) {
  onnx::ModelProto model = choice(true);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::GraphProto& branch = *graph.mutable_node(0)->mutable_attribute(0)->mutable_g();
  branch.add_initializer()->set_name("w");
  onnx::NodeProto& flag = addNode(branch, "Constant", {}, {"f"});
  onnx::AttributeProto& value = *flag.add_attribute();
  value.set_name("value");
  setFlag(*value.mutable_t(), false);
  onnx::NodeProto& inner = addNode(branch, "If", {"f"}, {"u"});
  onnx::GraphProto& no = addGraph(inner, "else_branch");  // the other branch is missing, and nobody asks
  addNode(no, "Add", {"t", "w"}, {"v"});
  no.add_output()->set_name("v");
  onnx::NodeProto& loop = addNode(branch, "Loop", {"", "c"}, {"z"});
  onnx::GraphProto& body = addGraph(loop, "body");
  body.add_input()->set_name("t");  // not the branch's
  addNode(body, "Mul", {"t", "u"}, {"s"});
  body.add_output()->set_name("s");
  branch.mutable_output(0)->set_name("x");  // a value around the branch
  ASSERT_TRUE(inlineConstantBranches(model).isOk());
  const Names lines = linesOf(graph);
  EXPECT_EQ(lines[0], "Neg(x)->choose.then_branch2/t");
  EXPECT_EQ(lines[2], "Add(choose.then_branch2/t,choose.then_branch2/w)->choose.then_branch2/If.else_branch1/v");
  EXPECT_EQ(lines.back(), "Identity(x)->y");
  EXPECT_EQ(graph.initializer(1).name(), "choose.then_branch2/w");
  const onnx::GraphProto& renamed = graph.node(4).attribute(0).g();
  EXPECT_EQ(linesOf(renamed), Names{"Mul(t,choose.then_branch2/u)->s"});
}

TEST(InlineBranches, OtherConditionsStay) {
  onnx::ModelProto model = choice(true);
  model.mutable_graph()->add_input()->set_name("c");  // the initializer is a default alone
  ASSERT_TRUE(inlineConstantBranches(model).isOk());
  EXPECT_EQ(linesOf(model.graph()), Names{"If(c)->y"});
  model = choice(true);
  model.mutable_graph()->mutable_initializer(0)->set_data_type(onnx::TensorProto::INT32);
  ASSERT_TRUE(inlineConstantBranches(model).isOk());
  EXPECT_EQ(linesOf(model.graph()), Names{"If(c)->y"});
}

TEST(InlineBranches, WrongBranchesAreNamed) {
  onnx::ModelProto model = choice(true);
  model.mutable_graph()->mutable_node(0)->add_output("second");
  EXPECT_EQ(inlineConstantBranches(model).message(),
            "ONNX operator 'If' ('choose'): subgraph 'then_branch' must have no inputs and 2 outputs, found 0 and 1");
  model = choice(true);
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_name("other");
  EXPECT_EQ(inlineConstantBranches(model).message(),
            "ONNX operator 'If' ('choose'): expected a graph in attribute 'then_branch', found none");
}

}  // namespace
}  // namespace opkit
