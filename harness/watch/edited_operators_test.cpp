#include "harness/watch/edited_operators.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/base/child_process.h"
#include "harness/run/build_facts.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

std::set<std::string> operatorsOfOne(const std::string& path) {
  return operatorsOfFiles({path}, sourceFolder(), ops::builtinOps());
}

TEST(EditedOperators, AreThoseThatAFileIsPartOf) {
  EXPECT_EQ(operatorsOfOne("ops/one_hot/one_hot_cpu.cpp"), std::set<std::string>{"OneHot"});
  EXPECT_EQ(operatorsOfOne("ops/one_hot/one_hot.cases.json"), std::set<std::string>{"OneHot"});
  const auto users = operatorsOfOne("ops/gemm/gemm_thin_vulkan.cpp");
  EXPECT_TRUE(users.contains("Gemm") && users.contains("MatMul"));
  EXPECT_FALSE(users.contains("OneHot"));
#ifdef OPKIT_HAS_VULKAN
  EXPECT_TRUE(operatorsOfOne("shaders/gemm/gemm_thin.comp").contains("MatMul"));
  EXPECT_TRUE(operatorsOfOne("shaders/include/rows.glsl").contains("Softmax"));
  const auto moved = operatorsOfOne("shaders/raster/raster_tiles.comp");
  EXPECT_TRUE(moved.contains("Transpose") && moved.contains("Expand")) << "those that move data";
  EXPECT_FALSE(moved.contains("Softmax"));
  EXPECT_TRUE(operatorsOfOne("engine/backend/vulkan/vulkan_raster.cpp").contains("Expand"));
  EXPECT_TRUE(operatorsOfOne("engine/backend/vulkan/vulkan_running_sum.cpp").contains("CumSum"));
  EXPECT_TRUE(operatorsOfOne("engine/backend/vulkan/row_split.cpp").contains("ReduceSum"));
  EXPECT_TRUE(operatorsOfOne("engine/backend/vulkan/vulkan_execution.cpp").empty()) << "of every operator";
#endif
}

TEST(EditedOperators, NoOtherFileCounts) {
  for (const char* path : {"README.md", "ops/one_hot/one_hot_test.cpp", "ops/one_hot/README.md", "ops/CMakeLists.txt",
                           "engine/base/status.h", "ops", "shaders/", ""})
    EXPECT_TRUE(operatorsOfOne(path).empty()) << path;
}

TEST(UncommittedFiles, AreThoseThatDifferFromTheLastCommit) {
  const fs::path root = fs::path(testing::TempDir()) / "uncommitted files";
  fs::remove_all(root);
  fs::create_directories(root / "ops");
  std::ofstream(root / "ops/kept.cpp") << "1";
  std::ofstream(root / "ops/edited.cpp") << "1";
  std::ofstream(root / ".gitignore") << "*.o";
  EXPECT_TRUE(uncommittedFiles(root.string()).empty()) << "no git tree";
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-C", root.string(), "-c", "user.name=a", "-c", "user.email=a@b"});
    const auto run = runChild(words);
    ASSERT_TRUE(run && run->exitCode == 0) << words.back();
  };
  git({"init"});
  git({"add", "."});
  git({"commit", "-m", "first"});
  EXPECT_TRUE(uncommittedFiles(root.string()).empty());
  std::ofstream(root / "ops/edited.cpp") << "2";
  std::ofstream(root / "ops/new.cpp") << "1";
  std::ofstream(root / "ops/new.o") << "1";
  EXPECT_EQ(uncommittedFiles(root.string()), (std::vector<std::string>{"ops/edited.cpp", "ops/new.cpp"}));
  EXPECT_TRUE(uncommittedFiles((root / "ops").string()).empty()) << "not the root";
}

}  // namespace
}  // namespace opkit::harness
