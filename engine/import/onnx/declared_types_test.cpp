#include "engine/import/onnx/declared_types.h"

#include <gtest/gtest.h>

namespace opkit {
namespace {

constexpr int kF32 = onnx::TensorProto::FLOAT, kI64 = onnx::TensorProto::INT64, kFlag = onnx::TensorProto::BOOL,
              kNone = 0;

void declareType(onnx::TypeProto& type, int elementType) {
  if (elementType != kNone) type.mutable_tensor_type()->set_elem_type(elementType);
}

/// A graph that declares these types for inputs i0, i1, ... and outputs o0, o1, ...
struct DeclaredGraph {
  std::string name;
  std::vector<int> inputs, outputs;
};

onnx::GraphProto& addDeclaring(onnx::NodeProto& node, const std::string& name) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  return *attribute.mutable_g();
}

std::string refusalOf(const std::string& type, const std::vector<DeclaredGraph>& graphs, int64_t scanned = 0) {
  onnx::NodeProto node;
  node.set_op_type(type);
  for (const DeclaredGraph& declared : graphs) {
    onnx::GraphProto& graph = addDeclaring(node, declared.name);
    const auto add = [](auto& list, const char* prefix, int elementType) {
      onnx::ValueInfoProto& info = *list.Add();
      info.set_name(fmt::format("{}{}", prefix, list.size() - 1));
      declareType(*info.mutable_type(), elementType);
    };
    for (const int element : declared.inputs) add(*graph.mutable_input(), "i", element);
    for (const int element : declared.outputs) add(*graph.mutable_output(), "o", element);
  }
  onnx::AttributeProto& count = *node.add_attribute();
  count.set_name("num_scan_inputs");
  count.set_i(scanned);
  return checkDeclaredTypes(node).message();
}

TEST(DeclaredTypes, OfBranchesMustAgree) {
  const auto branches = [](std::vector<int> yes, std::vector<int> no) {
    return refusalOf("If", {{"then_branch", {}, std::move(yes)}, {"else_branch", {}, std::move(no)}});
  };
  EXPECT_EQ(branches({kF32, kF32}, {kF32, kI64}),
            "output 1 must have one type in both branches, then_branch declares f32, else_branch i64");
  for (const std::vector<int>& no : std::vector<std::vector<int>>{{kF32, kF32}, {kF32, kNone}, {kF32}, {}})
    EXPECT_EQ(branches({kF32, kF32}, no), "");
}

TEST(DeclaredTypes, OfCarriedValuesMustAgree) {
  const auto loop = [](std::vector<int> inputs, std::vector<int> outputs) {
    return refusalOf("Loop", {{"body", std::move(inputs), std::move(outputs)}});
  };
  EXPECT_EQ(loop({kI64, kFlag, kF32}, {kFlag, kI64}),
            "a carried value keeps its type, its body declares f32 for input 'i2' and i64 for output 'o1'");
  EXPECT_EQ(loop({kI64, kFlag, kF32}, {kI64, kF32}),
            "a carried value keeps its type, its body declares bool for input 'i1' and i64 for output 'o0'");
  EXPECT_EQ(loop({kI64, kFlag, kF32}, {kFlag, kF32, kI64}), "");
  EXPECT_EQ(loop({kI64}, {kFlag}), "");
  EXPECT_EQ(loop({}, {}), "");
  const auto scan = [](std::vector<int> inputs, std::vector<int> outputs, int64_t scanned) {
    return refusalOf("Scan", {{"body", std::move(inputs), std::move(outputs)}}, scanned);
  };
  EXPECT_EQ(scan({kF32, kI64}, {kI64, kF32}, 1),
            "a carried value keeps its type, its body declares f32 for input 'i0' and i64 for output 'o0'");
  for (const int64_t scanned : {int64_t{2}, INT64_MAX, INT64_MIN, int64_t{0}})
    EXPECT_EQ(scan({kF32, kI64}, {kF32, kI64}, scanned), "");
}

TEST(DeclaredTypes, OfSequencesCountTheirElements) {
  onnx::NodeProto node;
  node.set_op_type("If");
  onnx::TypeProto* types[] = {addDeclaring(node, "then_branch").add_output()->mutable_type(),
                              addDeclaring(node, "else_branch").add_output()->mutable_type()};
  for (onnx::TypeProto* type : types) declareType(*type->mutable_sequence_type()->mutable_elem_type(), kF32);
  EXPECT_TRUE(checkDeclaredTypes(node).isOk());
  declareType(*types[1]->mutable_sequence_type()->mutable_elem_type(), kI64);
  EXPECT_EQ(checkDeclaredTypes(node).message(),
            "output 0 must have one type in both branches, then_branch declares sequence of f32, else_branch sequence "
            "of i64");
  const onnx::TypeProto sequence = *types[0];
  *types[1]->mutable_optional_type()->mutable_elem_type() = sequence;
  EXPECT_TRUE(checkDeclaredTypes(node).isOk()) << "an optional value is like its element";
}

}  // namespace
}  // namespace opkit
