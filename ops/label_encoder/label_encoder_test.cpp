// The rule of LabelEncoder: attributes become sorted keys.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::label_encoder {
namespace {

using features::expectOutput;
using features::floats;
using features::Node;
using features::refusalOf;
using features::tensor;

Node encoder(DType dtype, int version = 4) {
  Node node("LabelEncoder", {{dtype, {6}}});
  node.version = version;
  return node;
}

TEST(LabelEncoder, SortsKeysAndTakesTheLastOfEqualOnes) {
  Node node = encoder(DType::Int64, 2);
  node.integers["keys_int64s"] = {9, -4, 5, 9};
  node.numbers["values_floats"] = {1, 2, 3, 4};
  const Tensor x = tensor<int64_t>(DType::Int64, {6}, {9, 5, -4, 0, 10, -5});
  expectOutput(node, {x}, {6}, {4, 3, 2, 0, 0, 0});
}

TEST(LabelEncoder, DefaultsDependOnTheTypeOfTheValues) {
  Node integers = encoder(DType::Float32);
  integers.numbers["keys_floats"] = {NAN, 1.5, -0.5};
  integers.integers["values_int64s"] = {7, 8, 9};
  const Tensor x = floats({6}, {1.5, NAN, -0.5, 2, 1.25, 0});
  expectOutput(integers, {x}, {6}, {8, 7, 9, -1, -1, -1});
  Node given = encoder(DType::Float32);
  given.numbers["keys_floats"] = {1.5};
  given.integers["values_int64s"] = {8};
  given.integer["default_int64"] = 42;
  expectOutput(given, {x}, {6}, {8, 42, 42, 42, 42, 42});
}

TEST(LabelEncoder, TakesTensors) {
  Node node = encoder(DType::Float64);
  node.tensors["keys_tensor"] = tensor<double>(DType::Float64, {3}, {0.1, 0.3, 0.2});
  node.tensors["values_tensor"] = tensor<int16_t>(DType::Int16, {3}, {1, 3, 2});
  node.tensors["default_tensor"] = tensor<int16_t>(DType::Int16, {1}, {42});
  const Tensor x = tensor<double>(DType::Float64, {6}, {0.3, 0.2, 0.1, 0.1f, 0, 1});
  expectOutput(node, {x}, {6}, {3, 2, 1, 42, 42, 42});
}

TEST(LabelEncoder, RefusesListsThatDoNotFit) {
  Node uneven = encoder(DType::Int64);
  uneven.integers["keys_int64s"] = {1, 2};
  EXPECT_EQ(refusalOf(uneven),
            "LabelEncoder: expected one of values_tensor, values_strings, values_int64s and values_floats");
  uneven.integers["values_int64s"] = {1};
  EXPECT_EQ(refusalOf(uneven), "LabelEncoder: 2 keys must have as many values, got 1");
  uneven.integers["values_int64s"] = {1, 2};
  uneven.tensors["default_tensor"] = floats({1}, {1});
  EXPECT_EQ(refusalOf(uneven), "LabelEncoder: default_tensor must hold one i64, got 1 of f32");
  uneven.texts["values_strings"] = {"a", "b"};
  EXPECT_EQ(refusalOf(uneven),
            "LabelEncoder: expected one of values_tensor, values_strings, values_int64s and values_floats, got 2");
  uneven.integers.erase("values_int64s");
  EXPECT_EQ(refusalOf(uneven), "LabelEncoder: default_tensor must hold one string, got 1 of f32");
}

}  // namespace
}  // namespace opkit::ops::label_encoder
