#include "fuzz/model_changes.h"

#include <gtest/gtest.h>

#include "fuzz/drawn_node.h"

namespace opkit::fuzz {
namespace model_changes_test {
namespace {

using namespace harness;
using Changes = std::vector<std::pair<std::string, nlohmann::json>>;

/// A node without the attribute if `value` is empty.
Model modelOf(const std::string& type, size_t inputs, const AttributeFact& attribute, const std::string& value) {
  DrawnNode node{.domain = "ai.onnx", .type = type, .opset = 20, .inputs = std::vector<std::string>(inputs, "float")};
  if (type == "StringSplit") node.inputs[0] = "string", node.outputs = 2;
  node.attributeTypes[attribute.name] = attribute.type;
  if (!value.empty()) node.attributes[attribute.name] = value;
  Result<Model> model = importNode(node);
  EXPECT_TRUE(model) << model.error().toString();
  return model ? *std::move(model) : Model();
}

TEST(ModelChanges, FieldsAtTheirDefaultHaveAValue) {
  const AttributeFact p{"p", "int"};
  const Model one = modelOf("LpNormalization", 1, p, "1"), none = modelOf("LpNormalization", 1, p, "");
  EXPECT_EQ(changedValues(one, none), (Changes{{"p", 2}}));
  EXPECT_EQ(changedValues(none, one), (Changes{{"p", 1}}));
  EXPECT_EQ(changedValues(one, one), Changes());
}

TEST(ModelChanges, StringsMayHoldWhatSeparatesFields) {
  const AttributeFact delimiter{"delimiter", "string"};
  const std::string text = R"(a",}{:"b)";
  const Model before = modelOf("StringSplit", 1, delimiter, "a"), after = modelOf("StringSplit", 1, delimiter, text);
  EXPECT_EQ(changedValues(before, after), (Changes{{"delimiter", text}}));
}

TEST(ModelChanges, OtherOperatorsHaveNoFieldsToCompare) {
  const AttributeFact fmod{"fmod", "int"};
  EXPECT_EQ(changedValues(modelOf("Mod", 2, fmod, "1"), modelOf("Mod", 2, fmod, "0")), Changes());
}

TEST(ModelChanges, ValuesAreThoseOfTheAttribute) {
  const auto holds = [](const char* json, const char* type, const char* value) {
    return holdsValue(nlohmann::json::parse(json), {"a", type}, value);
  };
  EXPECT_TRUE(holds("3", "int", "3") && holds("true", "int", "2") && holds("0.25", "float", "0.25"));
  EXPECT_TRUE(holds("[1, 2]", "ints", "1,2") && holds("[1.5]", "tensor", "float:1.5") && holds("[7]", "int", "7"));
  EXPECT_TRUE(holds(R"("HalfPixel")", "string", "half_pixel") && holds(R"(["a", "b"])", "strings", "a,b"));
  EXPECT_FALSE(holds("null", "int", "0") || holds("null", "string", "a") || holds("false", "int", "1"));
  EXPECT_FALSE(holds("0", "int", "1099511627776") || holds("0.25", "float", "0.375") || holds("[1]", "ints", "1,2"));
  EXPECT_FALSE(holds(R"("Cubic")", "string", "bicubic") || holds("[2, 1]", "ints", "1,2") || holds("[]", "int", "7"));
  EXPECT_TRUE(holdsValue("i64", {"dtype", "int"}, "7") &&
              holdsValue(static_cast<int>(DType::Int64), {"to", "int"}, "7"));
  EXPECT_FALSE(holdsValue("i32", {"dtype", "int"}, "7") || holdsValue(7, {"dtype", "int"}, "99"));
}

}  // namespace
}  // namespace model_changes_test
}  // namespace opkit::fuzz
