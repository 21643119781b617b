#include "harness/export/case_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/export/export_test_support.h"
#include "harness/export/round_trip.h"

namespace opkit::harness::case_folder {
namespace {

namespace fs = std::filesystem;
using namespace exporting;

class CaseFolder : public testing::Test {
 protected:
  fs::path write(const ExportedModel& model, const std::string& name = "one") {
    const auto bytes = writeCaseFolder(root_.string(), name, model);
    EXPECT_TRUE(bytes) << bytes.error().message();
    return root_ / name;
  }
  static Status roundTrip(const fs::path& folder, const ExportedModel& model) {
    return checkRoundTrip(folder.string(), model, ops::builtinOps(), ops::builtinOnnxRules());
  }
  static void expectSame(const fs::path& folder, const ExportedModel& model) {
    const Status same = roundTrip(folder, model);
    EXPECT_TRUE(same.isOk()) << same.message();
  }

  const fs::path root_ = emptyFolder();
};

TEST_F(CaseFolder, HoldsTheModelItsDataAndItsBounds) {
  const ExportedModel model = modelByHand({kSoftmax}, "Softmax", 13);
  const fs::path folder = write(model);
  EXPECT_EQ(filesIn(folder), (std::vector<std::string>{"bound.json", "model.onnx", "test_data_set_0/bound_0.pb",
                                                       "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb"}));
  EXPECT_EQ(filesIn(root_).size(), 5u);
  expectSame(folder, model);
  const OracleTensor& exact = model.sets[0].expected[0];
  const Tensor rounded = tensorIn(folder / "test_data_set_0/output_0.pb");
  const Tensor bounds = tensorIn(folder / "test_data_set_0/bound_0.pb");
  for (size_t i = 0; i < exact.real.size(); ++i) {
    EXPECT_EQ(rounded.data<float>()[i], static_cast<float>(exact.real[i]));
    EXPECT_EQ(bounds.data<double>()[i], model.sets[0].tolerances[0].bound[i] +
                                            std::fabs(static_cast<double>(rounded.data<float>()[i]) - exact.real[i]));
  }
}

TEST_F(CaseFolder, ExactOutputsHaveTheBoundZero) {
  const ExportedModel model = modelByHand({kRelu}, "Relu", 14);
  const fs::path folder = write(model);
  const auto file = readBoundFile(folder.string());
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->sets[0].outputs[0], (OutputBound{.name = "out0"}));
  EXPECT_EQ((*file)->sets[0].ask, std::vector<std::string>{"repeat"});
  EXPECT_FALSE(fs::exists(folder / "test_data_set_0/bound_0.pb"));
  expectSame(folder, model);
}

TEST_F(CaseFolder, BoundsCountFromTheRoundedValue) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  OracleTensor expected({DType::Float32, {5}});
  expected.real = {1 + 0x1p-30, 1 + 0x1p-30, 0.5, 1e300, kNan};
  const Tolerance tolerance{.bound = {0x1p-10, 0, 0x1p-10, kInfinity, kNan}};
  EXPECT_EQ(boundsOfRounded(expected, tolerance), (std::vector<double>{0x1p-10 + 0x1p-30, 0, 0x1p-10, 0, 0}));
  EXPECT_TRUE(boundsOfRounded(expected, {}).empty());
}

TEST_F(CaseFolder, SaysWhatAnEngineCanBeAsked) {
  ExportedModel model = modelByHand({kSoftmax, kSoftmaxLarger}, "Softmax", 13);
  model.sets[1].description.name = "rows around the work group";
  model.sets[0].description.name = "few columns";
  model.sets[1].hidden[0].assign(36, false);
  model.sets[0].hidden[0].assign(15, false);
  model.sets[0].hidden[0][4] = true;
  const fs::path folder = write(model);
  const auto file = readBoundFile(folder.string());
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->op, "Softmax");
  EXPECT_EQ((*file)->catches, "few columns");
  ASSERT_EQ((*file)->sets.size(), 2u);
  EXPECT_EQ((*file)->sets[0].ask, (std::vector<std::string>{"repeat", "resize", "hidden"}));
  EXPECT_EQ((*file)->sets[0].hidden, std::vector<std::string>{"hidden_0.pb"});
  EXPECT_EQ((*file)->sets[1].ask, (std::vector<std::string>{"repeat", "resize"}));
  EXPECT_EQ((*file)->sets[1].id, kSoftmaxLarger);
  const Tensor flags = tensorIn(folder / "test_data_set_0/hidden_0.pb");
  EXPECT_EQ(flags.desc, (TensorDesc{DType::Bool, {3, 5}}));
  EXPECT_EQ(toInt64(flags), (std::vector<int64_t>{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  expectSame(folder, model);
  const ExportedModel specials = modelByHand({kSoftmaxSpecials}, "Softmax", 13);
  const BoundFile described = boundFileOf(specials);
  EXPECT_EQ(described.sets[0].ask, (std::vector<std::string>{"repeat", "specials"}));
  EXPECT_TRUE(described.sets[0].outputs[0].byClass);
  expectSame(write(specials, "specials"), specials);
}

TEST_F(CaseFolder, TheRoundTripSeesEachDifference) {
  const ExportedModel model = modelByHand({kSoftmax}, "Softmax", 13);
  const fs::path folder = write(model), set = folder / "test_data_set_0";
  const auto expectDifference = [&](const std::string& file, const auto& change, const std::string& part) {
    const auto before = *readFile((folder / file).string());
    change(folder / file);
    const Status status = roundTrip(folder, model);
    EXPECT_NE(status.message().find(part), std::string::npos) << file << ": " << status.message();
    EXPECT_TRUE(writeFile((folder / file).string(), before).isOk());
  };
  const auto changeFirst = [](const fs::path& path) {
    const Tensor tensor = tensorIn(path);
    tensor.bytes()[0] ^= std::byte{1};
    putTensor(path, tensor);
  };
  expectDifference("test_data_set_0/input_0.pb", changeFirst, "input_0.pb");
  expectDifference("test_data_set_0/output_0.pb", changeFirst, "output_0.pb");
  expectDifference("test_data_set_0/bound_0.pb", changeFirst, "its bounds are read as others");
  expectDifference(
      "bound.json",
      [](const fs::path& path) {
        const auto bytes = *readFile(path.string());
        std::string text(bytes.begin(), bytes.end());
        text.replace(text.find("seed=7"), 6, "seed=8");
        putText(path, text);
      },
      "bound.json says something else");
  expectDifference(
      "model.onnx",
      [](const fs::path& path) {
        const ExportedModel other = modelByHand({kRelu}, "Relu", 14);
        EXPECT_TRUE(writeFile(path.string(), other.bytes).isOk());
      },
      "expected Softmax, read Relu");
  expectSame(folder, model);
}

TEST_F(CaseFolder, NamesAreShortAndPlain) {
  const auto nameOfId = [](const std::string& id) { return folderName(*parseCaseId(id)); };
  const auto begins = [](const std::string& name, const std::string& part) {
    EXPECT_EQ(name.substr(0, name.size() - 8), part) << name;
    EXPECT_EQ(name.find_first_not_of("0123456789abcdef", name.size() - 8), std::string::npos) << name;
  };
  begins(nameOfId(kSoftmax), "Softmax-f32-3x5-normal-");
  begins(nameOfId("Relu/f16[]/specials/seed=7"), "Relu-f16-scalar-specials-");
  begins(nameOfId("Clip/-,i8[2]/normal/seed=7"), "Clip-i8-2-normal-");
  EXPECT_NE(nameOfId(kSoftmax), nameOfId("Softmax/f32[3,5]/normal/seed=8"));
  Case plugin = *parseCaseId(kRelu);
  plugin.op = "com.acme::" + std::string(200, 'x') + "/../y";
  plugin.inputs[0]->shape.assign(40, 12345);
  EXPECT_LT(folderName(plugin).size(), 100u);
  EXPECT_EQ(folderName(plugin).find_first_of("./:"), std::string::npos) << folderName(plugin);
}

TEST_F(CaseFolder, ACollisionNamesBothCases) {
  const auto [c, other] = casesOfOneName();
  const Status status = checkFolderNames({{{other}}, {{c}}});
  EXPECT_NE(status.message().find(c.id()), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(other.id()), std::string::npos) << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  EXPECT_TRUE(checkFolderNames({{{c}}, {{c}}}).isOk()) << "one case may stand in two files";
}

TEST_F(CaseFolder, IsWholeOrNotThere) {
  const ExportedModel model = modelByHand({kRelu}, "Relu", 14);
  fs::create_directories(root_ / ".one.part/test_data_set_7");
  putText(root_ / ".one.part/junk", "of a killed run");
  EXPECT_FALSE(holdsOtherThanParts(root_.string()));
  const fs::path folder = write(model);
  EXPECT_FALSE(fs::exists(root_ / ".one.part"));
  EXPECT_FALSE(fs::exists(folder / "junk"));
  EXPECT_TRUE(holdsOtherThanParts(root_.string()));
  expectSame(folder, model);
  const auto twice = writeCaseFolder(root_.string(), "one", model);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message().find("exists already"), std::string::npos) << twice.error().message();
  const auto nowhere = writeCaseFolder((folder / "model.onnx").string(), "two", model);
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message().find("cannot make the folder"), std::string::npos) << nowhere.error().message();
  fs::create_directories(root_ / ".two.part/set");
  removePartFolders(root_.string());
  EXPECT_FALSE(fs::exists(root_ / ".two.part"));
  EXPECT_TRUE(fs::exists(folder));
}

}  // namespace
}  // namespace opkit::harness::case_folder
