#include "harness/run/source_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

class SourceTable : public testing::Test {
 protected:
  SourceTable() : root_(fs::path(testing::TempDir()) / "source_table") {
    fs::remove_all(root_);
    for (const char* path : {"CMakeLists.txt", "ops/relu/relu.cpp", "ops/relu/relu_test.cpp", "shaders/a/a.comp",
                             "ops/relu/relu.cases.json", "ops/relu/relu.md"})
      write(path, "before");
    built_ = sourcesOf(root_.string());
    for (const SourceFile& file : built_) hashes_.push_back({file.path, file.hash});
  }
  ~SourceTable() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::vector<std::string> changed() const { return changedSources(hashes_, root_.string()); }

  fs::path root_;
  std::vector<SourceFile> built_;
  std::vector<SourceHash> hashes_;
};

TEST_F(SourceTable, TheTreeThatWasBuiltIsTheSame) {
  EXPECT_EQ(hashes_.size(), 3u) << "neither tests nor pages";
  EXPECT_TRUE(changed().empty());
  write("ops/relu/relu.cpp", "before");  // saved again
  write("ops/relu/relu_test.cpp", "after");
  write("ops/relu/relu.md", "after");
  EXPECT_TRUE(changed().empty());
}

TEST_F(SourceTable, WhatChangedAppearedAndVanishedIsNamed) {
  write("ops/relu/relu.cpp", "after");
  EXPECT_EQ(changed(), std::vector<std::string>{"ops/relu/relu.cpp"});
  write("engine/a.h", "new");
  fs::remove(root_ / "shaders/a/a.comp");
  EXPECT_EQ(changed(), (std::vector<std::string>{"ops/relu/relu.cpp", "engine/a.h", "shaders/a/a.comp"}));
  EXPECT_EQ(listOf(changed()), "ops/relu/relu.cpp and 2 more");
}

TEST_F(SourceTable, NothingVanishedFromACopyOfAPart) {
  fs::remove(root_ / "CMakeLists.txt");
  fs::remove(root_ / "shaders/a/a.comp");
  EXPECT_TRUE(changed().empty());
  write("ops/relu/relu.cpp", "after");
  EXPECT_EQ(changed(), std::vector<std::string>{"ops/relu/relu.cpp"});
}

TEST_F(SourceTable, WithoutATreeThereIsNothingToCompare) {
  EXPECT_TRUE(changedSources(hashes_, (root_ / "none").string()).empty());
}

}  // namespace
}  // namespace opkit::harness
