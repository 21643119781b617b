#include "engine/model/model.h"

#include <gtest/gtest.h>

#include "engine/op/op_registry.h"

namespace opkit {
namespace {

OpRegistry registryWithCopy() {
  OpRegistry registry;
  registry.add({.type = "Copy",
                .inputs = {{"x"}},
                .outputs = {{"y"}},
                .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
                  return std::vector{args.input(0)};
                }});
  return registry;
}

/// x -> a -> b, where b is the output.
Model chain() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 3}});
  const TensorId a = model.addNode("Copy", "a", {x})[0];
  model.outputs = {model.addNode("Copy", "b", {a})[0]};
  return model;
}

TEST(Model, NamesOutputsAfterTheirNode) {
  Model model = chain();
  EXPECT_EQ(model.findTensor("a"), TensorId(1));
  EXPECT_FALSE(model.findTensor("nothing"));
  model.addNode("Copy", "c", {TensorId(0)}, {}, 2);
  EXPECT_TRUE(model.findTensor("c:0"));
  EXPECT_TRUE(model.findTensor("c:1"));
}

TEST(Model, ValidatesAChain) {
  const Status status = validateModel(chain(), registryWithCopy());
  EXPECT_TRUE(status.isOk()) << status.toString();
}

struct Damage {
  const char* message;  // expected part of the message of validateModel
  void (*apply)(Model&);
};

TEST(Model, ValidateNamesWhatIsWrong) {
  const OpRegistry registry = registryWithCopy();
  const Damage table[] = {
      {"before anything makes it", [](Model& m) { std::swap(m.nodes[NodeId(0)], m.nodes[NodeId(1)]); }},
      {"must be unique", [](Model& m) { m.tensors[TensorId(1)].name = std::string("x"); }},
      {"must have a name", [](Model& m) { m.tensors[TensorId(1)].name.clear(); }},
      {"refers to tensor 17", [](Model& m) { m.nodes[NodeId(1)].inputs[0] = TensorId(17); }},
      {"refers to tensor -2", [](Model& m) { m.outputs[0] = TensorId(-2); }},
      {"at least one output", [](Model& m) { m.outputs.clear(); }},
      {"nothing makes output 'loose'", [](Model& m) { m.outputs = {m.addTensor("loose")}; }},
      {"already defines", [](Model& m) { m.nodes[NodeId(1)].outputs[0] = TensorId(1); }},
      {"no operator 'Unknown'", [](Model& m) { m.nodes[NodeId(0)].type = std::string("Unknown"); }},
      {"found version 2", [](Model& m) { m.nodes[NodeId(0)].version = 2; }},
      {"expected no parameters",
       [](Model& m) {
         m.nodes[NodeId(0)].params = {1, 2, 3};
       }},
      {"listed once", [](Model& m) { m.inputs.push_back(TensorId(0)); }},
      {"negative extent", [](Model& m) { m.tensors[TensorId(0)].desc.shape = {-5}; }},
      {"2^40", [](Model& m) { m.tensors[TensorId(0)].desc.shape = {int64_t{1} << 50}; }},
      {"must be f32[2]", [](Model& m) {
         m.addConstant("k", *Tensor::onHost({DType::Float32, {2}}));
         m.tensors.back().constant->desc.shape = {3};
       }}};
  for (const Damage& damage : table) {
    Model model = chain();
    damage.apply(model);
    const Status status = validateModel(model, registry);
    EXPECT_NE(status.message().find(damage.message), std::string::npos) << damage.message << " / " << status.message();
  }
}

TEST(Model, ReplacesADefaultAndItsCopiesInSubgraphs) {
  const auto value = [](Shape shape, float first) {
    Tensor tensor = *Tensor::onHost({DType::Float32, std::move(shape)});
    tensor.data<float>()[0] = first;
    return tensor;
  };
  Model model = chain();
  Model body = chain();
  for (Model* one : {&body, &model}) {
    const TensorId k = one->addConstant(one == &body ? "k_2" : "k", value({2}, 1));
    one->tensors[k].defaultOf = {1, {kDynamic}};
  }
  model.nodes.back().subgraphs = {{"body", body, {}}};
  ASSERT_TRUE(replaceDefault(model, "k", value({3}, 7)).isOk());
  EXPECT_EQ(model.tensors[model.findTensor("k")].desc.shape, Shape{3});
  const Model& inner = model.nodes.back().subgraphs[0].model;
  EXPECT_EQ(inner.tensors[inner.findTensor("k_2")].constant->data<float>()[0], 7);
  EXPECT_EQ(replaceDefault(model, "x", value({3}, 7)).message(), "no input with a default is called 'x'");
  EXPECT_EQ(replaceDefault(model, "k", value({3, 1}, 7)).message(),
            "input 'k': the model declares f32[?], got f32[3,1]");
  EXPECT_EQ(replaceDefault(model, "k", *Tensor::onHost({DType::Int32, {3}})).message(),
            "input 'k': the model declares f32[?], got i32[3]");
  Model& copy = model.nodes.back().subgraphs[0].model;
  copy.tensors[copy.findTensor("k_2")].defaultOf->isFixed = true;
  EXPECT_EQ(replaceDefault(model, "k", value({3}, 8)).message(),
            "input 'k' keeps its default: a node was imported by its value");
  EXPECT_EQ(model.tensors[model.findTensor("k")].constant->data<float>()[0], 7);
}

TEST(Model, SortPutsProducersFirstAndKeepsTheRest) {
  Model model = chain();
  model.addNode("Copy", "c", {TensorId(0)});
  std::swap(model.nodes[NodeId(0)], model.nodes[NodeId(1)]);
  ASSERT_TRUE(sortTopologically(model).isOk());
  EXPECT_EQ(model.nodes[NodeId(0)].name, "a");
  EXPECT_EQ(model.nodes[NodeId(1)].name, "b");
  EXPECT_EQ(model.nodes[NodeId(2)].name, "c");
}

TEST(Model, SortNamesATensorOnTheCycle) {
  Model model = chain();
  model.nodes[NodeId(0)].inputs = {TensorId(2)};  // a reads b, b reads a
  model.addNode("Copy", "after", {TensorId(2)});
  std::swap(model.nodes[NodeId(0)],
            model.nodes[NodeId(2)]);  // start from a node that depends on the cycle but is not on it
  const Status status = sortTopologically(model);
  EXPECT_EQ(status.code(), StatusCode::Corrupt);
  EXPECT_TRUE(status.message().find("'a'") != std::string::npos || status.message().find("'b'") != std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace opkit
