#include "harness/compare/expected.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/cases/data.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

using Inputs = std::vector<std::optional<Tensor>>;

OracleTensor expectedFrom(const Case& c, const Inputs& inputs) {
  const OpDef& def = *ops::builtinOps().find(c.op);
  auto outputs = expectedOutputs(def, *paramsFromJson(def.params, c.params), inputs, c.outputs);
  EXPECT_TRUE(outputs) << outputs.error().message();
  return (*outputs)[0];
}

Inputs inputsOf(const Case& c) { return *makeInputs(c, *ops::builtinOps().find(c.op)); }

TEST(Expected, InputsAreRoundedToTheDtypeBeforeAnybodySeesThem) {
  for (const char* id : {"Relu/f16[99]/normal/seed=7", "Relu/f32[99]/normal/seed=7"}) {
    const Case c = *parseCaseId(id);
    const OracleTensor y = expectedFrom(c, inputsOf(c));
    for (const double value : y.real)
      EXPECT_EQ(value, c.inputs[0]->dtype == DType::Float16 ? toFloat(toHalf(value))
                                                            : static_cast<double>(static_cast<float>(value)));
  }
}

TEST(Expected, ResultsAreNotRounded) {
  const Case c = *parseCaseId(R"(Div/f32[1],f32[1]/designed/seed=7/data=[{"value":1},{"value":3}])");
  EXPECT_EQ(expectedFrom(c, inputsOf(c)).real[0], 1.0 / 3) << "in double, not the nearest fp32";
}

/// Their kernels compensate, so a bound that grows with the row would hide the loss of that.
TEST(Expected, TheBoundsOfLongNormsAreThoseOfShortOnes) {
  for (const char* text :
       {"InstanceNormalization/f32[1,1,4096],f32[1],f32[1]/normal/seed=7",
        "LayerNormalization/f32[1,4096],f32[4096],f32[4096]/normal/seed=7",
        "RMSNormalization/f32[1,4096],f32[4096]/normal/seed=7",
        "MeanVarianceNormalization/f32[1,1,64,64]/normal/seed=7", "LpNormalization/f32[1,4096]/normal/seed=7"}) {
    const Case c = *parseCaseId(text);
    EXPECT_EQ(expectedFrom(c, inputsOf(c)).terms, 64) << text;
  }
}

TEST(Expected, SIsTheSumOfTheTermsMagnitudes) {
  for (const char* id :
       {"MatMul/f32[3,17],f32[17,5]/normal/seed=7", R"(Gemm{"trans_b":true}/f32[3,9],f32[4,9]/normal/seed=7)",
        R"(Conv{"pads":[1,0,1,0]}/f32[1,3,6,7],f32[4,3,3,3]/normal/seed=7)", "ReduceSum/f32[4,9]/normal/seed=7",
        R"(AveragePool{"kernel_shape":[2,3]}/f32[1,2,6,7]/normal/seed=7)"}) {
    const Case c = *parseCaseId(id);
    Inputs inputs = inputsOf(c);
    const OracleTensor y = expectedFrom(c, inputs);
    EXPECT_GT(y.terms, 1) << id;
    for (auto& input : inputs)
      if (input)
        for (float& value : input->data<float>()) value = std::fabs(value);
    const OracleTensor ofMagnitudes = expectedFrom(c, inputs);
    ASSERT_EQ(y.magnitude.size(), y.real.size()) << id;
    for (size_t i = 0; i < y.real.size(); ++i)
      EXPECT_NEAR(y.magnitude[i], ofMagnitudes.real[i], 1e-12 * std::fabs(ofMagnitudes.real[i])) << id << " " << i;
  }
}

}  // namespace
}  // namespace opkit::harness
