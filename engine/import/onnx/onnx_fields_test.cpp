#include "engine/import/onnx/onnx_fields.h"

#include <gtest/gtest.h>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace onnx_fields_test {
namespace {

using onnx::AttributeProto;

enum class Kind : uint8_t { Near, Far };

/// As flatc makes it.
struct Params {
  bool flag = true;
  int32_t narrow = -1;
  uint8_t byte = 3;
  int64_t wide = 7;
  float real = 0.5f;
  std::string text = "default";
  Kind kind = Kind::Far;
  DType dtype = DType::Bool;
  flatbuffers::Optional<float> maybe;
  std::vector<int32_t> narrows;
  std::vector<int64_t> wides{9};
  std::vector<float> reals;
  std::vector<std::string> texts;
};

OnnxFields<Params> fields() {
  return {field("flag", &Params::flag),
          field("narrow", &Params::narrow),
          field("byte", &Params::byte),
          field("wide", &Params::wide, 8),
          field("real", &Params::real),
          field("text", &Params::text),
          choice("kind", &Params::kind, {{"near", Kind::Near}, {"far", Kind::Far}}),
          elementType("dtype", &Params::dtype),
          field("maybe", &Params::maybe),
          field("narrows", &Params::narrows),
          field("wides", &Params::wides),
          field("reals", &Params::reals),
          field("texts", &Params::texts),
          only<Params>("only", 1),
          ignored<Params>("ignored")};
}

AttributeProto& addAttribute(onnx::NodeProto& node, const std::string& name, AttributeProto::AttributeType type) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}
void addInt(onnx::NodeProto& node, const std::string& name, int64_t value) {
  addAttribute(node, name, AttributeProto::INT).set_i(value);
}

/// The parameters of a node with the attributes that `fill` adds.
Result<Params> paramsOf(const std::function<void(onnx::NodeProto&)>& fill) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(13);
  onnx::NodeProto& node = *proto.mutable_graph()->add_node();
  node.set_op_type("Fields");
  node.add_output("y");
  proto.mutable_graph()->add_output()->set_name("y");
  fill(node);
  OnnxRules rules;
  Params params;
  const auto rule = [&](OnnxNode& given) -> Status {
    OPKIT_ASSIGN(params, readFields(given, fields()));
    OPKIT_ASSIGN(Tensor value, Tensor::fromValues<float>({DType::Float32, {}}, std::vector{1.0f}));
    return given.emitConstant(std::move(value));
  };
  rules.add("Fields", {attributesOf(fields()), rule});
  const std::string bytes = proto.SerializeAsString();
  const auto model = importOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, rules, OpRegistry());
  if (!model) return model.error();
  return params;
}

TEST(OnnxFields, AnAbsentAttributeLeavesTheDefault) {
  const auto params = paramsOf([](onnx::NodeProto&) {});
  ASSERT_TRUE(params) << params.error().toString();
  EXPECT_TRUE(params->flag);
  EXPECT_EQ(params->narrow, -1);
  EXPECT_EQ(params->byte, 3);
  EXPECT_EQ(params->wide, 8) << "ONNX's own default";
  EXPECT_EQ(params->real, 0.5f);
  EXPECT_EQ(params->text, "default");
  EXPECT_EQ(params->kind, Kind::Far);
  EXPECT_EQ(params->dtype, DType::Bool);
  EXPECT_FALSE(params->maybe.has_value());
  EXPECT_EQ(params->wides, std::vector<int64_t>{9});
}

TEST(OnnxFields, AreConvertedToTheTypeOfTheParameter) {
  const auto params = paramsOf([](onnx::NodeProto& node) {
    addInt(node, "flag", 0);
    addInt(node, "narrow", -5);
    addInt(node, "byte", 255);
    addInt(node, "wide", INT64_MIN);
    addInt(node, "dtype", 10);
    addInt(node, "only", 1);
    addInt(node, "ignored", 4);
    addAttribute(node, "real", AttributeProto::FLOAT).set_f(2.5f);
    addAttribute(node, "maybe", AttributeProto::FLOAT).set_f(0.0f);
    addAttribute(node, "text", AttributeProto::STRING).set_s("a");
    addAttribute(node, "kind", AttributeProto::STRING).set_s("near");
    addAttribute(node, "narrows", AttributeProto::INTS).add_ints(-2);
    addAttribute(node, "wides", AttributeProto::INTS);
    addAttribute(node, "reals", AttributeProto::FLOATS).add_floats(1.5f);
    addAttribute(node, "texts", AttributeProto::STRINGS).add_strings("b");
  });
  ASSERT_TRUE(params) << params.error().toString();
  EXPECT_FALSE(params->flag);
  EXPECT_EQ(params->narrow, -5);
  EXPECT_EQ(params->byte, 255);
  EXPECT_EQ(params->wide, INT64_MIN);
  EXPECT_EQ(params->dtype, DType::Float16);
  EXPECT_EQ(params->real, 2.5f);
  EXPECT_EQ(params->maybe, 0.0f);
  EXPECT_EQ(params->text, "a");
  EXPECT_EQ(params->kind, Kind::Near);
  EXPECT_EQ(params->narrows, std::vector<int32_t>{-2});
  EXPECT_TRUE(params->wides.empty()) << "a list that is written out and empty";
  EXPECT_EQ(params->reals, std::vector<float>{1.5f});
  EXPECT_EQ(params->texts, std::vector<std::string>{"b"});
}

TEST(OnnxFields, ThatDoNotFitAreRefusedByName) {
  const auto messageOf = [](const char* name, int64_t value) {
    const auto params = paramsOf([&](onnx::NodeProto& node) { addInt(node, name, value); });
    return params ? "none" : params.error().message();
  };
  EXPECT_EQ(messageOf("narrow", int64_t{1} << 32),
            "ONNX operator 'Fields' ('y'): Fields: narrow must be in [-2147483648, 2147483647], got 4294967296");
  EXPECT_EQ(messageOf("byte", -1), "ONNX operator 'Fields' ('y'): Fields: byte must be in [0, 255], got -1");
  EXPECT_EQ(messageOf("only", 2), "ONNX operator 'Fields' ('y'): Fields: only must be 1, got 2");
  EXPECT_NE(messageOf("dtype", 14).find("dtype: ONNX type complex64"), std::string::npos) << messageOf("dtype", 14);
  const auto list = paramsOf(
      [](onnx::NodeProto& node) { addAttribute(node, "narrows", AttributeProto::INTS).add_ints(int64_t{1} << 40); });
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message().find("narrows must be in"), std::string::npos) << list.error().message();
  const auto kind =
      paramsOf([](onnx::NodeProto& node) { addAttribute(node, "kind", AttributeProto::STRING).set_s("x"); });
  ASSERT_FALSE(kind);
  EXPECT_NE(kind.error().message().find("kind must be one of near, far"), std::string::npos) << kind.error().message();
}

}  // namespace
}  // namespace onnx_fields_test
}  // namespace opkit
