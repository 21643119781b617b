// Models of one node whose terms cancel: NumPy's sums in floats differ from the exact ones near zero.
#include "harness/conformance/node_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "harness/conformance/conformance.h"
#include "harness/conformance/learning_network.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using learning::Floats;

constexpr int64_t kTerms = 64;

/// Terms around `centre` whose second half is the first half, negated about it and in another order.
Floats cancelling(float centre) {
  Floats values(kTerms);
  for (size_t i = 0; i < kTerms / 2; ++i) {
    values[i] = centre + 700.0f * std::sin(static_cast<float>(i) + 1.0f);
    values[kTerms - 1 - (i * 7) % (kTerms / 2)] = centre - (values[i] - centre);
  }
  return values;
}

/// As NumPy adds few elements: one after another.
float sumOf(const Floats& values) { return std::accumulate(values.begin(), values.end(), 0.0f); }

/// A row to mean 0 and variance 1 in floats, by its formula.
Floats normalised(const Floats& x) {
  const float mean = sumOf(x) / static_cast<float>(x.size());
  Floats squares;
  for (const float value : x) squares.push_back((value - mean) * (value - mean));
  const float deviation = std::sqrt(sumOf(squares) / static_cast<float>(x.size()) + 1e-5f);
  Floats y;
  for (const float value : x) y.push_back((value - mean) / deviation);
  return y;
}

struct Case {
  learning::Network network;
  std::vector<std::string> inputs;  // in the order of the data set
  Tensor expected;
  float wrong;  // an error that no rounding explains
};

class NodeBoundTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  /// Of the folder `id`, where element 0 of the expected output is off by `error`.
  CaseResult run(const Case& c, float error, const std::string& id = "one") {
    const fs::path folder = root_ / id, set = folder / "test_data_set_0";
    fs::create_directories(set);
    onnx::ModelProto proto = *learning::protoOf(c.network);
    proto.mutable_opset_import(0)->set_version(17);
    const std::string text = proto.SerializeAsString();
    const auto save = [](const fs::path& path, std::span<const uint8_t> bytes) {
      EXPECT_TRUE(writeFile(path.string(), bytes).isOk());
    };
    save(folder / "model.onnx", {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    for (size_t i = 0; i < c.inputs.size(); ++i)
      save(set / fmt::format("input_{}.pb", i), *tensorToProto(c.network.inputs.at(c.inputs[i])));
    const std::span<const float> right = c.expected.data<float>();
    Floats values(right.begin(), right.end());
    values[0] += error;
    const Tensor expected = learning::floats(c.expected.desc.shape, values);
    save(set / "output_0.pb", *tensorToProto(expected));
    return runConformance({folder.string(), id},
                          {&ops::builtinOps(), &ops::builtinOnnxRules(), "reference", *createRuntime("reference")});
  }

  void expectBounded(const Case& c) {
    const CaseResult right = run(c, 0);
    EXPECT_EQ(right.status, CaseStatus::Pass) << right.reason;
    for (const float sign : {-1.0f, 1.0f}) EXPECT_EQ(run(c, sign * c.wrong).status, CaseStatus::Fail);
    EXPECT_EQ(run(c, 0, "node/test_cancels").status, CaseStatus::Fail) << "ONNX's own tests keep their tolerances";
  }

  fs::path root_;
};

TEST_F(NodeBoundTest, OfASum) {
  const Floats x = cancelling(0);
  ASSERT_NE(sumOf(x), 0.0f);
  expectBounded({{.inputs = {{"x", learning::floats({kTerms}, x)}},
                  .steps = {{"ReduceSum", {"x", "axes"}, {"y"}, {}, ""}},
                  .outputs = {"y"},
                  .constants = {{"axes", learning::integers({1}, {0})}}},
                 {"x"},
                 learning::floats({1}, {sumOf(x)}),
                 1});
}

TEST_F(NodeBoundTest, OfAProduct) {
  const Floats x = cancelling(0);
  expectBounded(
      {{.inputs = {{"a", learning::floats({1, kTerms}, x)}, {"b", learning::floats({kTerms, 1}, Floats(kTerms, 3.0f))}},
        .steps = {{"MatMul", {"a", "b"}, {"y"}, {}, ""}},
        .outputs = {"y"}},
       {"a", "b"},
       learning::floats({1, 1}, {3.0f * sumOf(x)}),
       3});
}

TEST_F(NodeBoundTest, OfANorm) {
  const Floats x = cancelling(1e5f);
  expectBounded({{.inputs = {{"x", learning::floats({1, kTerms}, x)}},
                  .steps = {{"LayerNormalization", {"x", "scale"}, {"y"}, {}, ""}},
                  .outputs = {"y"},
                  .constants = {{"scale", learning::floats({kTerms}, Floats(kTerms, 1.0f))}}},
                 {"x"},
                 learning::floats({1, kTerms}, normalised(x)),
                 0.1f});
}

TEST_F(NodeBoundTest, OfTwoNodesThereIsNone) {
  const Floats x = cancelling(0);
  EXPECT_EQ(run({{.inputs = {{"x", learning::floats({kTerms}, x)}},
                  .steps = {{"Neg", {"x"}, {"z"}, {}, ""}, {"ReduceSum", {"z", "axes"}, {"y"}, {}, ""}},
                  .outputs = {"y"},
                  .constants = {{"axes", learning::integers({1}, {0})}}},
                 {"x"},
                 learning::floats({1}, {-sumOf(x)}),
                 1},
                0)
                .status,
            CaseStatus::Fail);
}

}  // namespace
}  // namespace opkit::harness
