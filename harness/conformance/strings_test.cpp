// Strings in operators that compare or move elements, imported from ONNX and run on every backend.
#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/runtime/session.h"
#include "engine/tensor/objects.h"
#include "ops/builtin_ops.h"

namespace opkit::harness::strings {
namespace {

using Strings = std::vector<std::string>;
using Integers = std::vector<int64_t>;

Tensor integers(Shape shape, const Integers& values) {
  return *Tensor::fromValues<int64_t>({DType::Int64, std::move(shape)}, values);
}
Tensor bools(Shape shape, const std::vector<uint8_t>& values) {
  return *Tensor::fromValues<uint8_t>({DType::Bool, std::move(shape)}, values);
}

/// A node whose strings are inputs of the model, or constants; all other tensors are constants.
struct Call {
  std::string type;
  std::vector<Tensor> inputs;
  std::map<std::string, int64_t> numbers = {};
  std::map<std::string, Integers> lists = {};
  int outputs = 1;
  bool areConstant = false;
  std::string domain = "";
  std::map<std::string, std::string> text = {};
  std::map<std::string, Strings> texts = {};
  std::map<std::string, Tensor> tensors = {};
};

onnx::AttributeProto& addAttribute(onnx::NodeProto& node, const std::string& name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

Status addAttributes(const Call& call, onnx::NodeProto& node) {
  for (const auto& [name, value] : call.numbers) addAttribute(node, name, onnx::AttributeProto::INT).set_i(value);
  for (const auto& [name, values] : call.lists)
    for (onnx::AttributeProto& list = addAttribute(node, name, onnx::AttributeProto::INTS);
         const int64_t value : values)
      list.add_ints(value);
  for (const auto& [name, value] : call.text) addAttribute(node, name, onnx::AttributeProto::STRING).set_s(value);
  for (const auto& [name, texts] : call.texts)
    for (onnx::AttributeProto& list = addAttribute(node, name, onnx::AttributeProto::STRINGS);
         const std::string& text : texts)
      list.add_strings(text);
  for (const auto& [name, tensor] : call.tensors) {
    OPKIT_ASSIGN(const std::vector<uint8_t> bytes, tensorToProto(tensor, name));
    addAttribute(node, name, onnx::AttributeProto::TENSOR)
        .mutable_t()
        ->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  return Status::ok();
}

Result<Model> import(const Call& call) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  onnx::OperatorSetIdProto& opset = *proto.add_opset_import();
  opset.set_domain(call.domain);
  opset.set_version(call.domain.empty() ? 17 : 4);
  onnx::GraphProto& graph = *proto.mutable_graph();
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(call.type);
  node.set_domain(call.domain);
  OPKIT_TRY(addAttributes(call, node));
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& tensor = call.inputs[i];
    node.add_input(fmt::format("x{}", i));
    if (tensor.desc.dtype != DType::String || call.areConstant) {
      OPKIT_ASSIGN(const std::vector<uint8_t> bytes, tensorToProto(tensor, node.input(static_cast<int>(i))));
      graph.add_initializer()->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
      continue;
    }
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(node.input(static_cast<int>(i)));
    onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::STRING);
    for (const int64_t extent : tensor.desc.shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  for (int i = 0; i < call.outputs; ++i) {
    node.add_output(fmt::format("y{}", i));
    graph.add_output()->set_name(node.output(i));
  }
  const std::string bytes = proto.SerializeAsString();
  return importOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, ops::builtinOnnxRules(),
                    ops::builtinOps());
}

Result<std::vector<Tensor>> run(const Call& call, const std::string& backend) {
  OPKIT_ASSIGN(const Model model, import(call));
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(model, ops::builtinOps()));
  OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = backend, .threads = 1}));
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (Tensor* input = session->fillInput(fmt::format("x{}", i))) *input = call.inputs[i];
  OPKIT_TRY(session->run());
  std::vector<Tensor> outputs;
  for (const Tensor& output : session->outputs()) {
    OPKIT_ASSIGN(Tensor copy, copyOf(output));
    outputs.push_back(std::move(copy));
  }
  return outputs;
}

void expectOutputs(Call call, const std::vector<Tensor>& expected) {
  call.outputs = static_cast<int>(expected.size());
  for (const std::string backend : {"cpu", "vulkan"}) {
    if (backend == "vulkan" && !createRuntime(backend) && !devicesArePromised()) continue;
    for (const bool areConstant : {false, true}) {
      SCOPED_TRACE(fmt::format("{} on {}{}", call.type, backend, areConstant ? ", of constants" : ""));
      call.areConstant = areConstant;
      const auto outputs = run(call, backend);
      ASSERT_TRUE(outputs) << outputs.error().toString();
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ((*outputs)[i].desc, expected[i].desc);
        if (expected[i].desc.dtype == DType::String)
          EXPECT_EQ(stringsOf((*outputs)[i]), stringsOf(expected[i]));
        else
          EXPECT_EQ(toInt64((*outputs)[i]), toInt64(expected[i]));
      }
    }
  }
}

std::string errorOf(const Call& call) {
  const auto outputs = run(call, "cpu");
  return outputs ? "none" : outputs.error().message();
}

const Tensor kGrid = stringTensor({2, 3}, {"b", "é", "", "b", "aa", "a"});

TEST(Strings, AreComparedWithBroadcasting) {
  expectOutputs({"Equal", {kGrid, stringTensor({2, 1}, {"b", "a"})}}, {bools({2, 3}, {1, 0, 0, 0, 0, 1})});
  expectOutputs({"Equal", {stringTensor({}, {""}), kGrid}}, {bools({2, 3}, {0, 0, 1, 0, 0, 0})});
  expectOutputs({"Equal", {stringTensor({0}, {}), stringTensor({1}, {"a"})}}, {bools({0}, {})});
  EXPECT_NE(errorOf({"Equal", {kGrid, stringTensor({2}, {"a", "b"})}}).find("[2,3] and [2]"), std::string::npos)
      << errorOf({"Equal", {kGrid, stringTensor({2}, {"a", "b"})}});
}

TEST(Strings, AreJoinedAlongAnAxis) {
  const Tensor column = stringTensor({2, 1}, {"x", "b"}), row = stringTensor({1, 3}, {"1", "2", "3"});
  expectOutputs({"Concat", {kGrid, column}, {{"axis", -1}}},
                {stringTensor({2, 4}, {"b", "é", "", "x", "b", "aa", "a", "b"})});
  expectOutputs({"Concat", {row, kGrid, row}, {{"axis", 0}}},
                {stringTensor({4, 3}, {"1", "2", "3", "b", "é", "", "b", "aa", "a", "1", "2", "3"})});
  EXPECT_NE(errorOf({"Concat", {kGrid, row}, {{"axis", 2}}}).find("axis must be in [-2, 1], got 2"), std::string::npos);
  EXPECT_NE(errorOf({"Concat", {kGrid, row}, {{"axis", 1}}}).find("Concat"), std::string::npos);
}

TEST(Strings, AreGathered) {
  expectOutputs({"Gather", {kGrid, integers({2, 1}, {-1, 0})}, {{"axis", -1}}},
                {stringTensor({2, 2, 1}, {"", "b", "a", "b"})});
  expectOutputs({"Gather", {kGrid, integers({}, {1})}}, {stringTensor({3}, {"b", "aa", "a"})});
  expectOutputs({"GatherElements", {kGrid, integers({2, 1}, {1, -1})}, {{"axis", 1}}},
                {stringTensor({2, 1}, {"é", "a"})});
  expectOutputs({"GatherND", {kGrid, integers({2, 2}, {0, 1, -1, -2})}}, {stringTensor({2}, {"é", "aa"})});
  EXPECT_NE(errorOf({"Gather", {kGrid, integers({1}, {2})}}).find("got 2"), std::string::npos)
      << errorOf({"Gather", {kGrid, integers({1}, {2})}});
  EXPECT_NE(errorOf({"Gather", {kGrid, integers({1}, {0})}, {{"axis", 3}}}).find("axis must be in [-2, 1], got 3"),
            std::string::npos);
}

TEST(Strings, ChangeShape) {
  expectOutputs({"Reshape", {kGrid, integers({2}, {3, -1})}}, {stringTensor({3, 2}, stringsOf(kGrid))});
  expectOutputs({"Flatten", {kGrid}, {{"axis", 0}}}, {stringTensor({1, 6}, stringsOf(kGrid))});
  expectOutputs({"Unsqueeze", {kGrid, integers({1}, {-1})}}, {stringTensor({2, 3, 1}, stringsOf(kGrid))});
  expectOutputs({"Squeeze", {stringTensor({1, 2, 1}, {"a", "b"}), integers({1}, {0})}},
                {stringTensor({2, 1}, {"a", "b"})});
  expectOutputs({"Shape", {kGrid}}, {integers({2}, {2, 3})});
  expectOutputs({"Size", {kGrid}}, {integers({}, {6})});
}

TEST(Strings, Move) {
  expectOutputs({"Transpose", {kGrid}}, {stringTensor({3, 2}, {"b", "b", "é", "aa", "", "a"})});
  expectOutputs({"Slice", {kGrid, integers({1}, {-1}), integers({1}, {-4}), integers({1}, {1}), integers({1}, {-2})}},
                {stringTensor({2, 2}, {"", "b", "a", "b"})});
  expectOutputs({"Split", {kGrid, integers({2}, {1, 2})}, {{"axis", 1}}},
                {stringTensor({2, 1}, {"b", "b"}), stringTensor({2, 2}, {"é", "", "aa", "a"})});
  expectOutputs({"Expand", {stringTensor({2, 1}, {"a", "b"}), integers({2}, {2, 2})}},
                {stringTensor({2, 2}, {"a", "a", "b", "b"})});
  expectOutputs({"Tile", {stringTensor({2}, {"a", "b"}), integers({1}, {2})}},
                {stringTensor({4}, {"a", "b", "a", "b"})});
  expectOutputs({"Compress", {kGrid, bools({3}, {0, 1, 1})}, {{"axis", 1}}},
                {stringTensor({2, 2}, {"é", "", "aa", "a"})});
  expectOutputs({"ReverseSequence", {kGrid, integers({2}, {3, 2})}, {{"batch_axis", 0}, {"time_axis", 1}}},
                {stringTensor({2, 3}, {"", "é", "b", "aa", "b", "a"})});
  const Tensor square = stringTensor({1, 1, 2, 2}, {"a", "b", "c", "d"}),
               deep = stringTensor({1, 4, 1, 1}, stringsOf(square));
  expectOutputs({"SpaceToDepth", {square}, {{"blocksize", 2}}}, {deep});
  expectOutputs({"DepthToSpace", {deep}, {{"blocksize", 2}}}, {square});
}

TEST(Strings, AreChosenAndCounted) {
  expectOutputs({"Where", {bools({2, 1}, {1, 0}), kGrid, stringTensor({}, {"no"})}},
                {stringTensor({2, 3}, {"b", "é", "", "no", "no", "no"})});
  expectOutputs({"Unique", {kGrid}}, {stringTensor({5}, {"", "a", "aa", "b", "é"}), integers({5}, {2, 5, 4, 0, 1}),
                                      integers({6}, {3, 4, 0, 3, 2, 1}), integers({5}, {1, 1, 1, 2, 1})});
}

TEST(Strings, AreConstantsOfANode) {
  expectOutputs({.type = "Constant", .text = {{"value_string", "é"}}}, {stringTensor({}, {"é"})});
  expectOutputs({.type = "Constant", .text = {{"value_string", ""}}}, {stringTensor({}, {""})});
  expectOutputs({.type = "Constant", .texts = {{"value_strings", {"b", "", "b"}}}},
                {stringTensor({3}, {"b", "", "b"})});
  expectOutputs({.type = "Constant", .texts = {{"value_strings", {}}}}, {stringTensor({0}, {})});
}

Call encoder(Tensor x) { return {.type = "LabelEncoder", .inputs = {std::move(x)}, .domain = "ai.onnx.ml"}; }

TEST(Strings, AreLabels) {
  Call numbers = encoder(stringTensor({2, 3}, {"b", "no", "a", "", "b", "aa"}));
  numbers.tensors = {{"keys_tensor", stringTensor({4}, {"b", "a", "", "b"})},
                     {"values_tensor", integers({4}, {1, 2, 3, 4})},
                     {"default_tensor", integers({1}, {42})}};
  expectOutputs(numbers, {integers({2, 3}, {4, 42, 2, 3, 4, 42})});
  Call words = encoder(stringTensor({3}, {"x", "y", "z"}));
  words.texts = {{"keys_strings", {"z", "x"}}, {"values_strings", {"last", "first"}}};
  expectOutputs(words, {stringTensor({3}, {"first", "_Unused", "last"})});
  words.inputs = {stringTensor({0}, {})};
  expectOutputs(words, {stringTensor({0}, {})});
}

TEST(Strings, NameNumbers) {
  Call call = encoder(integers({3}, {7, -1, 2}));
  call.lists = {{"keys_int64s", {2, 7}}};
  call.tensors = {{"values_tensor", stringTensor({2}, {"two", "seven"})},
                  {"default_tensor", stringTensor({}, {"none"})}};
  expectOutputs(call, {stringTensor({3}, {"seven", "none", "two"})});
}

TEST(Strings, BecomeNumbersOfTheTypeThatIsAskedFor) {
  const Tensor words = stringTensor({3}, {"7", "-12", "9007199254740993"});
  expectOutputs({"Cast", {words}, {{"to", onnx::TensorProto::INT64}}}, {integers({3}, {7, -12, 9007199254740993})});
  expectOutputs({"Cast", {stringTensor({2}, {"0", "1"})}, {{"to", onnx::TensorProto::BOOL}}}, {bools({2}, {0, 1})});
}

TEST(Strings, DoNotMixWithNumbers) {
  for (const char* type : {"Equal", "Concat"})
    EXPECT_NE(errorOf({type,
                       {kGrid, integers({2, 3}, {0, 1, 2, 3, 4, 5})},
                       type[0] == 'C' ? std::map<std::string, int64_t>{{"axis", 0}} : std::map<std::string, int64_t>{}})
                  .find("EncodeStrings: input 1 'x' must be one of string, got i64"),
              std::string::npos);
  EXPECT_NE(errorOf({"Add", {kGrid, kGrid}}).find("got string"), std::string::npos);
  Call labels = encoder(kGrid);
  labels.lists = {{"keys_int64s", {1}}, {"values_int64s", {2}}};
  EXPECT_NE(errorOf(labels).find("got string"), std::string::npos) << errorOf(labels);
  labels = encoder(integers({1}, {1}));
  labels.texts = {{"keys_strings", {"a"}}, {"values_strings", {"b"}}};
  EXPECT_NE(errorOf(labels).find("must be one of string, got i64"), std::string::npos) << errorOf(labels);
}

}  // namespace
}  // namespace opkit::harness::strings
