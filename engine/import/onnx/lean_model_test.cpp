#include "engine/import/onnx/lean_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace opkit {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kLeftOut = 100'001;      // LeanModel's field
constexpr int kFunctionDefaults = 11;  // unknown to the messages of ONNX 1.12

std::span<const uint8_t> spanOf(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

/// A tensor with a value of its own.
void addRaw(onnx::TensorProto& tensor, size_t sizeBytes) {
  static char next = 'a';
  tensor.set_data_type(onnx::TensorProto::UINT8);
  tensor.add_dims(static_cast<int64_t>(sizeBytes));
  tensor.set_raw_data(std::string(sizeBytes, next++));
  tensor.set_doc_string("behind the value");
}

onnx::AttributeProto& addAttribute(onnx::NodeProto& node, const std::string& name) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  return attribute;
}

/// Values wherever a model may have them: a large one and a small one in each place.
onnx::ModelProto modelWithValues(size_t large = 1100) {
  onnx::ModelProto model;
  model.set_producer_name("test");
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const size_t size : {large, size_t{3}}) {
    addRaw(*graph.add_initializer(), size);
    onnx::SparseTensorProto& sparse = *graph.add_sparse_initializer();
    addRaw(*sparse.mutable_values(), size);
    addRaw(*sparse.mutable_indices(), size);
    onnx::NodeProto& node = *graph.add_node();
    addRaw(*addAttribute(node, "value").mutable_t(), size);
    addRaw(*addAttribute(node, "values").add_tensors(), size);
    addRaw(*addAttribute(node, "sparse").mutable_sparse_tensor()->mutable_values(), size);
    addRaw(*addAttribute(node, "branch").mutable_g()->add_initializer(), size);
    addRaw(*addAttribute(node, "branches").add_graphs()->add_initializer(), size);
    onnx::FunctionProto& function = *model.add_functions();
    addRaw(*addAttribute(*function.add_node(), "value").mutable_t(), size);
    onnx::AttributeProto fallback;
    addRaw(*fallback.mutable_t(), size);
    function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(kFunctionDefaults,
                                                                                  fallback.SerializeAsString());
  }
  return model;
}

/// Puts the values back into the tensors of a message, whatever it is.
void putBack(Message& message, const std::function<std::string(uint64_t)>& valueOf) {
  if (auto* tensor = dynamic_cast<onnx::TensorProto*>(&message))
    if (const auto number = numberOfValue(*tensor)) {
      tensor->set_raw_data(valueOf(*number));
      tensor->GetReflection()->MutableUnknownFields(tensor)->DeleteByNumber(kLeftOut);
    }
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (dynamic_cast<onnx::FunctionProto*>(&message)) {
    google::protobuf::UnknownFieldSet& unknown = *reflection.MutableUnknownFields(&message);
    for (int i = 0; i < unknown.field_count(); ++i) {
      if (unknown.field(i).number() != kFunctionDefaults) continue;
      onnx::AttributeProto fallback;
      if (!fallback.ParseFromString(unknown.field(i).length_delimited())) continue;
      putBack(fallback, valueOf);
      unknown.mutable_field(i)->set_length_delimited(fallback.SerializeAsString());
    }
  }
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) putBack(*reflection.MutableMessage(&message, field), valueOf);
    for (int i = 0; field->is_repeated() && i < reflection.FieldSize(message, field); ++i)
      putBack(*reflection.MutableRepeatedMessage(&message, field, i), valueOf);
  }
}

/// The model that the walk and protobuf read together, with its values put back; nothing if they refuse the bytes.
std::optional<std::string> leanly(const std::string& bytes) {
  const LeanModel lean(spanOf(bytes));
  onnx::ModelProto model;
  if (!lean.parse(model)) return std::nullopt;
  putBack(model, [&](uint64_t number) {
    const ByteRange range = lean.values().at(number);
    return bytes.substr(range.offset, range.sizeBytes);
  });
  return model.SerializeAsString();
}

/// The model that protobuf reads alone. putBack writes the defaults of functions anew in both.
std::optional<std::string> plainly(const std::string& bytes) {
  onnx::ModelProto model;
  google::protobuf::io::CodedInputStream stream(spanOf(bytes).data(), static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(LeanModel::kMostMessages);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) return std::nullopt;
  putBack(model, [](uint64_t) { return std::string("none"); });
  return model.SerializeAsString();
}

TEST(LeanModel, LeavesOutLargeValuesWhereverTheyAre) {
  const std::string bytes = modelWithValues().SerializeAsString();
  const LeanModel lean(spanOf(bytes));
  EXPECT_EQ(lean.values().size(), 10u);
  onnx::ModelProto model;
  ASSERT_TRUE(lean.parse(model));
  EXPECT_LT(model.ByteSizeLong(), 2000u);
  EXPECT_FALSE(model.graph().initializer(0).has_raw_data());
  EXPECT_EQ(model.graph().initializer(1).raw_data().size(), 3u);
  EXPECT_EQ(leanly(bytes), bytes);
}

/// Lengths of messages around them shrink to fewer bytes.
TEST(LeanModel, ValuesOfAllSizes) {
  for (const size_t size : {size_t{1023}, size_t{1024}, size_t{16'384}, size_t{2'200'000}}) {
    const std::string bytes = modelWithValues(size).SerializeAsString();
    EXPECT_EQ(LeanModel(spanOf(bytes)).values().size(), size < 1024 ? 0u : 10u);
    EXPECT_EQ(leanly(bytes), bytes);
  }
}

TEST(LeanModel, TruncatedAndDamagedBytesAreWhatProtobufSays) {
  const std::string bytes = modelWithValues().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); size += size % 64 < 8 ? 1 : 7)
    EXPECT_EQ(leanly(bytes.substr(0, size)), plainly(bytes.substr(0, size))) << size;
  std::mt19937 random(7);
  const auto below = [&](size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random); };
  size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = bytes;
    for (size_t count = 1 + below(3); count > 0; --count) {
      const LeanModel lean(spanOf(bytes));
      const ByteRange& value = lean.values()[below(lean.values().size())];  // around one: most bytes are inside
      damaged[(value.offset + bytes.size() - 24 + below(32)) % bytes.size()] = static_cast<char>(below(256));
    }
    const auto wanted = plainly(damaged);
    ASSERT_EQ(leanly(damaged), wanted) << i;
    accepted += wanted ? 1 : 0;
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_LT(accepted, 2900u);
}

TEST(LeanModel, ValuesGivenTwiceMergeAsProtobufMergesThem) {
  const std::string large = modelWithValues().SerializeAsString(), small = modelWithValues(5).SerializeAsString();
  for (const std::string& bytes : {large + small, small + large}) EXPECT_EQ(leanly(bytes), plainly(bytes));
  onnx::TensorProto first, second;
  addRaw(first, 2000);
  addRaw(second, 3);
  onnx::AttributeProto one, two;
  *one.mutable_t() = first;
  *two.mutable_t() = second;
  for (const bool isLargeFirst : {true, false}) {
    const auto text = [](const Message& a, const Message& b) { return a.SerializeAsString() + b.SerializeAsString(); };
    const std::string attribute = isLargeFirst ? text(one, two) : text(two, one);
    const std::string tensor = isLargeFirst ? text(first, second) : text(second, first);
    onnx::ModelProto merged;
    auto& graph = *merged.mutable_graph();
    graph.GetReflection()->MutableUnknownFields(&graph)->AddLengthDelimited(5, tensor);
    onnx::NodeProto& node = *graph.add_node();
    node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(5, attribute);
    const std::string bytes = merged.SerializeAsString();
    EXPECT_TRUE(LeanModel(spanOf(bytes)).values().empty());
    EXPECT_TRUE(plainly(bytes).has_value());
    EXPECT_EQ(leanly(bytes), plainly(bytes));
  }
}

TEST(LeanModel, TheFieldItselfIsNoValueOfTheModel) {
  onnx::ModelProto model = modelWithValues();
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  addRaw(tensor, 4);
  tensor.GetReflection()->MutableUnknownFields(&tensor)->AddVarint(kLeftOut, 0);
  const std::string bytes = model.SerializeAsString();
  EXPECT_TRUE(LeanModel(spanOf(bytes)).values().empty());
}

TEST(LeanModel, DeepMessagesAreRefused) {
  std::string inner;
  for (int i = 0; i < 4000; ++i) {
    onnx::GraphProto graph;
    onnx::NodeProto& node = *graph.add_node();
    node.add_attribute()
        ->GetReflection()
        ->MutableUnknownFields(node.mutable_attribute(0))
        ->AddLengthDelimited(6, inner);
    inner = graph.SerializeAsString();
  }
  onnx::ModelProto model;
  model.GetReflection()->MutableUnknownFields(&model)->AddLengthDelimited(7, inner);
  const std::string bytes = model.SerializeAsString();
  EXPECT_EQ(leanly(bytes), std::nullopt);
}

}  // namespace
}  // namespace opkit
