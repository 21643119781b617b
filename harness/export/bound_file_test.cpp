// bound.json: what is written is read, what is malformed is refused in one line, and `conformance` judges by it.
#include "harness/export/bound_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/base/nesting.h"
#include "harness/conformance/conformance.h"
#include "harness/export/export_test_support.h"

namespace opkit::harness::bound_file {
namespace {

namespace fs = std::filesystem;
using namespace exporting;

BoundFile example() {
  return {.op = "Softmax",
          .onnx = "Softmax",
          .domain = "",
          .opset = 13,
          .catches = "few \"columns\"",
          .sets = {{.set = "test_data_set_0",
                    .id = kSoftmax,
                    .lane = "normal",
                    .ask = {"repeat", "resize"},
                    .hidden = {"hidden_0.pb"},
                    .outputs = {{.name = "out0", .bound = 0.25}, {.name = "out1", .file = "bound_1.pb"}}}}};
}

constexpr const char* kExampleText = R"({
  "opkit": 1,
  "operator": "Softmax",
  "onnx": "Softmax",
  "domain": "",
  "opset": 13,
  "catches": "few \"columns\"",
  "sets": [
    {
      "set": "test_data_set_0",
      "case": "Softmax/f32[3,5]/normal/seed=7",
      "lane": "normal",
      "ask": [
        "repeat",
        "resize"
      ],
      "hidden": [
        "hidden_0.pb"
      ],
      "outputs": [
        {
          "name": "out0",
          "compare": "values",
          "signOfZero": false,
          "bound": 0.25
        },
        {
          "name": "out1",
          "compare": "values",
          "signOfZero": false,
          "bound": "bound_1.pb"
        }
      ]
    }
  ]
}
)";

TEST(BoundFile, IsWrittenInOneForm) {
  EXPECT_EQ(toText(example()), kExampleText);
  const auto read = parseBoundFile(kExampleText);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, example());
  EXPECT_EQ(read->find("test_data_set_0"), &read->sets[0]);
  EXPECT_EQ(read->find("test_data_set_1"), nullptr);
}

TEST(BoundFile, NumbersAreReadAsTheyWere) {
  for (const double bound : {0.0, 0.1 + 0.2, 1.0 / 3, 0x1.23456789abcdfp-30, 5e-324, 0x1.fffffffffffffp1023, 1e22}) {
    BoundFile file = example();
    file.sets[0].outputs[0].bound = bound;
    const auto read = parseBoundFile(toText(file));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, file) << bound;
  }
}

TEST(BoundFile, WhatIsMalformedIsSaidInOneLine) {
  struct Change {
    const char *from, *to, *error;
  };
  const Change changes[] = {
      {"\"opkit\": 1", "\"opkit\": 2", "opkit: version 2 is newer than this build"},
      {"\"opkit\": 1", "\"opkit\": \"1\"", "opkit: expected a whole number from 1 on, got \"1\""},
      {"\"opkit\": 1,", "", "opkit: expected a whole number, found no such field"},
      {"\"operator\": \"Softmax\"", "\"operator\": null", "operator: expected a text, got null"},
      {"\"opset\": 13", "\"opset\": 0", "opset: expected a whole number from 1 on, got 0"},
      {"\"opset\": 13", "\"opset\": 13.5", "opset: expected a whole number from 1 on, got 13.5"},
      {"\"sets\": [", "\"sets\": [3, ", "sets[0]: expected an object, got 3"},
      {"test_data_set_0", "../test_data_set_0", "sets[0].set: expected the name of a file"},
      {"\"hidden_0.pb\"", "\"/etc/passwd\"", "sets[0].hidden: expected names of files, got \"/etc/passwd\""},
      {"\"repeat\"", "7", "sets[0].ask: expected texts, got 7"},
      {"\"values\"", "\"exactly\"", "sets[0].outputs[0].compare: expected \"values\" or \"class\", got \"exactly\""},
      {"\"signOfZero\": false", "\"signOfZero\": 0", "sets[0].outputs[0].signOfZero: expected true or false, got 0"},
      {"\"bound\": 0.25", "\"bound\": -0.25",
       "sets[0].outputs[0].bound: expected a number of at least 0 or the name of"},
      {"\"bound\": 0.25", "\"bound\": [1]", "got [1]"},
      {"\"bound\": 0.25", "\"bound\": 1e999", "a number exceeds a double"},
      {"\"bound_1.pb\"", "\"..\"", "sets[0].outputs[1].bound: expected the name of a file, got \"..\""},
      {"\"outputs\": [", "\"outputs\": 1, \"other\": [", "sets[0].outputs: expected a list, got 1"},
      {"  \"sets\"", "  \"sets\" 1", "this is no JSON"},
  };
  const fs::path folder = emptyFolder();
  for (const Change& change : changes) {
    std::string text = kExampleText;
    text.replace(text.find(change.from), std::string(change.from).size(), change.to);
    putText(folder / "bound.json", text);
    const auto read = readBoundFile(folder.string());
    ASSERT_FALSE(read) << change.to;
    const std::string message = read.error().message();
    EXPECT_NE(message.find(change.error), std::string::npos) << message;
    EXPECT_NE(message.find((folder / "bound.json").string()), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  for (const std::string& text : {std::string(), std::string("[]"), std::string(kMaxNesting + 1, '[')})
    EXPECT_FALSE(parseBoundFile(text)) << text;
  std::string twice = kExampleText;
  const size_t begin = twice.find("    {\n      \"set\""), end = twice.find("\n    }\n", begin) + 6;
  twice.insert(end, ",\n" + twice.substr(begin, end - begin));
  EXPECT_NE(parseBoundFile(twice).error().message().find("sets[1].set: 'test_data_set_0' is there twice"),
            std::string::npos);
}

TEST(BoundFile, AFolderNeedsNone) {
  const auto read = readBoundFile(emptyFolder().string());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_FALSE(*read);
}

TEST(BoundFile, BoundsFitTheirOutput) {
  const fs::path folder = emptyFolder();
  const OracleTensor expected({DType::Float32, {2}}), integers({DType::Int64, {2}});
  const OutputBound inFile{.name = "out0", .file = "bound_0.pb"};
  const auto errorOf = [&](const OutputBound& output, const OracleTensor& values) {
    const auto tolerance = toleranceFrom(output, folder.string(), values);
    return tolerance ? std::string("none") : tolerance.error().message();
  };
  EXPECT_NE(errorOf(inFile, expected).find("bound_0.pb"), std::string::npos) << "there is no such file";
  const auto put = [&](const TensorDesc& desc, const std::vector<double>& bounds) {
    putTensor(folder / "bound_0.pb", *Tensor::fromValues<double>(desc, bounds));
  };
  put({DType::Float64, {2}}, {0.5, 0});
  const auto tolerance = toleranceFrom(inFile, folder.string(), expected);
  ASSERT_TRUE(tolerance) << tolerance.error().message();
  EXPECT_EQ(tolerance->bound, (std::vector<double>{0.5, 0}));
  EXPECT_TRUE(std::isinf(tolerance->nmseGate));
  put({DType::Float64, {1, 2}}, {0.5, 0});
  EXPECT_NE(errorOf(inFile, expected).find("expected f64[2], a bound per element, got f64[1,2]"), std::string::npos);
  for (const double bound : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    put({DType::Float64, {2}}, {0.5, bound});
    EXPECT_NE(errorOf(inFile, expected).find("bounds of at least 0"), std::string::npos);
  }
  EXPECT_EQ(errorOf({.name = "out0"}, integers), "none");
  EXPECT_NE(errorOf({.name = "out0", .bound = 1}, integers).find("expected \"values\" with the bound 0"),
            std::string::npos);
}

/// A folder that `conformance` runs on the CPU.
class BoundedConformance : public testing::Test {
 protected:
  void write(const std::string& id, const std::string& type, int opset) {
    const auto bytes = writeCaseFolder(root_.string(), "one", modelByHand({id}, type, opset));
    ASSERT_TRUE(bytes) << bytes.error().message();
    first_ = tensorIn(output());
  }
  fs::path output() const { return root_ / "one/test_data_set_0/output_0.pb"; }
  CaseResult run() const {
    return runConformance({(root_ / "one").string(), "one"},
                          {&ops::builtinOps(), &ops::builtinOnnxRules(), "cpu", *createRuntime("cpu")});
  }
  /// With another expected value of element i.
  CaseResult runWith(size_t i, double value) const {
    const Tensor changed = *copyOf(first_);
    changed.data<float>()[i] = static_cast<float>(value);
    putTensor(output(), changed);
    return run();
  }
  void changeBounds(const std::string& from, const std::string& to) const {
    const auto bytes = *readFile((root_ / "one/bound.json").string());
    std::string text(bytes.begin(), bytes.end());
    text.replace(text.find(from), from.size(), to);
    putText(root_ / "one/bound.json", text);
  }

  const fs::path root_ = emptyFolder();
  Tensor first_;
};

TEST_F(BoundedConformance, EachElementHasItsBound) {
  write(kSoftmax, "Softmax", 13);
  EXPECT_EQ(run().status, CaseStatus::Pass) << run().reason;
  const Tensor bounds = tensorIn(root_ / "one/test_data_set_0/bound_0.pb");
  for (const size_t i : {size_t{0}, size_t{7}, size_t{14}}) {
    const double value = first_.data<float>()[i], bound = bounds.data<double>()[i];
    for (const double sign : {-1.0, 1.0}) {
      EXPECT_EQ(runWith(i, value + sign * bound / 2).status, CaseStatus::Pass) << run().reason;
      const CaseResult wrong = runWith(i, value + sign * 2 * bound);
      EXPECT_EQ(wrong.status, CaseStatus::Fail) << "far below the 1e-3 of other folders";
      EXPECT_NE(wrong.reason.find("test_data_set_0 output 'out0'"), std::string::npos) << wrong.reason;
    }
  }
  EXPECT_EQ(runWith(0, std::numeric_limits<double>::quiet_NaN()).status, CaseStatus::Fail);
}

TEST_F(BoundedConformance, ZeroMeansTheVeryValue) {
  write(kRelu, "Relu", 14);
  EXPECT_EQ(run().status, CaseStatus::Pass) << run().reason;
  const size_t i = 5;
  EXPECT_EQ(runWith(i, first_.data<float>()[i] + 1e-4).status, CaseStatus::Fail);
  changeBounds("\"bound\": 0.0", "\"bound\": 0.001");
  EXPECT_EQ(run().status, CaseStatus::Pass) << run().reason;
}

TEST_F(BoundedConformance, ByClassFiniteValuesAreEqual) {
  write(kSoftmaxSpecials, "Softmax", 13);
  EXPECT_EQ(run().status, CaseStatus::Pass) << run().reason;
  std::optional<size_t> finite, nan;
  for (size_t i = 0; i < first_.data<float>().size(); ++i) (std::isfinite(first_.data<float>()[i]) ? finite : nan) = i;
  ASSERT_TRUE(finite && nan);
  EXPECT_EQ(runWith(*finite, 1000).status, CaseStatus::Pass) << run().reason;
  EXPECT_EQ(runWith(*finite, std::numeric_limits<double>::infinity()).status, CaseStatus::Fail);
  EXPECT_EQ(runWith(*nan, 0).status, CaseStatus::Fail);
}

TEST_F(BoundedConformance, EveryListedSetMustBeThere) {
  write(kRelu, "Relu", 14);
  changeBounds("\"sets\": [", R"("sets": [{"set": "test_data_set_1", "case": "", "lane": "", "ask": [], "hidden": [],
                                          "outputs": []},)");
  EXPECT_NE(run().reason.find("bound.json lists 'test_data_set_1', which is not there"), std::string::npos)
      << run().reason;
  EXPECT_EQ(run().status, CaseStatus::Fail);
}

TEST_F(BoundedConformance, TheFileListsTheOutputsOfTheModelAlone) {
  write(kRelu, "Relu", 14);
  changeBounds("\"outputs\": [",
               R"("outputs": [{"name": "out1", "compare": "values", "signOfZero": false, "bound": 0},)");
  EXPECT_NE(run().reason.find("bound.json lists 2 outputs, the model has 1"), std::string::npos) << run().reason;
}

TEST_F(BoundedConformance, ABrokenLinkIsNoMissingFile) {
  write(kRelu, "Relu", 14);
  fs::rename(root_ / "one/bound.json", root_ / "elsewhere");
  EXPECT_EQ(run().status, CaseStatus::Pass) << "by the tolerances of ONNX: " << run().reason;
  fs::create_symlink("nowhere", root_ / "one/bound.json");
  EXPECT_EQ(run().status, CaseStatus::Fail);
}

TEST_F(BoundedConformance, HiddenFoldersOfARunAreNoTests) {
  write(kRelu, "Relu", 14);
  fs::copy(root_ / "one", root_ / ".one.part", fs::copy_options::recursive);
  const auto folders = findConformanceFolders({root_.string()});
  ASSERT_TRUE(folders) << folders.error().message();
  ASSERT_EQ(folders->size(), 1u);
  EXPECT_EQ((*folders)[0].id, "one");
}

TEST_F(BoundedConformance, TheFileMustListEverySetAndOutput) {
  write(kRelu, "Relu", 14);
  changeBounds("\"out0\"", "\"out1\"");
  EXPECT_NE(run().reason.find("bound.json does not list this output"), std::string::npos) << run().reason;
  fs::copy(root_ / "one/test_data_set_0", root_ / "one/test_data_set_00", fs::copy_options::recursive);
  changeBounds("\"out1\"", "\"out0\"");
  EXPECT_NE(run().reason.find("bound.json does not list this data set"), std::string::npos) << run().reason;
  changeBounds("\"opkit\"", "\"opkat\"");
  EXPECT_NE(run().reason.find("bound.json: opkit: expected"), std::string::npos) << run().reason;
  EXPECT_EQ(run().status, CaseStatus::Fail);
}

}  // namespace
}  // namespace opkit::harness::bound_file
