#include "reports/demo/demo_cases.h"

#include <fmt/format.h>

namespace opkit::reports::demo {
namespace {

constexpr const char* kNormal = "normal/seed=7";
constexpr size_t kSeed = 7;

constexpr DemoCase kCases[] = {
    {"Add", "", "f32[6,20],f32[6,20]", "f32[1,64,56,56],f32[1,64,56,56]", kNormal, "vector", 200, 2408, 67, 15, 0.5,
     0.5},
    {"ArgMax", R"({"axis":1})", "f32[5,7]", "f32[64,1000]", kNormal, "scalar", 64, 257, 41, 13, 0, 0},
    {"AveragePool", R"({"kernel_shape":[3,3],"pads":[1,1,1,1],"strides":[2,2]})", "f32[1,3,9,9]", "f32[1,64,112,112]",
     kNormal, "vector", 1806, 4014, 228, 31, 0.11, 1},
    {"BatchNormalization", "", "f32[2,3,5],f32[3],f32[3],f32[3],f32[3]",
     "f32[1,64,56,56],f32[64],f32[64],f32[64],f32[64]", kNormal, "vector", 401, 1606, 52, 14, 0.21, 2},
    {"Concat", R"({"axis":1})", "f32[2,3],f32[2,4]", "f32[1,64,56,56],f32[1,64,56,56]", kNormal, "region", 0, 3211, 81,
     18, 0, 0},
    {"Conv", R"({"pads":[1,1,1,1]})", "f32[1,3,7,7],f32[4,3,3,3],f32[4]", "f32[1,64,56,56],f32[64,64,3,3],f32[64]",
     "normal/seed=7/constant=1,2", "gemm", 231211, 1753, 3480, 212, 0.09, 6},
    {"ConvTranspose", R"({"strides":[2,2]})", "f32[1,2,5,5],f32[2,3,2,2],f32[3]",
     "f32[1,24,160,160],f32[24,24,2,2],f32[24]", "normal/seed=7/constant=1,2", "gemm", 117965, 12297, 2910, 248, 0.08,
     5},
    {"Div", "", "f32[6,20],f32[6,20]", "f32[1,64,56,56],f32[1,64,56,56]", kNormal, "vector", 200, 2408, 71, 15, 0.5,
     0.5},
    {"Erf", "", "f32[9]", "f32[128,3072]", kNormal, "vector", 7864, 3146, 412, 24, 0.31, 2.5},
    {"Exp", "", "f32[3,5]", "f32[1000,1000]", kNormal, "vector", 14000, 8000, 655, 52, 0.27, 1.2},
    {"Gather", "", "f32[5,4],i64[3]", "f32[1000,256],i64[128]", R"(designed/seed=7/data=[null,{"range":[0,4]}])",
     "region", 0, 263, 17, 11, 0, 0},
    {"Gelu", "", "f32[7,9]", "f32[128,3072]", kNormal, "vector", 9437, 3146, 438, 26, 0.22, 2},
    {"Gemm", R"({"trans_b":true})", "f32[4,6],f32[5,6],f32[5]", "f32[256,768],f32[768,768],f32[768]", kNormal, "gemm",
     302186, 3936, 3210, 184, 0.07, 4},
    {"GlobalAveragePool", "", "f32[2,3,5,5]", "f32[8,512,14,14]", kNormal, "vector", 803, 3228, 96, 19, 0.06, 1},
    {"GridSample", "", "f32[1,2,6,6],f32[1,4,4,2]", "f32[1,64,96,96],f32[1,96,96,2]",
     R"(designed/seed=7/data=[null,{"range":[-1,1]}])", "scalar", 7078, 4792, 1870, 61, 0.14, 3},
    {"InstanceNormalization", "", "f32[2,3,8],f32[3],f32[3]", "f32[4,64,56,56],f32[64],f32[64]", kNormal, "rows", 4817,
     6423, 318, 44, 0.05, 3},
    {"LayerNormalization", "", "f32[5,48],f32[48],f32[48]", "f32[512,768],f32[768],f32[768]", kNormal, "rows", 3146,
     3152, 141, 29, 0.04, 2},
    {"MatMul", "", "f32[5,7],f32[7,3]", "f32[256,768],f32[768,768]", "normal/seed=7/constant=1", "gemm", 301990, 3932,
     3150, 179, 0.07, 4},
    {"MaxPool", R"({"kernel_shape":[3,3],"pads":[1,1,1,1],"strides":[2,2]})", "f32[1,3,9,9]", "f32[1,64,112,112]",
     kNormal, "vector", 1806, 4014, 214, 30, 0, 0},
    {"Mul", "", "f32[6,20],f32[6,20]", "f32[1,64,56,56],f32[1,64,56,56]", kNormal, "vector", 200, 2408, 66, 15, 0.5,
     0.5},
    {"Pow", "", "f32[2,31],f32[2,31]", "f32[2,31,33],f32[2,31,33]", "designed/seed=7", "vector", 61, 25, 9.2, 11, 0.34,
     3},
    {"ReduceMean", "", "f32[4,5,6],i64[2]", "f32[64,56,56],i64[2]",
     R"(designed/seed=7/constant=1/data=[null,{"values":[1,2]}])", "rows", 201, 803, 36, 16, 0.05, 1},
    {"Relu", "", "f32[3,4]", "f32[1,64,56,56]", kNormal, "vector", 200, 1606, 43, 13, 0, 0},
    {"Resize", R"({"mode":"Linear"})", "f32[1,2,4,4],-,f32[4]", "f32[1,96,80,80],-,f32[4]",
     R"(designed/seed=7/constant=2/data=[null,null,{"values":[1,1,2,2]}])", "scalar", 17203, 12288, 2240, 96, 0.12, 2},
    {"RMSNormalization", "", "f32[5,48],f32[48]", "f32[512,768],f32[768]", kNormal, "rows", 1966, 3149, 118, 27, 0.04,
     2},
    {"Sigmoid", "", "f32[7,9]", "f32[1,64,56,56]", kNormal, "vector", 3211, 1606, 119, 17, 0.25, 1.5},
    {"Sin", "", "f32[64]", "f32[1000,1000]", kNormal, "vector", 16000, 8000, 704, 53, 0.29, 1.3},
    {"Softmax", "", "f32[3,5,7]", "f32[256,1000]", kNormal, "rows", 4096, 2048, 197, 33, 0.13, 2},
    {"Tanh", "", "f32[7,9]", "f32[1,64,56,56]", kNormal, "vector", 4014, 1606, 134, 18, 0.26, 1.5},
    {"Transpose", "", "f32[4,3,2]", "f32[17,16,15]", kNormal, "region", 0, 33, 6.1, 10, 0, 0},
};

std::string idOf(const DemoCase& c, const char* inputs, const std::string& rest) {
  return fmt::format("{}{}/{}/{}", c.op, c.params, inputs, rest);
}

}  // namespace

std::string DemoCase::checkedId() const { return idOf(*this, checkInputs, rest); }

std::string DemoCase::timedId(size_t n) const {
  std::string text = rest;
  const std::string seed = fmt::format("seed={}", kSeed);
  return idOf(*this, timedInputs, text.replace(text.find(seed), seed.size(), fmt::format("seed={}", kSeed + n)));
}

std::span<const DemoCase> demoCases() { return kCases; }

}  // namespace opkit::reports::demo
