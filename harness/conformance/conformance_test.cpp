#include "harness/conformance/conformance.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <set>
#include <sstream>

#include "engine/backend/device_test_support.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/testing/nowhere.h"
#include "harness/conformance/declared.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

/// A copy of ONNX's test of Relu that a test may damage.
class ConformanceTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto data = packagedTestData();
    ASSERT_TRUE(data) << data.error().message();
    root_ = fs::path(testing::TempDir()) /
            fmt::format("conformance_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_ / "node");
    fs::copy(fs::path(*data) / "node" / "test_relu", root_ / "node" / "test_relu",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path output() const { return root_ / "node" / "test_relu" / "test_data_set_0" / "output_0.pb"; }

  CaseResult run() {
    const auto folders = findConformanceFolders({root_.string()});
    EXPECT_TRUE(folders);
    EXPECT_EQ(folders->size(), 1u);
    EXPECT_EQ(folders->front().id, "node/test_relu");
    return runConformance(folders->front(),
                          {&ops::builtinOps(), &ops::builtinOnnxRules(), "cpu", *createRuntime("cpu")});
  }

  void rewriteOutput(const std::function<void(std::span<float>)>& change) {
    const auto tensor = tensorFromProto(*readFile(output().string()));
    ASSERT_TRUE(tensor);
    change(tensor->data<float>());
    ASSERT_TRUE(writeFile(output().string(), *tensorToProto(*tensor)).isOk());
  }

  fs::path root_;
};

TEST_F(ConformanceTest, TheDataPasses) {
  const CaseResult result = run();
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  EXPECT_GT(result.accuracy->elements, 0);
}

TEST_F(ConformanceTest, TheReferenceRunsOraclesOfOperatorsThatMoveData) {
  const auto folders = findConformanceFolders({*packagedTestData() + "/node/test_transpose_all_permutations_2"});
  ASSERT_TRUE(folders) << folders.error().message();
  ASSERT_EQ(folders->size(), 1u);
  const auto statusWith = [&](const OpRegistry& registry) {
    return runConformance(folders->front(),
                          {&registry, &ops::builtinOnnxRules(), "reference", *createRuntime("reference")})
        .status;
  };
  OpRegistry broken = ops::builtinOps();
  EXPECT_EQ(statusWith(withOraclesAlone(broken)), CaseStatus::Pass);
  OpDef card = *broken.find("Transpose");
  card.oracle = [](const OracleArgs&) { return Status::ok(); };  // leaves zeros
  broken.replace(card);
  EXPECT_EQ(statusWith(broken), CaseStatus::Pass) << "by its regions";
  EXPECT_EQ(statusWith(withOraclesAlone(broken)), CaseStatus::Fail);
}

TEST_F(ConformanceTest, DataMayGiveInputsThatHaveADefault) {
  const auto value = [](const std::vector<float>& values) {
    return *Tensor::fromValues<float>({DType::Float32, {static_cast<int64_t>(values.size())}}, values);
  };
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  const TensorId k = model.addConstant("k", value({2}));
  model.tensors[k].defaultOf = {0, {kDynamic}};  // before x
  model.outputs = model.addNode("Mul", "y", {x, k});
  const fs::path folder = root_ / "node" / "test_relu";
  const auto write = [&](const char* name, const std::vector<uint8_t>& bytes) {
    fs::create_directories((folder / name).parent_path());
    EXPECT_TRUE(writeFile((folder / name).string(), bytes).isOk());
  };
  fs::remove_all(folder / "test_data_set_0");
  write("model.onnx", *writeModel(model));
  write("test_data_set_0/input_0.pb", *tensorToProto(value({10})));
  write("test_data_set_0/input_1.pb", *tensorToProto(value({1, 2})));
  write("test_data_set_0/output_0.pb", *tensorToProto(value({10, 20})));
  write("test_data_set_1/input_0.pb", *tensorToProto(value({1, 2})));
  write("test_data_set_1/output_0.pb", *tensorToProto(value({2, 4})));
  EXPECT_EQ(run().status, CaseStatus::Pass) << run().reason;
  write("test_data_set_1/output_0.pb", *tensorToProto(value({10, 20})));
  EXPECT_EQ(run().status, CaseStatus::Fail) << "a new set begins with the default";
  write("test_data_set_0/input_2.pb", *tensorToProto(value({1})));
  EXPECT_NE(run().reason.find("more inputs than the model's 2"), std::string::npos) << run().reason;
}

TEST_F(ConformanceTest, AWrongElementFails) {
  rewriteOutput([](std::span<float> y) { y[y.size() / 2] += 1; });
  EXPECT_EQ(run().status, CaseStatus::Fail);
}

TEST_F(ConformanceTest, BoundsMayStandBesideTheModel) {
  rewriteOutput([](std::span<float> values) { values[0] += 1e-2f; });
  EXPECT_EQ(run().status, CaseStatus::Fail);
  const std::string bounds = (root_ / "node" / "test_relu" / "data.json").string();
  const auto given = [&](std::string_view text) {
    EXPECT_TRUE(writeFile(bounds, std::vector<uint8_t>(text.begin(), text.end())).isOk());
    return run();
  };
  EXPECT_EQ(given(R"({"atol": 0.1, "url": "elsewhere"})").status, CaseStatus::Pass);
  EXPECT_EQ(given(R"({"rtol": 1e-6, "atol": 1e-3})").status, CaseStatus::Fail);
  for (const char* wrong : {"[1]", R"({"atol": "1"})", R"({"rtol": -1})", R"({"rtol": 1})", "{"}) {
    const CaseResult result = given(wrong);
    EXPECT_EQ(result.status, CaseStatus::Fail) << wrong;
    EXPECT_EQ(result.reason.find("data.json: "), 0u) << result.reason;
  }
}

/// Appends a constant to the graph: parts of one message that follow each other are merged.
void addWeights(const fs::path& model, int64_t count) {
  const Tensor weights = *Tensor::onHost({DType::Float32, {count}});
  const std::vector<uint8_t> tensor = *tensorToProto(weights);
  std::vector<uint8_t> bytes = *readFile(model.string());
  const auto append = [&](uint8_t field, size_t size) {
    bytes.push_back(static_cast<uint8_t>(field << 3 | 2));
    for (; size >= 128; size >>= 7) bytes.push_back(static_cast<uint8_t>(size | 128));
    bytes.push_back(static_cast<uint8_t>(size));
  };
  const std::string name = fmt::format("{} weights", count);
  const size_t named = tensor.size() + 2 + name.size(), lengthOfNamed = named < 1 << 14 ? 2 : 3;
  append(7, 1 + lengthOfNamed + named);  // graph
  append(5, named);                      // initializer
  bytes.insert(bytes.end(), tensor.begin(), tensor.end());
  append(8, name.size());
  bytes.insert(bytes.end(), name.begin(), name.end());
  ASSERT_TRUE(writeFile(model.string(), bytes).isOk());
}

TEST_F(ConformanceTest, OfANetworkTheLargestElementBoundsTheErrorNearZero) {
  const auto moveZeroTo = [&](float value) {
    rewriteOutput([&](std::span<float> y) { *std::ranges::min_element(y) = value; });
  };
  const fs::path model = root_ / "node" / "test_relu" / "model.onnx";
  moveZeroTo(5e-6f);
  EXPECT_EQ(run().status, CaseStatus::Fail);
  addWeights(model, 4000);
  EXPECT_EQ(run().status, CaseStatus::Fail) << "too few weights";
  addWeights(model, 65536);
  EXPECT_EQ(run().status, CaseStatus::Pass);
  moveZeroTo(1e-4f);  // the largest is about 2.5
  EXPECT_EQ(run().status, CaseStatus::Fail);
}

TEST_F(ConformanceTest, NanInTheDataIsNotAPass) {
  rewriteOutput([](std::span<float> y) { y[0] = std::numeric_limits<float>::quiet_NaN(); });
  EXPECT_EQ(run().status, CaseStatus::Fail);
}

TEST_F(ConformanceTest, DataOfATypeThatTensorsCannotHoldIsUnsupported) {
  // A TensorProto of one complex64: dims, data_type 14, raw_data.
  const fs::path input = output().parent_path() / "input_0.pb";
  ASSERT_TRUE(writeFile(input.string(), std::vector<uint8_t>{8, 1, 16, 14, 74, 1, 0}).isOk());
  const CaseResult result = run();
  EXPECT_EQ(result.status, CaseStatus::Unsupported);
  EXPECT_NE(result.reason.find("complex64"), std::string::npos) << result.reason;
}

TEST_F(ConformanceTest, OldDataSetsOfBf16AreRead) {
  const auto resultOf = [](const std::string& name) {
    const auto folders = findConformanceFolders({*packagedTestData() + "/node/" + name});
    const OpRegistry& registry = ops::builtinOps();
    return runConformance(folders->front(),
                          {&registry, &ops::builtinOnnxRules(), "reference", *createRuntime("reference")});
  };
  const CaseResult codes = resultOf("test_cast_BFLOAT16_to_FLOAT");  // its codes stand as u16
  EXPECT_EQ(codes.status, CaseStatus::Pass) << codes.reason;
  const CaseResult truncated = resultOf("test_cast_FLOAT_to_BFLOAT16");
  EXPECT_EQ(truncated.status, CaseStatus::Unsupported);
  EXPECT_NE(truncated.reason.find("truncated"), std::string::npos) << truncated.reason;
  const CaseResult other = resultOf("test_castlike_FLOAT_to_BFLOAT16");  // its data have another shape than its model
  EXPECT_EQ(other.status, CaseStatus::Unsupported);
  EXPECT_NE(other.reason.find("contradicts the model"), std::string::npos) << other.reason;
}

TEST_F(ConformanceTest, NothingToCompareFails) {
  fs::remove(output());
  EXPECT_EQ(run().status, CaseStatus::Fail);
  fs::remove_all(output().parent_path());
  const CaseResult result = run();
  EXPECT_EQ(result.status, CaseStatus::Fail);
  EXPECT_NE(result.reason.find("test_data_set"), std::string::npos);
}

TEST_F(ConformanceTest, ATruncatedModelFails) {
  const fs::path model = root_ / "node" / "test_relu" / "model.onnx";
  const auto bytes = readFile(model.string());
  ASSERT_TRUE(writeFile(model.string(), std::span(*bytes).first(bytes->size() / 2)).isOk());
  EXPECT_EQ(run().status, CaseStatus::Fail);
}

TEST(DeclaredModels, HaveTheirKindsAndAReason) {
  const auto zeros = declaredModel("test_bernoulli");
  ASSERT_TRUE(zeros);
  EXPECT_EQ(zeros->reason, "NumPy drew zeros and ones");
  EXPECT_TRUE(zeros->unjudgeable && zeros->checksZeros);
  EXPECT_FALSE(zeros->refusal || zeros->fallback);
  EXPECT_TRUE(declaredModel("test_adam_multiple")->unjudgeable);
  EXPECT_FALSE(declaredModel("test_adam_multiple")->checksZeros);
  EXPECT_TRUE(declaredModel("test_bernoulli_expanded")->checksZeros);
  EXPECT_TRUE(declaredModel("test_bernoulli_expanded")->fallback);
  EXPECT_TRUE(declaredModel("test_gradient_of_add")->refusal);
  EXPECT_FALSE(declaredModel("test_gradient_of_add")->unjudgeable);
  EXPECT_FALSE(declaredModel("test_bernoull"));
  EXPECT_FALSE(declaredModel("test_relu"));
}

TEST(DeclaredModels, AreInThePackage) {
  const auto data = packagedTestData();
  ASSERT_TRUE(data) << data.error().message();
  std::set<std::string> folders;
  const auto found = findConformanceFolders({*data});
  ASSERT_TRUE(found) << found.error().message();
  for (const ConformanceFolder& folder : *found) folders.insert(fs::path(folder.path).filename().string());
  std::istringstream lines(declaredModels());
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const std::string name = line.substr(0, line.find(" | "));
    EXPECT_TRUE(folders.contains(name)) << name;
    EXPECT_TRUE(declaredModel(name)) << line;
    ++count;
  }
  EXPECT_GT(count, 20u);
}

/// A model of the package under another name, judged as models of the package are.
CaseResult runAs(const std::string& model, const std::string& name, const std::string& backend) {
  const auto data = packagedTestData();
  const auto runtime = createRuntime(backend);
  EXPECT_TRUE(data && runtime) << data.error().message() << runtime.error().message();
  if (!data || !runtime) return {};
  const fs::path root = fs::path(testing::TempDir()) / "declared_models";
  fs::remove_all(root);
  fs::create_directories(root);
  fs::copy(fs::path(*data) / model, root / name, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const CaseResult result = runConformance(
      {(root / name).string(), name}, {&ops::builtinOps(), &ops::builtinOnnxRules(), backend, *runtime, nullptr, true});
  fs::remove_all(root);
  return result;
}

void expectUndeclared(const CaseResult& result, const std::string& part) {
  EXPECT_EQ(result.status, CaseStatus::Fail);
  EXPECT_NE(result.reason.find(part), std::string::npos) << result.reason;
}

TEST(DeclaredModels, UndeclaredRefusalsFail) {
  EXPECT_EQ(runAs("simple/test_gradient_of_add", "test_gradient_of_add", "cpu").status, CaseStatus::Unsupported);
  expectUndeclared(runAs("simple/test_gradient_of_add", "test_other", "cpu"), "refused, which no line declares");
  EXPECT_EQ(runAs("node/test_relu", "test_other", "cpu").status, CaseStatus::Pass);
  expectUndeclared(runAs("node/test_relu", "test_gradient_of_add", "cpu"), "declared to be refused");
}

#ifdef OPKIT_HAS_VULKAN
TEST(DeclaredModels, UndeclaredFallbacksFail) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const std::string declared = "test_pow_types_int";
  EXPECT_EQ(runAs("node/" + declared, declared, "vulkan").status, CaseStatus::Pass);
  EXPECT_EQ(runAs("node/" + declared, declared, "cpu").status, CaseStatus::Pass);
  expectUndeclared(runAs("node/" + declared, "test_other", "vulkan"), "Pow ran on another backend");
  expectUndeclared(runAs("node/test_relu", declared, "vulkan"), "declared to leave a node to the CPU");
}
#endif

TEST(DeclaredModels, UnjudgeableOutputsHaveTheirPropertiesNonetheless) {
  const DeclaredModel zeros{.unjudgeable = true, .checksZeros = true, .reason = ""};
  const auto floats = [](std::vector<float> values) {
    return *Tensor::fromValues<float>({DType::Float32, {static_cast<int64_t>(values.size())}}, values);
  };
  const OracleTensor expected = OracleTensor::fromTensor(floats({0, 2, 0, 2, 2, 0, 2, 0}));
  EXPECT_TRUE(checkUnjudgeable(zeros, expected, floats({2, 0, 2, 0, 2, 0, 2, 0})).isOk());
  EXPECT_FALSE(checkUnjudgeable(zeros, expected, floats({2, 1, 2, 0, 2, 0, 2, 0})).isOk()) << "neither 0 nor 2";
  EXPECT_FALSE(checkUnjudgeable(zeros, expected, floats({2, 0, 2, 0, 2, 0, 2})).isOk()) << "another shape";
  std::vector<float> half(2000, 0.0f), all(2000, 2.0f);
  std::fill_n(half.begin(), 1000, 2.0f);
  EXPECT_FALSE(checkUnjudgeable(zeros, OracleTensor::fromTensor(floats(half)), floats(all)).isOk()) << "no zeros";
}

TEST(Conformance, MissingDirectoryIsNamed) {
  const auto folders = findConformanceFolders({nowhere()});
  ASSERT_FALSE(folders);
  EXPECT_NE(folders.error().message().find(nowhere()), std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
