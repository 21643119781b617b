#include "engine/import/onnx/inline_functions.h"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "engine/base/nesting.h"
#include "engine/testing/small_stack.h"

namespace opkit {
namespace {

using Names = std::vector<std::string>;

void fill(onnx::NodeProto& node, const std::string& type, const Names& inputs, const Names& outputs) {
  node.set_op_type(type);
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
}

onnx::FunctionProto& addFunction(onnx::ModelProto& model, const std::string& name, const Names& inputs,
                                 const Names& outputs) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_name(name);
  function.set_domain("own");
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  return function;
}

onnx::NodeProto& addCall(onnx::ModelProto& model, const std::string& name, const Names& inputs, const Names& outputs) {
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  fill(node, name, inputs, outputs);
  node.set_name("call");
  node.set_domain("own");
  return node;
}

void refer(onnx::NodeProto& node, const std::string& name, const std::string& to) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_ref_attr_name(to);
}

/// "Type(inputs)->outputs{attribute=value}" of every node.
Names listing(const onnx::GraphProto& graph) {
  Names lines;
  for (const onnx::NodeProto& node : graph.node()) {
    std::string line =
        fmt::format("{}({})->{}", node.op_type(), fmt::join(node.input(), ","), fmt::join(node.output(), ","));
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      line += fmt::format("{{{}={}}}", attribute.name(), attribute.i());
      EXPECT_TRUE(attribute.ref_attr_name().empty());
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(InlineFunctions, ValuesGetTheNamesOfTheCall) {
  onnx::ModelProto model;
  onnx::FunctionProto& function = addFunction(model, "Twice", {"a", "b"}, {"y", "z"});
  fill(*function.add_node(), "Add", {"a", "b"}, {"t"});
  fill(*function.add_node(), "Mul", {"t", "a"}, {"y"});
  fill(*function.add_node(), "Neg", {"t"}, {"z"});
  addCall(model, "Twice", {"x"}, {"out"});
  addCall(model, "Twice", {"out", "x"}, {"", "last"});
  ASSERT_TRUE(inlineFunctions(model).isOk());
  EXPECT_EQ(listing(model.graph()),
            (Names{"Add(x,)->call.1/t", "Mul(call.1/t,x)->out", "Neg(call.1/t)->call.1/z", "Add(out,x)->call.2/t",
                   "Mul(call.2/t,out)->call.2/y", "Neg(call.2/t)->last"}));
}

TEST(InlineFunctions, AttributesComeFromTheCallOrTheDefaults) {
  onnx::ModelProto model;
  onnx::FunctionProto& function = addFunction(model, "Scale", {"a"}, {"y"});
  onnx::NodeProto& node = *function.add_node();
  fill(node, "Any", {"a"}, {"y"});
  refer(node, "given", "first");
  refer(node, "defaulted", "second");
  refer(node, "absent", "third");
  onnx::AttributeProto fallback;
  fallback.set_name("second");
  fallback.set_type(onnx::AttributeProto::INT);
  fallback.set_i(7);
  function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(11, fallback.SerializeAsString());
  onnx::AttributeProto& given = *addCall(model, "Scale", {"x"}, {"out"}).add_attribute();
  given.set_name("first");
  given.set_type(onnx::AttributeProto::INT);
  given.set_i(3);
  ASSERT_TRUE(inlineFunctions(model).isOk());
  EXPECT_EQ(listing(model.graph()), Names{"Any(x)->out{given=3}{defaulted=7}"});
}

TEST(InlineFunctions, FunctionsCallFunctionsAlsoInSubgraphs) {
  onnx::ModelProto model;
  model.add_opset_import()->set_version(13);
  onnx::FunctionProto& inner = addFunction(model, "Inner", {"a"}, {"y"});
  fill(*inner.add_node(), "Neg", {"a"}, {"y"});
  onnx::OperatorSetIdProto& opset = *inner.add_opset_import();
  opset.set_domain("extra");
  opset.set_version(2);
  onnx::FunctionProto& outer = addFunction(model, "Outer", {"c", "a"}, {"y"});
  onnx::NodeProto& branch = *outer.add_node();
  fill(branch, "If", {"c"}, {"y"});
  onnx::AttributeProto& attribute = *branch.add_attribute();
  attribute.set_name("then_branch");
  onnx::NodeProto& call = *attribute.mutable_g()->add_node();
  fill(call, "Inner", {"a"}, {"r"});
  call.set_domain("own");
  attribute.mutable_g()->add_output()->set_name("r");
  addCall(model, "Outer", {"flag", "x"}, {"out"});
  ASSERT_TRUE(inlineFunctions(model).isOk());
  ASSERT_EQ(model.graph().node_size(), 1);
  const onnx::GraphProto& body = model.graph().node(0).attribute(0).g();
  EXPECT_EQ(listing(body), Names{"Neg(x)->call.1/r"});
  EXPECT_EQ(body.output(0).name(), "call.1/r");
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(1).domain(), "extra");
}

TEST(InlineFunctions, ASubgraphsOwnNamesHideThoseOfTheFunction) {
  onnx::ModelProto model;
  onnx::FunctionProto& function = addFunction(model, "F", {"a", "b"}, {"y"});
  onnx::NodeProto& loop = *function.add_node();
  fill(loop, "Loop", {"", "", "a"}, {"y"});
  onnx::AttributeProto& attribute = *loop.add_attribute();
  attribute.set_name("body");
  onnx::GraphProto& body = *attribute.mutable_g();
  for (const char* name : {"i", "c", "a"}) body.add_input()->set_name(name);
  body.add_initializer()->set_name("y");
  fill(*body.add_node(), "Add", {"a", "b"}, {"t"});
  fill(*body.add_node(), "Add", {"t", "y"}, {"b2"});
  body.add_output()->set_name("c");
  body.add_output()->set_name("b2");
  addCall(model, "F", {"x", "x"}, {"out"});
  ASSERT_TRUE(inlineFunctions(model).isOk());
  EXPECT_EQ(listing(model.graph()), Names{"Loop(,,x)->out{body=0}"});
  const onnx::GraphProto& renamed = model.graph().node(0).attribute(0).g();
  EXPECT_EQ(listing(renamed), (Names{"Add(call.1/a,x)->call.1/t", "Add(call.1/t,call.1/y)->call.1/b2"}));
  EXPECT_EQ(renamed.input(2).name(), "call.1/a");
  EXPECT_EQ(renamed.initializer(0).name(), "call.1/y");
}

TEST(InlineFunctions, NewNamesAreNoNamesOfTheModel) {
  onnx::ModelProto model;
  fill(*addFunction(model, "F", {"a"}, {"y"}).add_node(), "Neg", {"a"}, {"t"});
  fill(*model.mutable_functions(0)->add_node(), "Neg", {"t"}, {"y"});
  model.mutable_graph()->add_input()->set_name("call.1/t");
  addCall(model, "F", {"call.1/t"}, {"call.2/x"});
  ASSERT_TRUE(inlineFunctions(model).isOk());
  EXPECT_EQ(listing(model.graph()), (Names{"Neg(call.1/t)->call.3/t", "Neg(call.3/t)->call.2/x"}));
}

/// F0 calls F1, and so on, `depth` calls.
onnx::ModelProto chainOfCalls(size_t depth, bool inSubgraphs) {
  onnx::ModelProto model;
  for (size_t i = 0; i < depth; ++i) {
    onnx::FunctionProto& function = addFunction(model, fmt::format("F{}", i), {"a"}, {"y"});
    onnx::NodeProto* node = function.add_node();
    if (inSubgraphs) {
      fill(*node, "If", {"a"}, {"y"});
      onnx::GraphProto& branch = *node->add_attribute()->mutable_g();
      branch.add_output()->set_name("y");
      node = branch.add_node();
    }
    fill(*node, i + 1 < depth ? fmt::format("F{}", i + 1) : "Neg", {"a"}, {"y"});
    if (i + 1 < depth) node->set_domain("own");
  }
  addCall(model, "F0", {"x"}, {"out"});
  return model;
}

TEST(InlineFunctions, CallsAreNestedUpToALimit) {
  test::onSmallStack([] {
    for (const bool inSubgraphs : {false, true}) {
      onnx::ModelProto model = chainOfCalls(kMaxNesting, inSubgraphs);
      EXPECT_TRUE(inlineFunctions(model).isOk());
      for (const size_t depth : {kMaxNesting + 1, size_t{20'000}}) {
        model = chainOfCalls(depth, inSubgraphs);
        EXPECT_EQ(inlineFunctions(model).message(),
                  fmt::format("ONNX functions may be called {0} deep, 'own::F{0}' is called deeper", kMaxNesting));
      }
    }
  });
}

TEST(InlineFunctions, OutputsMayBeInputs) {
  onnx::ModelProto model;
  addFunction(model, "Through", {"a"}, {"a"});
  addCall(model, "Through", {"x"}, {"out"});
  ASSERT_TRUE(inlineFunctions(model).isOk());
  EXPECT_EQ(listing(model.graph()), Names{"Identity(x)->out"});
}

TEST(InlineFunctions, AFunctionGoesBeforeAnOperatorAndOverloadsDiffer) {
  onnx::ModelProto model;
  for (const char* overload : {"", "b"}) {
    onnx::FunctionProto& function = addFunction(model, "Relu", {"a"}, {"y"});
    function.set_domain("ai.onnx");
    fill(*function.add_node(), *overload ? "Abs" : "Neg", {"a"}, {"y"});
    if (*overload) function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(13, overload);
  }
  addCall(model, "Relu", {"x"}, {"t"}).set_domain("");
  onnx::NodeProto& second = addCall(model, "Relu", {"t"}, {"out"});
  second.set_domain("");
  second.GetReflection()->MutableUnknownFields(&second)->AddLengthDelimited(8, "b");
  ASSERT_TRUE(inlineFunctions(model).isOk());
  EXPECT_EQ(listing(model.graph()), (Names{"Neg(x)->t", "Abs(t)->out"}));
}

TEST(InlineFunctions, WrongOnesAreNamed) {
  const auto refused = [](const std::function<void(onnx::ModelProto&)>& change) {
    onnx::ModelProto model;
    onnx::FunctionProto& function = addFunction(model, "F", {"a"}, {"y"});
    fill(*function.add_node(), "Neg", {"a"}, {"y"});
    addCall(model, "F", {"x"}, {"out"});
    change(model);
    const Status status = inlineFunctions(model);
    EXPECT_FALSE(status.isOk());
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    return status.message();
  };
  const auto recursive = [](onnx::ModelProto& model) {
    onnx::NodeProto& node = *model.mutable_functions(0)->mutable_node(0);
    node.set_op_type("F");
    node.set_domain("own");
  };
  EXPECT_EQ(refused(recursive), "ONNX function 'own::F' calls itself");
  EXPECT_EQ(refused([](onnx::ModelProto& model) { model.mutable_graph()->mutable_node(0)->add_input("x"); }),
            "ONNX function 'own::F' has 1 inputs and 1 outputs, its call 'call' has 2 and 1");
  EXPECT_EQ(refused([](onnx::ModelProto& model) { *model.add_functions() = model.functions(0); }),
            "ONNX function 'own::F' is defined twice");
  const auto explosion = [](onnx::ModelProto& model) {  // each calls the one before eight times
    for (int i = 1; i < 12; ++i) {
      const std::string before = i == 1 ? "F" : fmt::format("F{}", i - 1);
      onnx::FunctionProto& function = addFunction(model, fmt::format("F{}", i), {"a"}, {"y"});
      for (int k = 0; k < 8; ++k) {
        onnx::NodeProto& node = *function.add_node();
        fill(node, before, {k == 0 ? "a" : fmt::format("t{}", k - 1)}, {k == 7 ? "y" : fmt::format("t{}", k)});
        node.set_domain("own");
      }
    }
    model.mutable_graph()->mutable_node(0)->set_op_type("F11");
  };
  EXPECT_NE(refused(explosion).find("more than 1000000"), std::string::npos);
}

}  // namespace
}  // namespace opkit
