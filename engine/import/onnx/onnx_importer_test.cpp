#include "engine/import/onnx/onnx_importer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "engine/base/host_memory.h"
#include "engine/base/nesting.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/model/mapped_file.h"
#include "engine/op/op_registry.h"
#include "engine/tensor/lazy_buffer.h"
#include "engine/testing/small_stack.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;
using onnx::AttributeProto;
using onnx::TensorProto;

/// One operator, "Any", that accepts any inputs and outputs.
OpRegistry testOps() {
  OpRegistry registry;
  registry.add({.type = "Any",
                .inputs = {{"x", kAnyDType, Port::Kind::Variadic}},
                .outputs = {{"y", kAnyDType, Port::Kind::Variadic}},
                .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
                  return Status::unsupported("never asked");
                }});
  return registry;
}

OnnxRules testRules() {
  OnnxRules rules;
  rules.add("Any", {}, passThrough("Any"));
  for (const char* domain : {"acme", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft"})
    rules.add(fmt::format("{}::Any", domain), {}, passThrough("Any"));
  rules.add("If", {"then_branch", "else_branch"}, passThrough("Any"));
  rules.add("Recent", {}, passThrough("Any"), 13, 14);
  rules.add("Versions", {{"early", 1, 12}, {"late", 13}, required("needed", 13)}, passThrough("Any"));
  rules.add("Value", {"value"}, [](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(Tensor value, node.tensorAttribute("value"));
    return node.emitConstant(std::move(value));
  });
  rules.add("Attributes", {"i", "f", "s", "is", "fs", "ss", "body"}, [](OnnxNode& node) -> Status {
    const int sum = static_cast<int>(node.intAttribute("i", 1) + node.intsAttribute("is").size() +
                                     node.floatsAttribute("fs").size() + node.stringsAttribute("ss").size() +
                                     node.stringAttribute("s", "ab").size());
    const TensorId scale = node.addConstant("scale", node.floatAttribute("f", 0.5f) + static_cast<float>(sum));
    return node.emit("Any", {node.input(0), scale, node.input(7)});
  });
  rules.add("NeedsConstant", {}, [](OnnxNode& node) -> Status {
    const Tensor* value = node.constantInput(1);
    if (!value) return Status::unsupported("input 1 must be constant");
    for (int i = 0; i < 100; ++i) node.addConstant("filler", std::vector<int64_t>{i});
    return node.emit("Any", {node.emitIntermediate("Any", {node.addConstant("copy", *value)})});
  });
  rules.add("Choice", {"mode"}, [](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(const int mode, choiceAttribute<int>(node, "mode", {{"near", 7}, {"far", 8}}));
    return node.emit("Any", {node.addConstant("mode", std::vector<int64_t>{mode})});
  });
  rules.add("Calls", {"body"}, [](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(const std::vector<TensorId> outputs, node.inlineGraph("body", {node.input(0)}));
    return node.emit("Any", outputs);
  });
  rules.add("Lazy", {}, [](OnnxNode&) { return Status::ok(); });
  rules.add("Foreign", {}, passThrough("NotRegistered"));
  return rules;
}

/// Builds models line by line.
struct Builder {
  onnx::ModelProto proto;

  Builder() {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(13);
    proto.mutable_graph();
  }
  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
  onnx::TypeProto::Tensor& input(const std::string& name, std::vector<int64_t> shape = {2},
                                 int type = TensorProto::FLOAT) {
    onnx::ValueInfoProto& info = *graph().add_input();
    info.set_name(name);
    onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (int64_t extent : shape) {
      auto& dimension = *tensor.mutable_shape()->add_dim();
      if (extent == kDynamic)
        dimension.set_dim_param("N");
      else
        dimension.set_dim_value(extent);
    }
    return tensor;
  }
  onnx::NodeProto& node(const std::string& type, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(type);
    for (const auto& name : inputs) node.add_input(name);
    for (const auto& name : outputs) node.add_output(name);
    return node;
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }
  std::vector<uint8_t> bytes() const {
    const std::string text = proto.SerializeAsString();
    return {text.begin(), text.end()};
  }
  Result<Model> import() const {
    static const OpRegistry registry = testOps();
    static const OnnxRules rules = testRules();
    return importOnnx(bytes(), rules, registry);
  }
};

void addInitializer(Builder& builder, const std::string& name, float value) {
  TensorProto& tensor = *builder.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_float_data(value);
}

/// "w" of `dims`: `values` at `indices` of shape `indexShape`, zero elsewhere.
void addSparse(Builder& builder, const Shape& dims, const std::vector<float>& values,
               const std::vector<int64_t>& indices, const Shape& indexShape) {
  onnx::SparseTensorProto& sparse = *builder.graph().add_sparse_initializer();
  for (const int64_t extent : dims) sparse.add_dims(extent);
  TensorProto& tensor = *sparse.mutable_values();
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (const float value : values) tensor.add_float_data(value);
  TensorProto& places = *sparse.mutable_indices();
  places.set_data_type(TensorProto::INT64);
  for (const int64_t extent : indexShape) places.add_dims(extent);
  for (const int64_t index : indices) places.add_int64_data(index);
}

Builder simple() {
  Builder builder;
  builder.input("x", {kDynamic, 3});
  builder.node("Any", {"x"}, {"y"});
  builder.output("y");
  return builder;
}

/// Names of the nodes of a model.
std::vector<std::string> nodeNames(const Model& model) {
  std::vector<std::string> names;
  for (const ModelNode& node : model.nodes) names.push_back(node.name);
  return names;
}

TEST(OnnxImporter, NodesThatShareANameGetDifferentOnes) {
  Builder builder;
  builder.input("x");
  builder.node("Any", {"x"}, {"a"}).set_name("n");
  builder.node("Any", {"a"}, {"b"}).set_name("n");
  builder.node("Any", {"b"}, {"n"});
  builder.node("Any", {"n"}, {"c"}).set_name("n_2");
  builder.output("c");
  const auto model = builder.import();
  ASSERT_TRUE(model) << model.error().toString();
  EXPECT_EQ(nodeNames(*model), (std::vector<std::string>{"n", "n_2", "n_3", "n_2_2"}));
}

/// Subgraphs may use each other's names of values, after which nodes without a name are called.
TEST(OnnxImporter, NodesOfSubgraphsGetNamesOfTheirOwn) {
  Builder builder;
  builder.input("x");
  for (const char* output : {"y", "z"}) {
    AttributeProto& attribute = *builder.node("Calls", {"x"}, {output}).add_attribute();
    attribute.set_name("body");
    attribute.set_type(AttributeProto::GRAPH);
    onnx::GraphProto& body = *attribute.mutable_g();
    body.add_input()->set_name("t");
    onnx::NodeProto& inner = *body.add_node();
    inner.set_op_type("Any");
    inner.add_input("t");
    inner.add_output("u");
    body.add_output()->set_name("u");
    builder.output(output);
  }
  const auto model = builder.import();
  ASSERT_TRUE(model) << model.error().toString();
  EXPECT_EQ(nodeNames(*model), (std::vector<std::string>{"u", "y", "u_2", "z"}));
}

TEST(OnnxImporter, ImportsInputsNodesAndOutputs) {
  const Result<Model> model = simple().import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  ASSERT_EQ(model->inputs.size(), 1u);
  EXPECT_EQ(model->tensors[model->inputs[0]].desc.toString(), "f32[?,3]");
  ASSERT_EQ(model->nodes.size(), 1u);
  EXPECT_EQ(model->nodes[NodeId(0)].name, "y");
  EXPECT_EQ(model->tensors[model->outputs[0]].name, "y");
}

TEST(OnnxImporter, InitializersAreConstantsNotInputs) {
  Builder builder = simple();
  builder.input("w", {});
  addInitializer(builder, "w", 2.5f);
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  EXPECT_EQ(model->inputs.size(), 1u);
  const ModelTensor& w = model->tensors[model->findTensor("w")];
  ASSERT_TRUE(w.constant);
  EXPECT_EQ(w.constant->data<float>()[0], 2.5f);
}

TEST(OnnxImporter, AnInitializerThatIsAnInputIsItsDefault) {
  Builder builder = simple();
  builder.input("w", {kDynamic});
  addInitializer(builder, "w", 2.5f);
  const auto defaultOf = [&](const char* name) {
    const Result<Model> model = builder.import();
    EXPECT_TRUE(model.has_value()) << model.error().toString();
    return model ? model->tensors[model->findTensor(name)].defaultOf : std::nullopt;
  };
  const std::optional<InputDefault> open = defaultOf("w");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->position, 1u);
  EXPECT_EQ(open->shape, Shape{kDynamic});
  EXPECT_FALSE(open->isFixed);
  builder.node("NeedsConstant", {"x", "w"}, {"z"});
  EXPECT_TRUE(defaultOf("w")->isFixed) << "the rule took the value";
  builder.proto.set_ir_version(3);
  EXPECT_FALSE(defaultOf("w")) << "there every initializer had to be an input";
}

TEST(OnnxImporter, AnExtentOfMinusOneIsUnknown) {
  Builder builder = simple();
  onnx::TypeProto::Tensor& type = builder.input("z", {});
  type.mutable_shape()->add_dim()->set_dim_value(-1);
  type.mutable_shape()->add_dim()->set_dim_value(3);
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  EXPECT_EQ(model->tensors[model->findTensor("z")].desc.shape, (Shape{kDynamic, 3}));
}

TEST(OnnxImporter, KeepsMetadataAndNamesOfExtents) {
  Builder builder = simple();
  builder.input("z", {kDynamic, 3});
  onnx::TypeProto::Tensor& type = *builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const char* key : {"author", "labels"}) {
    onnx::StringStringEntryProto& entry = *builder.proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(fmt::format("of {}", key));
  }
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  EXPECT_EQ(model->tensors[model->findTensor("z")].extentNames, (std::vector<std::string>{"N", ""}));
  EXPECT_EQ(model->tensors[model->outputs[0]].extentNames, std::vector<std::string>{"batch"});
  using Entry = std::pair<std::string, std::string>;
  EXPECT_EQ(model->metadata, (std::vector<Entry>{{"author", "of author"}, {"labels", "of labels"}}));
}

/// Serialised length-delimited field.
std::string field(int number, const std::string& content) {
  std::string text;
  const auto varint = [&](size_t value) {
    for (; value >= 128; value >>= 7) text.push_back(static_cast<char>(value | 128));
    text.push_back(static_cast<char>(value));
  };
  varint(static_cast<size_t>(number) << 3 | 2);
  varint(content.size());
  return text + content;
}

/// y = Calls(x){y = Calls(x){...}} `depth` deep, as bytes: protobuf's own limits do not matter.
std::vector<uint8_t> nestedCalls(size_t depth) {
  onnx::GraphProto inner;
  const auto setUp = [](onnx::NodeProto& node) {
    node.add_input("x");
    node.add_output("y");
  };
  inner.add_input()->set_name("t");
  setUp(*inner.add_node());
  inner.mutable_node(0)->set_op_type("Any");
  inner.add_output()->set_name("y");
  std::string graph = inner.SerializeAsString();
  for (size_t d = 0; d < depth; ++d) {
    onnx::NodeProto node;
    setUp(node);
    node.set_op_type("Calls");
    const std::string attribute = field(1, "body") + field(6, graph) + "\xa0\x01\x05";  // of type GRAPH
    onnx::GraphProto around;
    around.add_output()->set_name("y");
    if (d + 1 < depth) around.add_input()->set_name("t");
    graph = field(1, node.SerializeAsString() + field(5, attribute)) + around.SerializeAsString();
  }
  Builder builder;
  builder.input("x");
  graph += builder.graph().SerializeAsString();
  builder.proto.clear_graph();
  const std::string model = builder.proto.SerializeAsString() + field(7, graph);
  return {model.begin(), model.end()};
}

TEST(OnnxImporter, SubgraphsAreNestedUpToALimit) {
  const OpRegistry registry = testOps();
  const OnnxRules rules = testRules();
  test::onSmallStack([&] {
    const Result<Model> model = importOnnx(nestedCalls(kMaxNesting), rules, registry);
    EXPECT_TRUE(model.has_value()) << model.error().toString();
    for (const size_t depth : {kMaxNesting + 1, kMaxNesting + 20, size_t{5000}}) {
      const Result<Model> deeper = importOnnx(nestedCalls(depth), rules, registry);
      ASSERT_FALSE(deeper.has_value());
      EXPECT_EQ(deeper.error().message(),
                fmt::format("ONNX subgraphs may be nested {} deep, found {}", kMaxNesting, depth));
    }
  });
}

TEST(OnnxImporter, SortsNodesAndReadsDomains) {
  Builder builder;
  builder.input("x");
  builder.node("Any", {"b"}, {"c"});
  builder.node("Any", {"a"}, {"b"}).set_domain("ai.onnx");
  builder.node("Any", {"x"}, {"a"}).set_domain("acme");
  builder.output("c");
  auto& opset = *builder.proto.add_opset_import();
  opset.set_domain("acme");
  opset.set_version(1);
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  EXPECT_EQ(model->nodes.front().name, "a");
  EXPECT_EQ(model->nodes.back().name, "c");
}

TEST(OnnxImporter, AbsentInputsAndOutputs) {
  Builder builder;
  builder.input("x");
  builder.node("Any", {"x", "", "x", "", ""}, {"", "y", "", ""});
  builder.output("y");
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  EXPECT_EQ(model->nodes[NodeId(0)].inputs, (std::vector<TensorId>{TensorId(0), {}, TensorId(0)}));
  EXPECT_EQ(model->nodes[NodeId(0)].outputs, (std::vector<TensorId>{{}, TensorId(1), {}, {}}))
      << "a variadic port: their number counts";
}

TEST(OnnxImporter, RulesSeeAttributesAndDefaults) {
  Builder builder;
  builder.input("x");
  onnx::NodeProto& node = builder.node("Attributes", {"x"}, {"y"});
  builder.output("y");
  const auto scale = [&] {
    const Result<Model> model = builder.import();
    return model.has_value() ? model->tensors.back().constant->data<float>()[0] : -1.0f;
  };
  EXPECT_EQ(scale(), 0.5f + 1 + 2);
  const auto add = [&](const char* name, AttributeProto::AttributeType type) -> AttributeProto& {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  };
  add("i", AttributeProto::INT).set_i(10);
  add("f", AttributeProto::FLOAT).set_f(0.25f);
  add("s", AttributeProto::STRING).set_s("abcd");
  add("is", AttributeProto::INTS).add_ints(5);
  add("fs", AttributeProto::FLOATS).add_floats(5);
  AttributeProto& strings = add("ss", AttributeProto::STRINGS);
  strings.add_strings("a");
  strings.add_strings("b");
  EXPECT_EQ(scale(), 0.25f + 10 + 4 + 1 + 1 + 2);
  for (AttributeProto& attribute : *node.mutable_attribute()) attribute.clear_type();  // as the oldest files are
  EXPECT_EQ(scale(), 0.25f + 10 + 4 + 1 + 1 + 2);
}

TEST(OnnxImporter, ChoicesHaveAFallbackAndAreNamedWhenRefused) {
  Builder builder;
  builder.input("x");
  onnx::NodeProto& node = builder.node("Choice", {"x"}, {"y"});
  builder.output("y");
  const auto mode = [&] {
    const Result<Model> model = builder.import();
    return model.has_value() ? std::to_string(model->tensors.back().constant->data<int64_t>()[0])
                             : model.error().message();
  };
  EXPECT_EQ(mode(), "7");
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("mode");
  attribute.set_type(AttributeProto::STRING);
  attribute.set_s("far");
  EXPECT_EQ(mode(), "8");
  attribute.set_s("Far");
  EXPECT_NE(mode().find("Choice: mode must be one of near, far, got 'Far'"), std::string::npos) << mode();
}

TEST(OnnxImporter, ConstantsReachTheRulesThatAsk) {
  Builder builder;
  builder.input("x");
  builder.node("NeedsConstant", {"x", "k"}, {"y"}).set_name("n");
  onnx::NodeProto& value = builder.node("Value", {}, {"k"});
  AttributeProto& attribute = *value.add_attribute();
  attribute.set_name("value");
  attribute.set_type(AttributeProto::TENSOR);
  attribute.mutable_t()->set_data_type(TensorProto::INT64);
  attribute.mutable_t()->add_int64_data(42);
  builder.output("y");
  builder.output("k");
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  EXPECT_EQ(model->nodes.size(), 2u);
  EXPECT_EQ(model->tensors[model->findTensor("n/copy")].constant->data<int64_t>()[0], 42);
  EXPECT_TRUE(model->findTensor("n/filler_100"));
}

struct Refused {
  std::string message;  // part of it
  StatusCode code;
  std::function<void(Builder&)> apply;
};

void declare(onnx::ValueInfoProto& info, int elementType) {
  info.mutable_type()->mutable_tensor_type()->set_elem_type(elementType);
}

AttributeProto& firstAttribute(Builder& builder, const char* name) {
  AttributeProto& attribute = *builder.graph().mutable_node(0)->add_attribute();
  attribute.set_name(name);
  return attribute;
}

std::vector<Refused> refusedModels() {
  const StatusCode unsupported = StatusCode::Unsupported, invalid = StatusCode::InvalidArgument,
                   corrupt = StatusCode::Corrupt;
  const auto setType = [](const char* type) {
    return [=](Builder& b) { b.graph().mutable_node(0)->set_op_type(type); };
  };
  return {
      {"ONNX operator 'Nope' (opset 13) has no rule in this build", unsupported, setType("Nope")},
      {"'ai.onnx.ml::Nope' (opset 2) has no rule", unsupported,
       [](Builder& b) {
         b.graph().mutable_node(0)->set_op_type("Nope");
         b.graph().mutable_node(0)->set_domain("ai.onnx.ml");
         b.proto.add_opset_import()->set_domain("ai.onnx.ml");
         b.proto.mutable_opset_import(1)->set_version(2);
       }},
      {"imports no opset for its domain 'acme'", invalid,
       [](Builder& b) { b.graph().mutable_node(0)->set_domain("acme"); }},
      {"'Recent' (opset 12) has no rule", unsupported,
       [](Builder& b) {
         b.graph().mutable_node(0)->set_op_type(std::string("Recent"));
         b.proto.mutable_opset_import(0)->set_version(12);
       }},
      {"'Any' (opset 13): attribute 'axis' is not supported", unsupported,
       [](Builder& b) { firstAttribute(b, "axis").set_i(1); }},
      {"attribute 'i' must be of type INT, found FLOAT", invalid,
       [](Builder& b) {
         b.graph().mutable_node(0)->set_op_type(std::string("Attributes"));
         firstAttribute(b, "i").set_f(1);
       }},
      {"refers to a function's attribute", unsupported,
       [](Builder& b) {
         b.graph().mutable_node(0)->set_op_type(std::string("Attributes"));
         firstAttribute(b, "i").set_ref_attr_name("outer");
       }},
      {"attribute 'body' holds a subgraph, which its rule does not run", unsupported,
       [](Builder& b) {
         b.graph().mutable_node(0)->set_op_type(std::string("Attributes"));
         firstAttribute(b, "body").mutable_g();
       }},
      {"'Value' ('y'): expected a tensor in attribute 'value', found none", unsupported, setType("Value")},
      {"'Lazy' ('y'): its rule made nothing", StatusCode::Internal, setType("Lazy")},
      {"no operator 'NotRegistered'", unsupported, setType("Foreign")},
      {"which nothing defines", invalid, [](Builder& b) { b.graph().mutable_node(0)->set_input(0, "ghost"); }},
      {"depends on itself", corrupt, [](Builder& b) { b.graph().mutable_node(0)->set_input(0, "y"); }},
      {"'y' is defined twice", invalid, [](Builder& b) { b.node("Any", {"x"}, {"y"}); }},
      {"graph output 'ghost': no node makes it", invalid, [](Builder& b) { b.output("ghost"); }},
      {"at least one output", invalid, [](Builder& b) { b.graph().clear_output(); }},
      {"'Any' has no outputs", invalid, [](Builder& b) { b.node("Any", {"x"}, {}); }},
      {"graph input 'z': its rank must be known", unsupported, [](Builder& b) { b.input("z").clear_shape(); }},
      {"graph input 'z': its type must be a tensor, found map", unsupported,
       [](Builder& b) {
         b.graph().add_input()->set_name("z");
         b.graph().mutable_input(1)->mutable_type()->mutable_map_type();
       }},
      {"graph input 'z': its type must be a tensor, found sparse tensor", unsupported,
       [](Builder& b) {
         b.graph().add_input()->set_name("z");
         b.graph().mutable_input(1)->mutable_type()->mutable_sparse_tensor_type();
       }},
      {"graph input 'z': ONNX type complex64", unsupported,
       [](Builder& b) { b.input("z", {1}, TensorProto::COMPLEX64); }},
      {"graph input 'z': ONNX type number 27", unsupported, [](Builder& b) { b.input("z", {1}, 27); }},
      {"2^40", invalid, [](Builder& b) { b.input("z", {int64_t{1} << 50}); }},
      {"2^40", invalid,
       [](Builder& b) {
         b.input("z", {int64_t{1} << 31, int64_t{1} << 31, 4});
       }},
      {"negative extent", invalid, [](Builder& b) { b.input("z", {-7}); }},
      {"initializer 'w': index 1 of its values lies outside [2,3]", corrupt,
       [](Builder& b) {
         addSparse(b, {2, 3}, {5, 6}, {5, 6}, {2});
       }},
      {"initializer 'w': index 1 of its values does not come behind", corrupt,
       [](Builder& b) {
         addSparse(b, {2, 3}, {5, 6}, {4, 4}, {2});
       }},
      {"initializer 'w': index 0 of its values lies outside [2,3]", corrupt,
       [](Builder& b) {
         addSparse(b, {2, 3}, {5}, {0, -1}, {1, 2});
       }},
      {"initializer 'w': its indices must be i64[2] or i64[2,2], found i64[3]", corrupt,
       [](Builder& b) {
         addSparse(b, {2, 3}, {5, 6}, {1, 2, 3}, {3});
       }},
      {"initializer 'w': f32[] needs 1 elements, found 0", corrupt,
       [](Builder& b) {
         addInitializer(b, "w", 1);
         b.graph().mutable_initializer(0)->clear_float_data();
       }},
      {"initializer 'w': its data is in the file 'w.bin' beside the model, and the model came without a path",
       unsupported,
       [](Builder& b) {
         addInitializer(b, "w", 1);
         TensorProto& tensor = *b.graph().mutable_initializer(0);
         tensor.set_data_location(TensorProto::EXTERNAL);
         onnx::StringStringEntryProto& entry = *tensor.add_external_data();
         entry.set_key("location");
         entry.set_value("w.bin");
       }},
      {"without a graph", corrupt, [](Builder& b) { b.proto.clear_graph(); }},
      {"opset version", invalid, [](Builder& b) { b.proto.mutable_opset_import(0)->set_version(-3); }},
      {"domain 'ai.onnx' must have one opset version, found 13 and 12", invalid,
       [](Builder& b) {
         b.proto.add_opset_import()->set_domain("ai.onnx");
         b.proto.mutable_opset_import(1)->set_version(12);
       }},
      {"'If' ('y'): output 0 must have one type in both branches, then_branch declares f32, else_branch i64", invalid,
       [](Builder& b) {
         b.graph().mutable_node(0)->set_op_type("If");
         declare(*firstAttribute(b, "then_branch").mutable_g()->add_output(), TensorProto::FLOAT);
         declare(*firstAttribute(b, "else_branch").mutable_g()->add_output(), TensorProto::INT64);
       }},
      {"graph output 'y': ONNX type complex64", unsupported,
       [](Builder& b) { declare(*b.graph().mutable_output(0), TensorProto::COMPLEX64); }},
      {"graph output 'y': its type must be a tensor, found map", unsupported,
       [](Builder& b) { b.graph().mutable_output(0)->mutable_type()->mutable_map_type(); }},
  };
}

/// A plain node of the domain whose model imports `version`; the message of its refusal.
std::string refusalOfOpset(const std::string& domain, int64_t version) {
  Builder builder = simple();
  builder.graph().mutable_node(0)->set_domain(domain);
  onnx::OperatorSetIdProto& opset =
      domain.empty() ? *builder.proto.mutable_opset_import(0) : *builder.proto.add_opset_import();
  opset.set_domain(domain);
  opset.set_version(version);
  const Result<Model> model = builder.import();
  return model ? "" : model.error().message();
}

TEST(OnnxImporter, NewerOpsetsThanTheNewestKnownAreRefused) {
  const std::vector<std::pair<std::string, int64_t>> newest{
      {"", 28}, {"ai.onnx.ml", 5}, {"ai.onnx.preview", 1}, {"ai.onnx.preview.training", 1}, {"com.microsoft", 1}};
  for (const auto& [domain, version] : newest) {
    EXPECT_EQ(refusalOfOpset(domain, version), "");
    const std::string name = domain.empty() ? "ai.onnx" : domain, type = domain.empty() ? "Any" : domain + "::Any";
    for (const int64_t later : {version + 1, int64_t{999}, INT64_MAX})
      EXPECT_EQ(refusalOfOpset(domain, later),
                fmt::format("ONNX operator '{}': this build knows opsets of domain '{}' up to {}, found {}", type, name,
                            version, later));
  }
  EXPECT_EQ(refusalOfOpset("acme", 999), "") << "a plugin's own numbers";
  Builder unused = simple();
  unused.proto.add_opset_import()->set_domain("ai.onnx.ml");
  unused.proto.mutable_opset_import(1)->set_version(999);
  EXPECT_TRUE(unused.import()) << "no node is of that domain";
}

TEST(OnnxImporter, NodesOfFunctionsHaveTheOpsetOfTheFunction) {
  Builder builder = simple();
  onnx::FunctionProto& function = *builder.proto.add_functions();
  function.set_name("F");
  function.set_domain("own");
  function.add_input("a");
  function.add_output("b");
  onnx::NodeProto& inner = *function.add_node();
  inner.set_op_type("Recent");  // of opsets 13 and 14
  inner.add_input("a");
  inner.add_output("b");
  builder.graph().mutable_node(0)->set_op_type("F");
  builder.graph().mutable_node(0)->set_domain("own");
  builder.proto.mutable_opset_import(0)->set_version(12);
  const auto message = [&] {
    const Result<Model> model = builder.import();
    return model ? "" : model.error().message();
  };
  EXPECT_EQ(message(), "ONNX operator 'Recent' (opset 12) has no rule in this build");
  function.add_opset_import()->set_version(14);
  EXPECT_EQ(message(), "");
  function.mutable_opset_import(0)->set_version(29);
  EXPECT_EQ(message(), "ONNX operator 'Recent': this build knows opsets of domain 'ai.onnx' up to 28, found 29");
  builder.proto.mutable_opset_import(0)->set_version(13);
  function.mutable_opset_import(0)->set_version(15);
  EXPECT_EQ(message(), "ONNX operator 'Recent' (opset 15) has no rule in this build");
}

TEST(OnnxImporter, SparseInitializersBecomeDense) {
  const std::vector<float> expected{0, 5, 0, 0, 0, 6};
  for (const bool linear : {true, false}) {
    Builder builder = simple();
    if (linear)
      addSparse(builder, {2, 3}, {5, 6}, {1, 5}, {2});
    else
      addSparse(builder, {2, 3}, {5, 6}, {0, 1, 1, 2}, {2, 2});
    builder.graph().mutable_node(0)->add_input("w");
    const Result<Model> model = builder.import();
    ASSERT_TRUE(model) << model.error().toString();
    const ModelTensor& tensor = model->tensors[model->findTensor("w")];
    EXPECT_EQ(tensor.desc.toString(), "f32[2,3]");
    EXPECT_TRUE(std::ranges::equal(tensor.constant->data<float>(), expected));
  }
}

TEST(OnnxImporter, SparseAttributesBecomeDense) {
  Builder builder = simple();
  addSparse(builder, {4}, {7}, {2}, {1});
  onnx::NodeProto& node = builder.node("Value", {}, {"v"});
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(AttributeProto::SPARSE_TENSOR);
  *attribute.mutable_sparse_tensor() = builder.graph().sparse_initializer(0);
  builder.graph().clear_sparse_initializer();
  builder.graph().mutable_node(0)->add_input("v");
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model) << model.error().toString();
  const ModelTensor& tensor = model->tensors[model->findTensor("v")];
  EXPECT_TRUE(std::ranges::equal(tensor.constant->data<float>(), std::vector<float>{0, 0, 7, 0}));
}

/// Initializer "w" f32[count] with `values` as raw data.
void addLarge(Builder& builder, const std::vector<float>& values, int64_t count) {
  TensorProto& tensor = *builder.graph().add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_dims(count);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  builder.graph().mutable_node(0)->add_input("w");
}

std::vector<float> manyValues(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) / 4;
  return values;
}

TEST(OnnxImporter, LargeValuesAreReadWhereverTheyAre) {
  const std::vector<float> values = manyValues(300);
  Builder builder = simple();
  addLarge(builder, values, 300);
  onnx::NodeProto& node = builder.node("Value", {}, {"v"});
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(AttributeProto::TENSOR);
  *attribute.mutable_t() = builder.graph().initializer(0);
  builder.graph().mutable_node(0)->add_input("v");
  const Result<Model> model = builder.import();
  ASSERT_TRUE(model) << model.error().toString();
  for (const char* name : {"w", "v"}) {
    const Tensor& constant = *model->tensors[model->findTensor(name)].constant;
    EXPECT_TRUE(std::ranges::equal(constant.data<float>(), values)) << name;
  }
}

TEST(OnnxImporter, LargeValuesOfAnotherLengthThanTheirShapeAreRefused) {
  for (const int64_t count : {299, 301}) {
    Builder builder = simple();
    addLarge(builder, manyValues(300), count);
    const Result<Model> model = builder.import();
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().message(),
              fmt::format("ONNX initializer 'w': f32[{}] needs {} bytes of raw data, found 1200", count, count * 4));
  }
}

/// At each of the places that a float may have in a file.
TEST(OnnxImporter, LargeValuesStayInTheFile) {
  const std::string path = testing::TempDir() + "/large_values.onnx";
  const std::vector<float> values = manyValues(size_t{1} << 15);
  size_t inPlace = 0;
  for (size_t shift = 0; shift < 4; ++shift) {
    Builder builder = simple();
    builder.proto.set_producer_name(std::string(shift, 'p'));
    addLarge(builder, values, std::ssize(values));
    ASSERT_TRUE(writeFile(path, builder.bytes()).isOk());
    const size_t before = hostMemoryInUse();
    const Result<Model> model = readModelFile(path, testRules(), testOps());
    ASSERT_TRUE(model) << model.error().toString();
    EXPECT_EQ(model->producer, std::string(shift, 'p'));
    const Tensor& constant = *model->tensors[model->findTensor("w")].constant;
    inPlace += dynamic_cast<const MappedFile*>(constant.buffer.get()) ? 1 : 0;
    const Tensor stored = asStored(constant);
    ASSERT_NE(dynamic_cast<const MappedFile*>(stored.buffer.get()), nullptr);
    EXPECT_EQ(std::memcmp(stored.bytes().data(), values.data(), stored.sizeBytes()), 0);
    const auto once = readable(constant);
    ASSERT_TRUE(once);
    EXPECT_TRUE(std::ranges::equal(once->data<float>(), values));
    EXPECT_TRUE(std::ranges::equal(constant.data<float>(), values));
    constant.buffer->discard(constant.offsetBytes, constant.sizeBytes());
    EXPECT_TRUE(std::ranges::equal(constant.data<float>(), values)) << "discarding lost values";
    EXPECT_LE(hostMemoryInUse(), before + 2 * stored.sizeBytes());
  }
  EXPECT_EQ(inPlace, 1u);
  fs::remove(path);
}

/// y = Calls(x){body(t): u = Any(t, w, c); u, t}: `w` is a value around the body, `c` its initializer.
Builder calling() {
  Builder builder;
  builder.input("x");
  builder.node("Any", {"x"}, {"w"});
  onnx::NodeProto& node = builder.node("Calls", {"x"}, {"y"});
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("body");
  attribute.set_type(AttributeProto::GRAPH);
  onnx::GraphProto& body = *attribute.mutable_g();
  body.add_input()->set_name("t");
  TensorProto& constant = *body.add_initializer();
  constant.set_name("c");
  constant.set_data_type(TensorProto::FLOAT);
  constant.add_float_data(2);
  onnx::NodeProto& inner = *body.add_node();
  inner.set_op_type("Any");
  for (const char* name : {"t", "w", "c"}) inner.add_input(name);
  inner.add_output("u");
  for (const char* name : {"u", "t"}) body.add_output()->set_name(name);
  builder.output("y");
  return builder;
}

TEST(OnnxImporter, CalledGraphsAreInlined) {
  const Result<Model> model = calling().import();
  ASSERT_TRUE(model.has_value()) << model.error().toString();
  ASSERT_EQ(model->nodes.size(), 3u);
  const TensorId x = model->findTensor("x"), w = model->findTensor("w"), c = model->findTensor("y/c");
  const TensorId u = model->findTensor("y/u");
  ASSERT_TRUE(c);
  ASSERT_TRUE(model->tensors[c].constant);
  EXPECT_EQ(model->nodes[NodeId(1)].inputs, (std::vector<TensorId>{x, w, c}));
  EXPECT_EQ(model->nodes[NodeId(1)].outputs, (std::vector<TensorId>{u}));
  EXPECT_EQ(model->nodes[NodeId(2)].inputs, (std::vector<TensorId>{u, x}));
}

TEST(OnnxImporter, CalledGraphsMustFit) {
  Builder builder = calling();
  builder.graph().mutable_node(1)->mutable_attribute(0)->mutable_g()->add_input()->set_name("more");
  const Result<Model> model = builder.import();
  ASSERT_FALSE(model.has_value());
  EXPECT_NE(model.error().message().find("subgraph 'body' must have 1 inputs, found 2"), std::string::npos)
      << model.error().message();
}

TEST(OnnxImporter, RefusalsNameTheCulprit) {
  for (const Refused& refused : refusedModels()) {
    Builder builder = simple();
    refused.apply(builder);
    const Result<Model> model = builder.import();
    ASSERT_FALSE(model.has_value()) << refused.message;
    EXPECT_EQ(model.error().code(), refused.code) << model.error().toString();
    EXPECT_NE(model.error().message().find(refused.message), std::string::npos)
        << "expected: " << refused.message << "\nfound:    " << model.error().message();
  }
}

TEST(OnnxImporter, DamagedBytesNeverCrash) {
  Builder builder = simple();
  builder.node("Attributes", {"y"}, {"z"});
  addInitializer(builder, "w", 1.0f);
  const std::vector<uint8_t> bytes = builder.bytes();
  const OpRegistry registry = testOps();
  const OnnxRules rules = testRules();
  size_t refused = 0;
  for (size_t length = 0; length < bytes.size(); ++length)
    refused += !importOnnx(std::span(bytes).first(length), rules, registry).has_value();
  EXPECT_GT(refused, bytes.size() / 2);
  std::mt19937_64 random(11);
  for (int round = 0; round < 4000; ++round) {
    std::vector<uint8_t> damaged = bytes;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    const Result<Model> model = importOnnx(damaged, rules, registry);
    EXPECT_TRUE(model.has_value() || !model.error().message().empty());
  }
}

TEST(OnnxImporter, AttributesBelongToTheOpsetsOfTheRule) {
  const auto messageOf = [](int opset, const std::vector<std::string>& attributes) {
    Builder builder;
    builder.proto.mutable_opset_import(0)->set_version(opset);
    builder.input("x");
    onnx::NodeProto& node = builder.node("Versions", {"x"}, {"y"});
    for (const std::string& name : attributes) {
      AttributeProto& attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(AttributeProto::INT);
    }
    builder.output("y");
    const auto model = builder.import();
    return model ? "" : model.error().message();
  };
  EXPECT_EQ(messageOf(12, {"early"}), "");
  EXPECT_EQ(messageOf(12, {}), "");
  EXPECT_EQ(messageOf(13, {"needed", "late"}), "");
  EXPECT_EQ(messageOf(12, {"late"}), "ONNX operator 'Versions' (opset 12): attribute 'late' is not supported");
  EXPECT_EQ(messageOf(13, {"needed", "early"}),
            "ONNX operator 'Versions' (opset 13): attribute 'early' is not supported");
  EXPECT_EQ(messageOf(13, {}), "ONNX operator 'Versions' (opset 13): attribute 'needed' is required");
}

}  // namespace
}  // namespace opkit
