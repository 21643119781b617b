// Dtypes that a card does not take: operators compute in a wider one, between casts (OpDef::computesAs).
#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "engine/tensor/float_format.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"
#include "ops/layer_norm/layer_norm_generated.h"

namespace opkit::ops::cast {
namespace {

double brain(double value) { return decode(formatOf(DType::BFloat16), encode(formatOf(DType::BFloat16), value)); }

/// Runs a model of one node whose inputs hold these values, on every backend.
void expectValues(const std::string& type, const std::vector<std::pair<TensorDesc, std::vector<double>>>& inputs,
                  const TensorDesc& output, const std::vector<double>& expected, bool constant = false) {
  Model model;
  std::vector<TensorId> indices;
  for (const auto& [desc, values] : inputs) {
    const Tensor tensor = *Tensor::onHost(desc);
    OracleTensor oracle(desc);
    if (oracle.isReal())
      oracle.real = values;
    else
      oracle.integer.assign(values.begin(), values.end());
    oracle.toTensor(tensor);
    indices.push_back(constant && !indices.empty() ? model.addConstant(fmt::format("x{}", indices.size()), tensor)
                                                   : model.addInput(fmt::format("x{}", indices.size()), desc));
  }
  model.outputs = model.addNode(type, "node", indices);
  for (const std::string& backend : testBackends()) {
    const auto interpreter = Interpreter::create(model, builtinOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    const auto session = (*interpreter)->createSession({.backend = backend, .threads = 1});
    if (!session && backend == "vulkan" && !devicesArePromised()) continue;
    ASSERT_TRUE(session) << session.error().toString();
    for (size_t i = 0; i < inputs.size() && !(constant && i > 0); ++i) {
      OracleTensor oracle(inputs[i].first);
      oracle.real = oracle.isReal() ? inputs[i].second : std::vector<double>();
      if (!oracle.isReal()) oracle.integer.assign(inputs[i].second.begin(), inputs[i].second.end());
      oracle.toTensor(*(*session)->fillInput(fmt::format("x{}", i)));
    }
    const Status ran = (*session)->run();
    ASSERT_TRUE(ran.isOk()) << backend << ": " << ran.toString();
    const Tensor& got = (*session)->outputs()[0];
    EXPECT_EQ(got.desc.toString(), output.toString()) << type << " on " << backend;
    const OracleTensor values = OracleTensor::fromTensor(got);
    const std::vector<double> found =
        values.isReal() ? values.real : std::vector<double>(values.integer.begin(), values.integer.end());
    EXPECT_EQ(found, expected) << type << " on " << backend;
  }
}

constexpr DType kBrain = DType::BFloat16;

TEST(ConvertedDTypes, BrainFloatsAreComputedInFloatsAndRoundedOnce) {
  expectValues("Mul", {{{kBrain, {3}}, {1.0078125, -3, 1e30}}, {{kBrain, {3}}, {1.0078125, 0.5, 1e30}}}, {kBrain, {3}},
               {brain(1.0078125 * 1.0078125), -1.5, INFINITY});
  expectValues("MatMul", {{{kBrain, {1, 2}}, {1, 2}}, {{kBrain, {2, 1}}, {0.0078125, 128}}}, {kBrain, {1, 1}},
               {brain(256.0078125)});
  expectValues("MatMul", {{{kBrain, {1, 2}}, {1, 2}}, {{kBrain, {2, 1}}, {0.0078125, 128}}}, {kBrain, {1, 1}},
               {brain(256.0078125)}, true);
  expectValues("ReduceSum", {{{kBrain, {4}}, {256, 1, 1, 1}}}, {kBrain, {1}}, {brain(259)});
  expectValues("Equal", {{{kBrain, {2}}, {1, 2}}, {{kBrain, {2}}, {1, 3}}}, {DType::Bool, {2}}, {1, 0});
}

TEST(ConvertedDTypes, OutputsOfAFixedTypeKeepIt) {
  layer_norm::LayerNormParamsT params;
  Model model;
  const TensorId x = model.addInput("x", {kBrain, {1, 2}}), scale = model.addInput("scale", {kBrain, {2}});
  model.outputs = model.addNode("LayerNormalization", "node", {x, scale}, packParams(params), 2);
  for (const std::string& backend : testBackends()) {
    const auto session = (*Interpreter::create(model, builtinOps()))->createSession({.backend = backend, .threads = 1});
    if (!session && backend == "vulkan" && !devicesArePromised()) continue;
    ASSERT_TRUE(session) << session.error().toString();
    for (const auto& [name, values] : {std::pair{"x", std::vector{1, 1.0078125}}, {"scale", {1, 1}}}) {
      OracleTensor oracle((*session)->input(name)->desc);
      oracle.real = values;
      oracle.toTensor(*(*session)->fillInput(name));
    }
    const Status ran = (*session)->run();
    ASSERT_TRUE(ran.isOk()) << backend << ": " << ran.toString();
    EXPECT_EQ((*session)->outputs()[0].desc.dtype, kBrain);
    const Tensor& mean = (*session)->outputs()[1];
    ASSERT_EQ(mean.desc.dtype, DType::Float32) << backend;
    EXPECT_EQ(mean.data<float>()[0], 1.00390625f) << "a bf16 would be 1 or 1.0078125";
  }
}

/// RMSNormalization gives the type of the scale, Pow that of the base.
TEST(ConvertedDTypes, OutputsFollowTheConvertedInputAlone) {
  const TensorDesc brains{kBrain, {1, 2}}, floats{DType::Float32, {1, 2}};
  expectValues("RMSNormalization", {{brains, {0, 0}}, {floats, {1, 1}}}, floats, {0, 0});
  expectValues("RMSNormalization", {{floats, {0, 0}}, {brains, {1, 1}}}, brains, {0, 0});
  expectValues("Pow", {{brains, {2, 3}}, {floats, {2, 2}}}, brains, {4, 9});
  expectValues("Pow", {{floats, {2, 3}}, {brains, {2, 2}}}, floats, {4, 9});
}

TEST(ConvertedDTypes, ChoicesAmongBooleans) {
  const TensorDesc x{DType::Bool, {2, 2}}, y{DType::Bool, {2, 1}}, axes{DType::Int64, {1}};
  expectValues("ReduceMin", {{x, {1, 1, 0, 1}}, {axes, {1}}}, y, {1, 0}, true);
  expectValues("ReduceMax", {{x, {0, 0, 0, 1}}, {axes, {1}}}, y, {0, 1}, true);
}

TEST(ConvertedDTypes, AShrinkOfIntegers) {
  for (const DType dtype : {DType::Int8, DType::Int16, DType::Int32})
    expectValues("Shrink", {{{dtype, {4}}, {-3, 0, 1, 100}}}, {dtype, {4}}, {-3, 0, 1, 100});
  for (const DType dtype : {DType::UInt8, DType::UInt16, DType::UInt32})
    expectValues("Shrink", {{{dtype, {3}}, {0, 1, 200}}}, {dtype, {3}}, {0, 1, 200});
  expectValues("Shrink", {{{DType::Int32, {2}}, {16777217, -2147483648}}}, {DType::Int32, {2}},
               {16777217, -2147483648});
}

TEST(ConvertedDTypes, ARangeOfHalves) {
  const TensorDesc scalar{DType::Float16, {}};
  expectValues("Range", {{scalar, {1}}, {scalar, {5}}, {scalar, {1.5}}}, {DType::Float16, {3}}, {1, 2.5, 4});
}

TEST(ConvertedDTypes, AProductOfHalvesWithCodes) {
  const TensorDesc codes{DType::UInt4, {1, 32}};
  for (const DType dtype : {DType::Float16, kBrain})
    expectValues(
        "MatMulNBits",
        {{{dtype, {1, 32}}, std::vector<double>(32, 1)}, {codes, std::vector<double>(32, 9)}, {{dtype, {1, 1}}, {0.5}}},
        {dtype, {1, 1}}, {16}, true);
}

TEST(ConvertedDTypes, OtherDTypesAreRefusedAsBefore) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float8E5M2, {2}});
  model.outputs = model.addNode("Add", "node", {x, x});
  const auto session = (*Interpreter::create(model, builtinOps()))->createSession({.backend = "cpu"});
  (*session)->fillInput("x");
  const Status ran = (*session)->run();
  EXPECT_NE(ran.toString().find("must be one of"), std::string::npos) << ran.toString();
}

}  // namespace
}  // namespace opkit::ops::cast
