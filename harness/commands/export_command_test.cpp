// `op-harness export` as a user runs it: what is refused, what a killed run leaves, and folders that `conformance`
// takes.
#include <gtest/gtest.h>

#include <csignal>

#include "harness/export/export_test_support.h"
#include "harness/testing/program.h"

namespace opkit::harness::export_command {
namespace {

namespace fs = std::filesystem;
using namespace exporting;

class ProgramExport : public testing::Test {
 protected:
  Ran exportTo(const std::string& options) const { return run("export " + options + " " + folder_.string()); }
  fs::path folderOf(const std::string& id) const { return folder_ / folderName(*parseCaseId(id)); }

  /// Every folder is whole, and nothing else is there.
  size_t wholeFolders() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << entry.path();
      EXPECT_TRUE(fs::exists(entry.path() / "bound.json")) << entry.path();
      EXPECT_TRUE(fs::exists(entry.path() / "model.onnx")) << entry.path();
      ++count;
    }
    return count;
  }

  const fs::path folder_ = emptyFolder() / "exported";
};

TEST_F(ProgramExport, FoldersPassConformance) {
  const Ran ran = exportTo("--op Softmax --jobs 2");
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, " cases of 1 operators in ");
  EXPECT_GT(wholeFolders(), 5u);
  const Ran judged = run("conformance --backend cpu " + folder_.string());
  EXPECT_EQ(judged.code, 0) << judged.text;
}

TEST_F(ProgramExport, ShardsAreAPartition) {
  ASSERT_EQ(exportTo("--op Relu").code, 0);
  const auto all = filesIn(folder_);
  std::vector<std::string> parts;
  for (const char* shard : {"1/2", "2/2"}) {
    fs::remove_all(folder_);
    ASSERT_EQ(exportTo(std::string("--op Relu --shard ") + shard).code, 0);
    for (const std::string& file : filesIn(folder_)) parts.push_back(file);
  }
  std::ranges::sort(parts);
  EXPECT_EQ(parts, all);
}

TEST_F(ProgramExport, ASampleIsAPartOfTheCases) {
  ASSERT_EQ(exportTo("--op Relu").code, 0);
  const size_t all = wholeFolders();
  fs::remove_all(folder_);
  ASSERT_EQ(exportTo("--op Relu --sample --written").code, 0);
  EXPECT_GT(wholeFolders(), 0u);
  EXPECT_LT(wholeFolders(), all);
}

TEST_F(ProgramExport, OneCaseIsOneFolder) {
  const Ran ran = exportTo(std::string("--case '") + kSoftmax + "'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "1 cases of 1 operators in 1 folders");
  EXPECT_TRUE(fs::exists(folderOf(kSoftmax) / "model.onnx"));
  EXPECT_EQ(wholeFolders(), 1u);
}

TEST_F(ProgramExport, ACaseWithoutAFormIsSaidInOneLine) {
  const std::string id = "AttentionScores/f32[1,1,2,4],f32[1,1,3,4]/normal/seed=7";  // a part of Attention
  expectOneLine(exportTo("--case '" + id + "'"), id + ": no form in ONNX: ");
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(ProgramExport, BadInputsAreSaidInOneLine) {
  expectOneLine(exportTo("--op Nope"), "no such operator");
  expectOneLine(exportTo("--case 'Softmax/f32[3,/normal'"), "case");
  expectOneLine(exportTo("--op Relu --opset 0"), "--opset: expected a whole number");
  expectOneLine(exportTo("--op Relu --shard 3/2"), "--shard expects I/N");
  expectOneLine(exportTo("--sample --budget 5"), "excludes");
  expectOneLine(run("export --op Relu"), "DIR");
  expectOneLine(run("export --op Relu " + fileWith("export_file", "")), "export_file");
  EXPECT_FALSE(fs::exists(folder_));
  const Ran none = exportTo("--filter 'no such case'");
  EXPECT_EQ(none.code, 3) << none.text;
  expectPart(none, "no case was selected");
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(ProgramExport, AFolderWithOtherFilesStaysAsItWas) {
  fs::create_directories(folder_ / ".Relu.part");
  putText(folder_ / "notes.txt", "mine");
  expectOneLine(exportTo("--op Relu"), "is not empty, or cannot be read: expected a new folder");
  EXPECT_EQ(filesIn(folder_), std::vector<std::string>{"notes.txt"});
  EXPECT_TRUE(fs::exists(folder_ / ".Relu.part"));
}

TEST_F(ProgramExport, WhatAKilledRunLeftIsRemoved) {
  fs::create_directories(folder_ / ".Relu-f32-3x4-normal-00000000.part/test_data_set_0");
  putText(folder_ / ".Relu-f32-3x4-normal-00000000.part/model.onnx", "half");
  const Ran ran = exportTo(std::string("--case '") + kRelu + "'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_EQ(wholeFolders(), 1u);
}

TEST_F(ProgramExport, AnInterruptLeavesWholeFolders) {
  const Catalogue catalogue = *builtinCatalogue(ops::builtinOps(), {"Add"});
  const auto group = std::ranges::find_if(catalogue.groups, [](const auto& one) { return one.cases[0].op == "Add"; });
  const std::string first = group->cases[0].id();
  const Ran ran = runUntil("export --jobs 2 --op Add,Conv,MatMul,Softmax " + folder_.string(),
                           (folderOf(first) / "bound.json").string(), "opkit", SIGINT);
  EXPECT_EQ(ran.code, 130) << ran.text;
  const size_t count = wholeFolders();
  EXPECT_GE(count, 1u);
  expectPart(ran, fmt::format("interrupted: {} folders are whole", count));
}

TEST_F(ProgramExport, ACollisionOfNamesNamesBothCases) {
  const auto [first, second] = casesOfOneName();
  const auto entry = [](uint64_t seed) {
    return fmt::format(R"({{"name": "seed {0}", "op": "Relu", "inputs": [["f32[3,4]"]], "seed": {0}}})", seed);
  };
  const std::string file = fileWith("export_collision.cases.json",
                                    fmt::format(R"({{"cases": [{}, {}]}})", entry(first.seed), entry(second.seed)));
  const Ran ran = exportTo("--cases " + file);
  expectOneLine(ran, first.id() + " and " + second.id());
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(ProgramExport, ARoundTripLeavesNothing) {
  const Ran ran = exportTo("--op Relu,Softmax,Slice,Concat --round-trip");
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, " equal in values (imported as other nodes or constants), 0 differ, ");
  EXPECT_FALSE(fs::exists(folder_));
}

/// The tenth of the day; the part `export` of the night takes all.
TEST_F(ProgramExport, WrittenCasesComeBack) {
  const char* variable = std::getenv("OPKIT_DAY");
  const uint64_t day =
      variable ? std::strtoull(variable, nullptr, 10) : static_cast<uint64_t>(std::time(nullptr)) / 86400;
  const Ran ran = exportTo(fmt::format("--round-trip --shard {}/10", 1 + day % 10));
  EXPECT_EQ(ran.code, 0) << ran.text;
  size_t cases = 0, operators = 0, equal = 0, values = 0;
  const size_t line = ran.text.find(" equal in values");
  ASSERT_NE(line, std::string::npos) << ran.text;
  const std::string counts = ran.text.substr(ran.text.rfind('\n', line) + 1);
  ASSERT_EQ(
      std::sscanf(counts.c_str(), "%zu cases of %zu operators: %zu equal, %zu", &cases, &operators, &equal, &values), 4)
      << counts;
  EXPECT_GT(operators, 120u) << counts;
  EXPECT_GT(10 * (equal + values), 8 * cases) << counts;  // of all written cases 87 of 100 have a form
  EXPECT_GT(10 * equal, 7 * cases) << counts;
}

TEST_F(ProgramExport, ARoundTripKeepsAFolderThatWasThere) {
  const fs::path other = folder_.parent_path() / "other";
  fs::create_directories(other);
  fs::create_directory_symlink(other, folder_);
  EXPECT_EQ(exportTo(std::string("--round-trip --case '") + kRelu + "'").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_));
  EXPECT_TRUE(fs::is_empty(other));
}

}  // namespace
}  // namespace opkit::harness::export_command
