// For every hypothesis an output is made wrong in that way; the diagnosis must name it.
#include "harness/compare/diagnose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "engine/backend/backend.h"
#include "engine/backend/reference/oracle_execution.h"
#include "harness/cases/data.h"
#include "harness/check/check.h"
#include "harness/run/terminal.h"
#include "harness/testing/function_kernel.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

using Corrupt = std::function<void(OracleTensor& y)>;

struct Row {
  const char* kind;
  const char* name;  // of the row
  const char* id;    // a case
  Corrupt corrupt;
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.kind; }

/// Calls body(index, value) for every element.
template <class Body>
void each(OracleTensor& y, Body&& body) {
  size_t i = 0;
  forEachIndex(y.desc.shape, [&](const DimVector& at) { body(at, y.real[i++]); });
}

/// The oracle's output for a case's data with other inputs or parameters.
Corrupt outputOf(const std::string& id, const std::function<void(HostInputs&)>& change, const char* params = nullptr) {
  return [=](OracleTensor& y) {
    const Case c = *parseCaseId(id);
    const OpDef& def = *ops::builtinOps().find(c.op);
    HostInputs inputs = *makeInputs(c, def);
    if (change) change(inputs);
    y.real = (*expectedOutputs(def, *paramsFromJson(def.params, params ? params : c.params), inputs, 0))[0].real;
  };
}

const char* const kAdd = "Add/f32[6,20],f32[6,20]/normal/seed=7";
const char* const kConv = R"(Conv{"pads":[1,1,1,1]}/f32[1,3,9,10],f32[4,3,3,3],f32[4]/normal/seed=7)";
const char* const kMatMul = "MatMul/f32[9,21],f32[21,10]/normal/seed=7";
const char* const kSoftmax = R"(Softmax{"axis":0}/f32[6,6]/normal/seed=7)";

const char* const kAffine = R"(LayerNormalization{"epsilon":0.3}/f32[5,16],f32[16],f32[16]/normal/seed=7)";
const char* const kLargeEpsilon = R"(LayerNormalization{"epsilon":5.0}/f32[5,16],f32[16],f32[16]/normal/seed=7)";
const char* const kMean = R"(ReduceMean{"axes":[1]}/f32[6,70]/normal/seed=7/data=[{"range":[1,2]}])";
const char* const kPadded =
    R"(ConvInteger{"pads":[1,1,1,1]}/u8[1,3,6,7],u8[4,3,3,3],u8[]/normal/seed=7/data=[{"range":[0,255]},{"range":[0,255]},{"value":7}])";
const char* const kPerChannel =
    R"(DequantizeLinear{"axis":1}/i8[6,7],f32[7]/normal/seed=7/data=[{"range":[-99,99]},{"range":[0.1,2]}])";
const char* const kZeroPoints =
    R"(DequantizeLinear{"axis":0}/i8[5,21],f32[5],i8[5]/normal/seed=7/data=[{"range":[-99,99]},{"range":[0.1,2]},{"range":[-9,9]}])";
const char* const kGrid =
    R"(GridSample{"padding":"Border"}/f32[1,3,5,7],f32[1,4,9,2]/normal/seed=7/data=[{"range":[-4,4]},{"range":[-1.6,1.6]}])";
const char* const kQuantize =
    R"(QuantizeLinear/f32[6,20],f32[],u8[]/normal/seed=7/data=[{"range":[-300,300]},{"value":1},{"value":128}])";

/// Rows of kAffine or kLargeEpsilon normalised with `root` in place of sqrt(variance + epsilon), scaled by the element
/// of scale that `at(row, column)` names.
Corrupt affine(const char* id, const std::function<double(double variance)>& root,
               const std::function<int(int, int)>& at) {
  return [=](OracleTensor& y) {
    const Case c = *parseCaseId(id);
    const HostInputs in = *makeInputs(c, *ops::builtinOps().find(c.op));
    const auto x = in[0]->data<float>(), scale = in[1]->data<float>(), bias = in[2]->data<float>();
    for (int r = 0; r < 5; ++r) {
      double mean = 0, variance = 0;
      for (int i = 0; i < 16; ++i) mean += double(x[r * 16 + i]) / 16;
      for (int i = 0; i < 16; ++i) variance += std::pow(x[r * 16 + i] - mean, 2) / 16;
      for (int i = 0; i < 16; ++i)
        y.real[r * 16 + i] = (x[r * 16 + i] - mean) / root(variance) * double(scale[at(r, i)]) + double(bias[i]);
    }
  };
}
double rightRoot(double variance) { return std::sqrt(variance + 0.3); }
int column(int, int i) { return i; }

/// The oracle's output with input `index` read at other places: element k is element from(k).
Corrupt readAt(const std::string& id, size_t index, const std::function<size_t(size_t)>& from) {
  return outputOf(id, [=](HostInputs& in) {
    const auto values = in[index]->data<float>();
    const std::vector<float> old(values.begin(), values.end());
    for (size_t k = 0; k < old.size(); ++k) values[k] = old[from(k)];
  });
}

const std::vector<Row> kRows = {
    // Mistakes that the oracle imitates: docs/harness.md.
    {"epsilon", "epsilon_outside_the_root", kAffine,
     affine(
         kAffine, [](double v) { return std::sqrt(v) + 0.3; }, column)},
    {"epsilon", "larger_of_variance_and_epsilon", kLargeEpsilon,
     affine(
         kLargeEpsilon, [](double v) { return std::sqrt(std::max(v, 5.0)); }, column)},
    {"index", "scale_of_the_row", kAffine, affine(kAffine, rightRoot, [](int r, int) { return r; })},
    {"parameter", "another_parameters_value",
     R"(Gemm{"alpha":0.5,"beta":3.0}/f32[5,6],f32[6,7],f32[5,7]/normal/seed=7)",
     outputOf(R"(Gemm{"alpha":0.5,"beta":3.0}/f32[5,6],f32[6,7],f32[5,7]/normal/seed=7)", nullptr,
              R"({"alpha":3.0,"beta":3.0})")},
    {"parameter", "ends_of_pads", R"(Conv{"pads":[1,0,0,1]}/f32[1,3,9,10],f32[4,3,2,2],f32[4]/normal/seed=7)",
     outputOf(R"(Conv{"pads":[1,0,0,1]}/f32[1,3,9,10],f32[4,3,2,2],f32[4]/normal/seed=7)", nullptr,
              R"({"pads":[0,1,1,0]})")},
    {"parameter", "reciprocal", R"(Gemm{"alpha":0.25}/f32[5,6],f32[6,7],f32[5,7]/normal/seed=7)",
     outputOf(R"(Gemm{"alpha":0.25}/f32[5,6],f32[6,7],f32[5,7]/normal/seed=7)", nullptr, R"({"alpha":4.0})")},
    {"broadcast", "first_row_only", kAdd, readAt(kAdd, 1, [](size_t k) { return k % 20; })},
    {"index", "late_by_one", kAdd, readAt(kAdd, 1, [](size_t k) { return k % 20 == 19 ? k : k + 1; })},
    {"index", "backwards", kAdd, readAt(kAdd, 1, [](size_t k) { return k / 20 * 20 + 19 - k % 20; })},
    {"index", "axes_exchanged", kMatMul, readAt(kMatMul, 1, [](size_t k) { return k % 10 * 21 + k / 10; })},
    {"sign", "sign_of_an_input", kAdd,
     outputOf(kAdd,
              [](HostInputs& in) {
                for (float& v : in[1]->data<float>()) v = -v;
              })},
    {"half", "input_as_bf16", kMatMul,
     outputOf(kMatMul,
              [](HostInputs& in) {
                for (float& v : in[0]->data<float>()) v = static_cast<float>(roundTo(DType::BFloat16, v));
              })},
    {"input", "one_input_twice", "Mul/f32[6,20],f32[6,20]/normal/seed=7",
     outputOf("Mul/f32[6,20],f32[6,20]/normal/seed=7",
              [](HostInputs& in) { std::ranges::copy(in[0]->data<float>(), in[1]->data<float>().begin()); })},
    {"tile", "row_sum_without_its_end", "Softmax/f32[6,33]/normal/seed=7",
     [](OracleTensor& y) {
       for (size_t r = 0; r < 6; ++r) {
         const double kept = 1 - y.real[r * 33 + 32];
         for (size_t i = 0; i < 33; ++i) y.real[r * 33 + i] /= kept;
       }
     }},
    {"tile", "row_mean_without_its_end", kMean,
     [](OracleTensor& y) {
       const Case c = *parseCaseId(kMean);
       const HostInputs in = *makeInputs(c, *ops::builtinOps().find(c.op));
       for (size_t r = 0; r < 6; ++r)
         for (size_t i = 64; i < 70; ++i) y.real[r] -= double(in[0]->data<float>()[r * 70 + i]) / 70;
     }},
    {"pad_value", "padding_is_zero", kPadded,
     [](OracleTensor& y) {
       const Case c = *parseCaseId(kPadded);
       const OpDef& def = *ops::builtinOps().find(c.op);
       HostInputs in = *makeInputs(c, def);
       const Tensor padded = *Tensor::onHost({DType::UInt8, {1, 3, 8, 9}});
       std::ranges::fill(padded.bytes(), std::byte{0});
       for (size_t i = 0; i < 3 * 6 * 7; ++i)
         padded.data<uint8_t>()[i / 42 * 72 + (i / 7 % 6 + 1) * 9 + i % 7 + 1] = in[0]->data<uint8_t>()[i];
       in[0] = padded;
       y.integer = (*expectedOutputs(def, {}, in, 0))[0].integer;
     }},
    {"index", "four_take_the_scale_of_the_first", kPerChannel,
     [](OracleTensor& y) {
       const Case c = *parseCaseId(kPerChannel);
       const HostInputs in = *makeInputs(c, *ops::builtinOps().find(c.op));
       for (size_t i = 0; i < y.real.size(); ++i)
         y.real[i] = double(in[0]->data<int8_t>()[i]) * double(in[1]->data<float>()[i / 4 * 4 % 7]);
     }},
    {"index", "four_take_the_scale_and_zero_point_of_the_first", kZeroPoints,
     [](OracleTensor& y) {
       const Case c = *parseCaseId(kZeroPoints);
       const HostInputs in = *makeInputs(c, *ops::builtinOps().find(c.op));
       for (size_t i = 0; i < y.real.size(); ++i) {
         const size_t row = i / 4 * 4 / 21;
         y.real[i] = (double(in[0]->data<int8_t>()[i]) - double(in[2]->data<int8_t>()[row])) *
                     double(in[1]->data<float>()[row]);
       }
     }},
    // Values alone.
    {"saturated", "saturated", kQuantize,
     [](OracleTensor& y) {
       const Case c = *parseCaseId(kQuantize);
       const HostInputs in = *makeInputs(c, *ops::builtinOps().find(c.op));
       for (size_t i = 0; i < y.integer.size(); ++i) y.integer[i] = (std::lrint(in[0]->data<float>()[i]) + 128) & 255;
     }},
    {"rounding", "rounding", kQuantize,
     [](OracleTensor& y) {
       for (size_t i = 1; i < y.integer.size(); i += 7) y.integer[i] += y.integer[i] < 255 ? 1 : -1;
     }},
    {"neighbour", "neighbour", kAdd,
     [](OracleTensor& y) {
       const std::vector<double> x = y.real;
       for (const size_t i : {3, 25, 48, 49, 71, 90}) y.real[i] = x[i + 3];
     }},
    {"order", "order", kAdd,
     [](OracleTensor& y) {
       for (size_t r = 0; r < 6; ++r) std::sort(y.real.begin() + long(r) * 20, y.real.begin() + long(r) * 20 + 20);
     }},
    {"element", "element", "Max/f32[6,20],f32[6,20]/normal/seed=7",
     [](OracleTensor& y) {
       const Case c = *parseCaseId("Max/f32[6,20],f32[6,20]/normal/seed=7");
       const HostInputs in = *makeInputs(c, *ops::builtinOps().find(c.op));
       for (const size_t i : {1, 5, 18, 44, 45, 83, 101})
         y.real[i] = std::min(in[0]->data<float>()[i], in[1]->data<float>()[i]);
     }},
    {"parameter", "another_mode", kGrid, outputOf(kGrid, nullptr, R"({"padding":"Reflection"})")},
    {"signs", "signs", kMatMul,
     [](OracleTensor& y) { each(y, [](const auto&, double& v) { v = v < 0 ? -v * v : v; }); }},
    {"row", "row_factor", kSoftmax,
     [](OracleTensor& y) { each(y, [](const DimVector& at, double& v) { v *= 1.5 + static_cast<double>(at[1]); }); }},
    {"row", "row_term", kSoftmax,
     [](OracleTensor& y) { each(y, [](const DimVector& at, double& v) { v -= 0.1 + 0.01 * at[1]; }); }},
    {"unwritten", "unwritten", kAdd,
     [](OracleTensor& y) { each(y, [](const auto& at, double& v) { v = at[1] % 7 == 3 ? std::nan("") : v; }); }},
    {"transposed", "transposed", "Add/f32[7,20],f32[7,20]/normal/seed=7",
     [](OracleTensor& y) {
       const std::vector<double> x = y.real;
       for (size_t i = 0; i < x.size(); ++i) y.real[i] = x[i % 7 * 20 + i / 7];
     }},
    {"shifted", "shifted", kAdd,
     [](OracleTensor& y) {
       for (size_t i = y.real.size(); i-- > 1;) y.real[i] = y.real[i - 1];
     }},
    {"scaled", "scaled", kMatMul, [](OracleTensor& y) { each(y, [](const auto&, double& v) { v *= 0.5; }); }},
    {"sign", "sign", kMatMul, [](OracleTensor& y) { each(y, [](const auto&, double& v) { v = -v; }); }},
    {"offset", "offset", kAdd, [](OracleTensor& y) { each(y, [](const auto&, double& v) { v += 3; }); }},
    {"zeros", "zeros", kAdd,
     [](OracleTensor& y) { each(y, [](const auto& at, double& v) { v = at[1] % 5 == 0 && at[0] % 2 ? 0 : v; }); }},
    {"clamped", "clamped", R"(MaxPool{"kernel_shape":[1,2]}/f32[1,2,6,7]/normal/seed=7)",
     [](OracleTensor& y) { each(y, [](const auto&, double& v) { v = std::max(v, 0.0); }); }},
    {"repeated", "repeated", kAdd,
     [](OracleTensor& y) {
       for (size_t i = 20; i < y.real.size(); ++i) y.real[i] = y.real[i % 20];
     }},
    {"input", "without_bias", kConv,
     outputOf(kConv, [](HostInputs& in) { std::ranges::fill(in[2]->data<float>(), 0.0f); })},
    {"broadcast", "broadcast", kAdd,
     outputOf(kAdd, [](HostInputs& in) { std::ranges::fill(in[1]->data<float>(), in[1]->data<float>()[0]); })},
    {"swapped", "swapped", "Div/f32[6,20],f32[6,20]/normal/seed=7",
     outputOf("Div/f32[6,20],f32[6,20]/normal/seed=7", [](HostInputs& in) { std::swap(in[0], in[1]); })},
    {"parameter", "parameter", kSoftmax, outputOf(kSoftmax, nullptr, "{}")},
    {"tile", "tile", kMatMul,
     outputOf(kMatMul,
              [](HostInputs& in) {
                for (size_t i = 0; i < 9 * 21; ++i)
                  if (i % 21 >= 16) in[0]->data<float>()[i] = 0;
              })},
    {"lane", "lane", kAdd,
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) { v += at[1] % 4 == 3 ? 1.0 + 0.1 * double(at[0]) : 0; });
     }},
    {"edge", "edge", kAdd,
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) { v += at[1] == 19 ? 1.0 + 0.1 * double(at[0]) : 0; });
     }},
    {"tail", "tail", kMatMul,
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) { v += at[1] >= 8 ? 1.0 + double(at[0] * at[1]) : 0; });
     }},
    {"slice", "slice", kAdd,
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) { v += at[0] == 2 ? 1.0 + 0.1 * double(at[1]) : 0; });
     }},
    {"padding", "padding", kConv,
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) {
         const bool border = at[2] == 0 || at[3] == 0 || at[2] == 8 || at[3] == 9;
         v += border ? 1.0 + double(at[2] * 3 + at[3]) : 0;
       });
     }},
    {"suffix", "suffix", "Add/f32[200],f32[200]/normal/seed=7",
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) { v += at[0] >= 128 ? 1.0 + 0.1 * double(at[0]) : 0; });
     }},
    {"suffix", "suffix_of_slices", "Add/f32[2,60],f32[2,60]/normal/seed=7",
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) { v += at[0] == 1 ? 1.0 + 0.1 * double(at[1]) : 0; });
     }},
    {"suffix", "later_blocks_of_rows", "Add/f32[3,100],f32[3,100]/normal/seed=7",
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) {
         v += at[1] >= 64 && at[1] % 4 != 1 ? 1.0 + 0.1 * double(at[1] + 7 * at[0]) : 0;
       });
     }},
    {"precision", "f16_rounding", "Add/f16[6,20],f16[6,20]/normal/seed=7",
     [](OracleTensor& y) { each(y, [](const auto& at, double& v) { v *= at[1] % 3 == 1 ? 1.0015 : 1; }); }},
    {"specials", "specials", "Add/f32[40],f32[40]/specials/seed=7",
     [](OracleTensor& y) { each(y, [](const auto&, double& v) { v = std::isnan(v) ? 1 : v; }); }},
    {"half", "half", kMatMul,
     [](OracleTensor& y) { each(y, [](const auto&, double& v) { v = roundTo(DType::Float16, v); }); }},
    {"precision", "precision", kMatMul,
     [](OracleTensor& y) {
       each(y, [](const auto& at, double& v) { v += 1e-3 * std::sin(double(7 * at[0] + 3 * at[1])); });
     }},
    {"unknown", "unknown", kMatMul,
     [](OracleTensor& y) {
       each(y,
            [](const auto& at, double& v) { v += (at[0] * 5 + at[1] * 3) % 7 == 0 ? 5 + double(at[1] * at[0]) : 0; });
     }},
};

/// Poison, as before a kernel runs, in place of NaN.
void leaveUnwritten(const OracleTensor& wrong, const Tensor& got) {
  for (size_t i = 0; i < wrong.real.size(); ++i)
    if (std::isnan(wrong.real[i])) std::fill_n(got.bytes().begin() + static_cast<long>(4 * i), 4, std::byte{0xFF});
}

Result<std::vector<OracleTensor>> expectedOutputsOf(const std::string& id) {
  const Case c = *parseCaseId(id);
  const OpDef& def = *ops::builtinOps().find(c.op);
  return expectedOutputs(def, *paramsFromJson(def.params, c.params), *makeInputs(c, def), c.outputs);
}

Diagnosis diagnosisOf(const Row& row, const Tensor* again = nullptr, const Tensor* previous = nullptr) {
  const OpRegistry& registry = ops::builtinOps();
  const auto c = parseCaseId(row.id);
  EXPECT_TRUE(c) << c.error().message();
  const PreparedGroup group = prepareGroup({{*c}}, registry);
  const PreparedCase& prepared = group.cases[0];
  EXPECT_TRUE(prepared.status.isOk()) << prepared.status.message();
  OracleTensor wrong = prepared.expected[0];
  row.corrupt(wrong);
  const Tensor got = *Tensor::onHost(wrong.desc);
  wrong.toTensor(got);
  if (std::string(row.kind) == "unwritten") leaveUnwritten(wrong, got);
  const OpDef& def = *registry.find(c->op);
  const Tolerance tolerance = toleranceOf(def, c->lane, prepared.expected[0]);
  return diagnose({def, *c, prepared.inputs, prepared.expected, 0, got, tolerance, again, nullptr, nullptr, previous});
}

class DiagnosisOf : public testing::TestWithParam<Row> {};

TEST_P(DiagnosisOf, IsTheRightOne) {
  const Row& row = GetParam();
  const Diagnosis diagnosis = diagnosisOf(row);
  EXPECT_EQ(diagnosis.kind, row.kind) << diagnosis.text;
  EXPECT_FALSE(diagnosis.text.empty());
}

/// The oracle's output, changed by `spoil`.
class SpoiledKernel final : public Execution {
 public:
  using Spoil = std::function<void(size_t run, TensorList inputs, const Tensor& output)>;
  SpoiledKernel(std::unique_ptr<Execution> inner, Spoil spoil) : inner_(std::move(inner)), spoil_(std::move(spoil)) {}

  Status onResize(TensorList inputs, TensorList outputs) override { return inner_->onResize(inputs, outputs); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(inner_->onExecute(inputs, outputs));
    spoil_(++runs_, inputs, *outputs[0]);
    return Status::ok();
  }

 private:
  std::unique_ptr<Execution> inner_;
  Spoil spoil_;
  size_t runs_ = 0;
};

/// `check` on cases of one operator with a spoiled kernel; every kernel gets its own spoiler.
std::vector<CaseResult> checkSpoiled(const std::vector<std::string>& ids,
                                     const std::function<SpoiledKernel::Spoil()>& makeSpoil) {
  CaseGroup group;
  for (const std::string& id : ids) group.cases.push_back(*parseCaseId(id));
  OpRegistry registry = ops::builtinOps();
  Creator creator = reference::oracleCreator();
  creator.provider = "spoiled";
  creator.create = [inner = creator.create, makeSpoil](const CreateArgs& args,
                                                       Backend& backend) -> Result<std::unique_ptr<Execution>> {
    OPKIT_ASSIGN(auto made, inner(args, backend));
    return std::unique_ptr<Execution>(std::make_unique<SpoiledKernel>(std::move(made), makeSpoil()));
  };
  registry.addFirstCreator("cpu", group.cases[0].op, std::move(creator));
  return Checker(registry, "cpu", *createRuntime("cpu")).checkGroup(prepareGroup(group, registry));
}

TEST_P(DiagnosisOf, IsPrintedForAKernelBrokenThatWay) {
  const Row& row = GetParam();
  const auto spoil = [&row](size_t, TensorList, const Tensor& output) {
    if (output.desc != (*expectedOutputsOf(row.id))[0].desc) return;  // another stop of the walk
    OracleTensor wrong = OracleTensor::fromTensor(output);
    row.corrupt(wrong);
    wrong.toTensor(output);
    if (std::string(row.kind) == "unwritten") leaveUnwritten(wrong, output);
  };
  const CaseResult result = checkSpoiled({row.id}, [&] { return spoil; })[0];
  EXPECT_EQ(result.provider, "spoiled");
  EXPECT_EQ(result.diagnosisKind, row.kind) << result.diagnosis;
  EXPECT_NE(failureBlock(result, "").find("because  "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, DiagnosisOf, testing::ValuesIn(kRows), [](const auto& test) { return test.param.name; });

TEST(Diagnosis, ASecondRunThatDiffersIsARace) {
  const Row row{"scaled", "", kAdd, [](OracleTensor& y) { y.real[3] *= 2; }};
  const Tensor again = *Tensor::onHost({DType::Float32, {6, 20}});
  EXPECT_EQ(diagnosisOf(row, &again).kind, "race");
}

/// No mistake of a kernel explains one element that is wrong by chance.
TEST(Diagnosis, AnElementWrongByChanceIsNoMistakeOfTheKernel) {
  const std::set<std::string> places = {"unknown", "edge", "slice", "tail", "lane", "suffix", "padding"};
  for (const char* const id : {kAdd, kConv, kMatMul, kSoftmax, kAffine, kQuantize})
    for (const size_t at : {0, 3, 17, 35}) {
      const Row row{"", "", id, [at](OracleTensor& y) {
                      if (y.isReal())
                        y.real[at] += 0.73;
                      else
                        y.integer[at] ^= 21;
                    }};
      const Diagnosis found = diagnosisOf(row);
      EXPECT_TRUE(places.contains(found.kind)) << id << " " << at << ": " << found.text;
    }
}

/// An ignored parameter would make most elements wrong; these few agree with it, the others contradict.
TEST(Diagnosis, AFewElementsAreNoIgnoredParameter) {
  const std::string id = R"(Swish{"alpha":2.0}/f32[4000]/normal/seed=7)";
  const auto ignoring = [&](OracleTensor& y, size_t from, size_t every) {
    OracleTensor ignored = y;
    outputOf(id, nullptr, "{}")(ignored);
    for (size_t i = from; i < y.real.size(); i += every) y.real[i] = ignored.real[i];
  };
  const Diagnosis few = diagnosisOf({"", "", id.c_str(), [&](OracleTensor& y) { ignoring(y, 0, 40); }});
  EXPECT_NE(few.kind, "parameter") << few.text;
  const Diagnosis half = diagnosisOf({"", "", id.c_str(), [&](OracleTensor& y) { ignoring(y, 2000, 1); }});
  EXPECT_EQ(half.kind, "parameter") << half.text;
}

/// Among many dense values any wrong one is near some other: no values changed their places.
TEST(Diagnosis, OneWrongElementOfALongRowIsNoReordering) {
  const Row one{"", "", "Abs/f16[1,20000]/normal/seed=7", [](OracleTensor& y) { y.real[19999] = y.real[19998]; }};
  const Diagnosis found = diagnosisOf(one);
  EXPECT_NE(found.kind, "order") << found.text;
}

TEST(Diagnosis, AKernelThatAddsToItsOutputIsCalledSo) {
  const OpRegistry registry = withKernel("Add", [] {
    return [](TensorList in, TensorList out, Backend&) {
      for (size_t i = 0; i < out[0]->data<float>().size(); ++i)
        out[0]->data<float>()[i] += in[0]->data<float>()[i] + in[1]->data<float>()[i];
      return Status::ok();
    };
  });
  const PreparedGroup group = prepareGroup({{*parseCaseId(kAdd)}}, registry);
  const CaseResult result = Checker(registry, "cpu", *createRuntime("cpu")).checkGroup(group)[0];
  EXPECT_EQ(result.diagnosisKind, "accumulated") << result.diagnosis;
}

/// Runs `check` on a kernel with one mistake that no hypothesis imitates. Gives the kind and text of the diagnosis.
std::string diagnosisOfKernel(const char* id, const std::function<void(TensorList in, const Tensor& out)>& mistake) {
  const auto spoil = [&](size_t, TensorList inputs, const Tensor& output) {
    if (output.desc == (*expectedOutputsOf(id))[0].desc) mistake(inputs, output);  // not at another stop of the walk
  };
  const CaseResult result = checkSpoiled({id}, [&] { return spoil; })[0];
  EXPECT_EQ(result.provider, "spoiled");
  return result.diagnosisKind + ": " + result.diagnosis;
}

TEST(Diagnosis, NamesTheElementThatAWrongOneTakes) {
  const std::string text = diagnosisOfKernel(kAdd, [](TensorList in, const Tensor& out) {
    out.data<float>()[5] = in[0]->data<float>()[5] + in[1]->data<float>()[47];
  });
  EXPECT_EQ(text, "dependence: element [0,5] takes input 1 'y' [2,7] in place of [0,5]; only element [0,5] is wrong");
}

TEST(Diagnosis, NamesTheElementsThatAWrongOneDoesNotFollow) {
  const std::string text = diagnosisOfKernel(kMatMul, [](TensorList in, const Tensor& out) {
    const auto a = in[0]->data<float>(), b = in[1]->data<float>();
    out.data<float>()[34] -= a[3 * 21 + 20] * b[20 * 10 + 4];  // element [3,4] lacks the last term
  });
  EXPECT_NE(text.find("element [3,4] does not follow"), std::string::npos) << text;
  EXPECT_NE(text.find("[3,20], as it should"), std::string::npos) << text;
  EXPECT_NE(text.find("[20,4], as it should"), std::string::npos) << text;
}

TEST(Diagnosis, NamesAnInputThatAWrongElementFollowsByAnotherAmount) {
  const std::string text = diagnosisOfKernel(kAffine, [](TensorList in, const Tensor& out) {
    out.data<float>()[34] += in[2]->data<float>()[2] * 3;  // the bias four times
  });
  EXPECT_NE(text.find("by another amount than it should, but input 1 'scale'"), std::string::npos) << text;
}

TEST(Diagnosis, NamesAWrongExponent) {
  const std::string text =
      diagnosisOfKernel(kMatMul, [](TensorList, const Tensor& out) { out.data<float>()[34] *= 16; });
  EXPECT_NE(text.find("a power of two, 2^4"), std::string::npos) << text;
}

TEST(Diagnosis, NamesAnElementThatFollowsNoInput) {
  const std::string text =
      diagnosisOfKernel(kMatMul, [](TensorList, const Tensor& out) { out.data<float>()[34] = 42; });
  EXPECT_NE(text.find("element [3,4] follows no input"), std::string::npos) << text;
}

TEST(Diagnosis, SaysNothingOfElementsIfTheWrongOneFollowsTheRightOnes) {
  const std::string text =
      diagnosisOfKernel(kMatMul, [](TensorList, const Tensor& out) { out.data<float>()[34] += 0.73F; });
  EXPECT_EQ(text, "unknown: no simple explanation fits; only element [3,4] is wrong");
}

TEST(Diagnosis, AnElementThatBecomesInfiniteFollowsAnInput) {
  std::optional<float> before;
  const std::string text = diagnosisOfKernel(kMatMul, [&before](TensorList in, const Tensor& out) {
    float sum = 0;
    for (const float v : in[0]->data<float>()) sum += v;  // input 1 plays no part
    if (!before) before = sum;
    out.data<float>()[34] = sum == *before ? 42 : INFINITY;
  });
  EXPECT_EQ(text.find("follows no input"), std::string::npos) << text;
}

TEST(Diagnosis, ThePreviousOutputIsStale) {
  const Tensor previous = *Tensor::onHost({DType::Float32, {3, 20}});
  for (size_t i = 0; i < 60; ++i) previous.data<float>()[i] = 100 + static_cast<float>(i);
  const Row row{"stale", "", kAdd, [](OracleTensor& y) {
                  for (size_t i = 0; i < 60; ++i) y.real[i] = 100 + static_cast<double>(i);
                }};
  EXPECT_EQ(diagnosisOf(row, nullptr, &previous).kind, "stale");
}

TEST(Diagnosis, WhatAFreshKernelComputesRightIsStale) {
  const Tensor previous = *Tensor::onHost({DType::Float32, {3, 20}});
  std::ranges::fill(previous.data<float>(), 100.0f);
  const Row row{"", "", kAdd, [](OracleTensor& y) { each(y, [](const auto&, double& v) { v *= 2; }); }};
  EXPECT_EQ(diagnosisOf(row, nullptr, &previous).kind, "stale");
}

TEST(Diagnosis, ASuffixOfSlicesNamesTheAxis) {
  const auto row = std::ranges::find(kRows, std::string("suffix_of_slices"), &Row::name);
  const std::string text = diagnosisOf(*row).text;
  EXPECT_TRUE(text.starts_with("everything from index 1 of axis 0 on is wrong")) << text;
}

TEST(Diagnosis, AKernelThatRacesIsCalledSo) {
  const auto spoil = [](size_t run, TensorList, const Tensor& output) {
    if (run % 2 == 1) output.data<float>()[3] += 7;
  };
  EXPECT_EQ(checkSpoiled({kAdd}, [&] { return spoil; })[0].diagnosisKind, "race");
}

TEST(Diagnosis, AKernelThatKeepsItsFirstOutputIsCalledStale) {
  // From its second shape on it returns the output of the previous shape.
  const auto makeSpoil = [] {
    auto first = std::make_shared<std::vector<float>>();
    return [first](size_t, TensorList, const Tensor& output) {
      const std::span<float> y = output.data<float>();
      if (first->empty()) first->assign(y.begin(), y.end());
      if (first->size() >= y.size() && first->size() != y.size()) std::copy_n(first->begin(), y.size(), y.begin());
    };
  };
  const auto results =
      checkSpoiled({"Add/f32[6,20],f32[6,20]/normal/seed=7", "Add/f32[3,20],f32[3,20]/normal/seed=7"}, makeSpoil);
  EXPECT_EQ(results[1].diagnosisKind, "stale") << results[1].reason;
}

TEST(Diagnosis, AnAlteredExtentIsNotComputed) {
  // With indices and depth exchanged the output would have 2^39 elements.
  const Row row{
      "", "",
      R"(OneHot/i64[1,1],i64[1],f32[2]/designed/seed=7/constant=1/data=[{"values":[549755813888]},{"values":[5]},{"values":[-2,3]}])",
      [](OracleTensor& y) { y.real[1] = 7; }};
  EXPECT_FALSE(diagnosisOf(row).text.empty());
}

TEST(ErrorMap, ShowsWhereErrorsLie) {
  std::vector<bool> wrong(12, false);
  wrong[3] = wrong[11] = true;
  EXPECT_EQ(errorMap({3, 4}, wrong), "...#\n....\n...#");
  EXPECT_EQ(errorMap({0}, {}), "");
  EXPECT_EQ(errorMap({}, {true}), "#");
  std::vector<bool> large(100 * 200, false);
  large[0] = true;
  const std::string map = errorMap({100, 200}, large);
  EXPECT_EQ(std::count(map.begin(), map.end(), '\n'), 15);
  EXPECT_EQ(map[0], '+');
}

}  // namespace
}  // namespace opkit::harness
