// Capsules as models: the folder that `check --save` writes beside one, and `export --capsule`.
#include "harness/export/capsule_folder.h"

#include <gtest/gtest.h>

#include "engine/base/where.h"
#include "harness/check/shrink.h"
#include "harness/conformance/conformance.h"
#include "harness/export/export_test_support.h"
#include "harness/export/folder_lock.h"
#include "harness/testing/program.h"

namespace opkit::harness::capsule_folder {
namespace {

namespace fs = std::filesystem;
using namespace exporting;

constexpr const char* kNoForm = "AttentionScores/f32[1,1,2,4],f32[1,1,3,4]/normal/seed=7";

class CapsuleFolderTest : public testing::Test {
 protected:
  static CaseGroup groupOf(const std::vector<std::string>& ids) {
    CaseGroup group;
    for (const std::string& id : ids) group.cases.push_back(*parseCaseId(id));
    return group;
  }
  CapsuleFolder write(const CaseGroup& group) const {
    return writeCapsuleFolder((root_ / "one.opcase").string(), group, ops::builtinOps(), ops::builtinOnnxRules());
  }
  void expectStays(const std::string& part) const {
    const CapsuleFolder written = write(groupOf({kRelu}));
    EXPECT_EQ(written.path, "");
    EXPECT_NE(written.reason.find(part), std::string::npos) << written.reason;
  }
  static size_t setsIn(const fs::path& folder) {
    const auto file = readBoundFile(folder.string());
    EXPECT_TRUE(file && *file) << folder;
    return file && *file ? (*file)->sets.size() : 0;
  }

  const fs::path root_ = emptyFolder(), folder_ = root_ / "one";
};

TEST_F(CapsuleFolderTest, ALaterRunReplacesIt) {
  EXPECT_EQ(write(groupOf({kSoftmax, kSoftmaxLarger})).cases, 2u);
  EXPECT_EQ(setsIn(folder_), 2u);
  fs::create_directories(root_ / ".one.part/of a killed run");
  fs::create_directories(root_ / ".one.old.part");
  EXPECT_EQ(write(groupOf({kRelu})).path, folder_.string());
  EXPECT_EQ(filesIn(root_),
            (std::vector<std::string>{"one/bound.json", "one/model.onnx", "one/test_data_set_0/input_0.pb",
                                      "one/test_data_set_0/output_0.pb"}));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 1);
}

TEST_F(CapsuleFolderTest, ItIsThatOfTheFailingCase) {
  const CapsuleFolder written = write(groupOf({kRelu, kNoForm}));
  EXPECT_EQ(written.cases, 1u);
  EXPECT_EQ((*readBoundFile(folder_.string()))->sets[0].id, kRelu);
}

TEST_F(CapsuleFolderTest, WithoutAFormThereIsNoneAndTheReasonIsSaid) {
  write(groupOf({kRelu}));
  const CapsuleFolder written = write(groupOf({kNoForm, kRelu}));
  EXPECT_EQ(written.path, "");
  EXPECT_EQ(written.reason, "no operator of ONNX: AttentionScores is OpKit's own");
  EXPECT_TRUE(fs::is_empty(root_)) << "the older folder is of another capsule";
}

TEST_F(CapsuleFolderTest, WhatIsNoSuchFolderStays) {
  putText(folder_, "mine");
  expectStays("is no folder with a bound.json");
  EXPECT_EQ(textOf(folder_.string()), "mine");
  fs::remove(folder_);
  fs::create_directories(folder_);
  putText(folder_ / "notes", "mine");
  expectStays("is no folder with a bound.json");
  write(groupOf({kNoForm}));
  EXPECT_TRUE(fs::exists(folder_ / "notes"));
  fs::rename(folder_, root_ / "other");
  putText(root_ / "other/bound.json", "{}");
  fs::create_directory_symlink("other", folder_);
  expectStays("is no folder with a bound.json");
  EXPECT_TRUE(fs::is_symlink(folder_));
  EXPECT_TRUE(fs::exists(root_ / "other/notes"));
}

TEST_F(CapsuleFolderTest, OneProcessAtATimeWrites) {
  const auto first = FolderLock::tryTake(root_.string());
  ASSERT_TRUE(first) << first.error().message();
  expectOneLine(run("export --op Relu " + root_.string()), "another process writes into the folder");
  EXPECT_FALSE(FolderLock::tryTake((root_ / "none").string()));
}

TEST_F(CapsuleFolderTest, AFailureOfAKernelIsHandedOver) {
  const std::string plugin = " --plugin " + partOfBuild(OPKIT_FAULTY) + "/libfaulty_kernels.so ";
  const std::string saved = (root_ / "saved").string(), cases = fileWith("capsule_folder.cases.json", R"({"cases": [
      {"op": "Relu", "inputs": [["f32[33]"], ["f32[5,7]"], ["f32[3,4]"]]}]})");
  const std::string faulty = "OPKIT_KERNEL_FAULT=wrong " + opHarness();
  const Ran ran = runShell(faulty + " check --backend cpu" + plugin + "--cases " + cases + " --save " + saved);
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "\nmodel    " + saved + "/Relu-cpu-accuracy\n");
  const auto capsule = readCapsule(saved + "/Relu-cpu-accuracy.opcase", ops::builtinOps());
  ASSERT_TRUE(capsule) << capsule.error().message();

  const PreparedCase prepared = prepareCase(capsule->group.cases[0], ops::builtinOps());
  const Tensor held = tensorIn(saved + "/Relu-cpu-accuracy/test_data_set_0/output_0.pb");
  EXPECT_TRUE(sameBits({*roundedOutput(prepared.expected[0])}, {held}).isOk()) << "not the oracle's values";
  EXPECT_EQ(run("conformance --backend cpu " + saved).code, 0) << "with the right kernel";
  const Ran again = runShell(faulty + " conformance --backend cpu" + plugin + saved);
  EXPECT_EQ(again.code, 1) << again.text;

  const std::string exported = (root_ / "exported").string();
  const Ran other = run("export --capsule " + saved + "/Relu-cpu-accuracy.opcase " + exported);
  EXPECT_EQ(other.code, 0) << other.text;
  EXPECT_EQ(filesIn(exported + "/" + folderName(capsule->group.cases[0])), filesIn(saved + "/Relu-cpu-accuracy"));
}

TEST_F(CapsuleFolderTest, BoundsAndStoredValuesAreThoseOfTheCapsule) {
  Capsule capsule{"cpu", "accuracy", "why", "", "", groupOf({"Exp/f32[2]/normal/seed=7/data=[{\"values\":[0,1]}]"}),
                  ""};
  Case& c = capsule.group.cases[0];
  c.boundScale = 1e6;
  c.source = "a table";
  const std::string file = (root_ / "stored.opcase").string();
  const auto exported = [&](const char* values) {
    c.expected = {values};
    EXPECT_TRUE(writeCapsule(file, capsule).isOk());
    return run("export --capsule " + file + " " + folder_.string());
  };
  expectOneLine(exported(R"({"values": [1, 27]})"), "stored.opcase: no form in ONNX: no expected values: ");
  const Ran ran = exported(R"({"values": [1, 2.718281828459045]})");
  ASSERT_EQ(ran.code, 0) << ran.text;
  const fs::path folder = folder_ / folderName(c), set = folder / "test_data_set_0";
  const OracleTensor expected = prepareCase(c, ops::builtinOps()).expected[0];
  const Tolerance tolerance = toleranceOf(*ops::builtinOps().find("Exp"), c.lane, expected, c.boundScale);
  const auto bounds = readBoundFile(folder.string());
  ASSERT_TRUE(bounds && *bounds);
  EXPECT_EQ(toleranceFrom((*bounds)->sets[0].outputs[0], set.string(), expected)->bound,
            boundsOfRounded(expected, tolerance));
  const Tensor changed = tensorIn(set / "output_0.pb");
  changed.data<float>()[1] = 2.75f;
  putTensor(set / "output_0.pb", changed);
  EXPECT_EQ(run("conformance --backend cpu " + folder_.string()).code, 0) << "near enough under such a bound";
}

TEST_F(CapsuleFolderTest, BadCapsulesAreSaidInOneLine) {
  const auto exportOf = [&](const std::string& file, const std::string& more = "") {
    return run("export --capsule " + file + " " + more + " " + folder_.string());
  };
  expectOneLine(exportOf((root_ / "none.opcase").string()), "none.opcase");
  expectOneLine(exportOf(fileWith("capsule_bad.opcase", "{")), "capsule_bad.opcase: expected a capsule");
  expectOneLine(exportOf(root_.string()), "it is a folder");
  expectOneLine(exportOf(fileWith("capsule_any.opcase", "{}"), "--op Relu"), "excludes");
  const auto withScale = [&](const char* scale) {
    return exportOf(fileWith("capsule_scale.opcase",
                             fmt::format(R"({{"opcase": 1, "cases": ["{}"], "boundScale": {}}})", kSoftmax, scale)));
  };
  expectOneLine(withScale("-1"), "boundScale");
  Capsule capsule{"cpu", "accuracy", "why", "", "", groupOf({kNoForm}), ""};
  const std::string file = (root_ / "none.opcase").string();
  ASSERT_TRUE(writeCapsule(file, capsule).isOk());
  expectOneLine(exportOf(file), "none.opcase: no form in ONNX: no operator of ONNX");
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace opkit::harness::capsule_folder
