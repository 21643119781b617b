#include "harness/watch/plugin_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/tools/cli.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

/// A project with a source, cases, and a folder in which CMake builds.
fs::path projectOf(const std::string& name) {
  const fs::path root = fs::path(testing::TempDir()) / name;
  fs::remove_all(root);
  fs::create_directories(root / "build");
  for (const char* file : {"relu.c", "relu.cases.json", "notes.txt", "build/CMakeCache.txt", "build/generated.c",
                           "build/librelu.so", "build/relu.cases.json"})
    std::ofstream(root / file) << file;
  return root;
}

/// Makes the file look saved two seconds later.
void save(const fs::path& path) { fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(2)); }

PluginWatcher watcherOf(const fs::path& root, const std::string& build, const std::string& check = "exit 0") {
  auto watcher = PluginWatcher::create(
      {.libraries = {(root / "build/librelu.so").string()}, .build = build, .check = {"/bin/sh", "-c", check}});
  EXPECT_TRUE(watcher) << watcher.error().message();
  return *std::move(watcher);
}

TEST(PluginWatch, SourcesAroundTheBuildAreWatched) {
  const fs::path root = projectOf("plugin_sources");
  PluginWatcher watcher = watcherOf(root, "true");
  EXPECT_EQ(watcher.describe(), "2 files in " + root.string());
  EXPECT_FALSE(watcher.poll());
  save(root / "relu.c");
  EXPECT_TRUE(watcher.poll());
  EXPECT_FALSE(watcher.poll());
  for (const char* other : {"notes.txt", "build/generated.c", "build/librelu.so"}) save(root / other);
  EXPECT_FALSE(watcher.poll());
  std::ofstream(root / "vectors.h") << "new";
  EXPECT_TRUE(watcher.poll());
  fs::remove(root / "vectors.h");
  EXPECT_TRUE(watcher.poll());
}

TEST(PluginWatch, WithoutABuildTheLibraryAndItsCasesAreWatched) {
  const fs::path root = projectOf("plugin_library");
  PluginWatcher watcher = watcherOf(root, "");
  save(root / "relu.c");
  EXPECT_FALSE(watcher.poll());
  save(root / "build/librelu.so");
  EXPECT_TRUE(watcher.poll());
  save(root / "build/relu.cases.json");
  EXPECT_TRUE(watcher.poll());
}

TEST(PluginWatch, ACheckRunsAfterABuildThatSucceeds) {
  const fs::path root = projectOf("plugin_rounds"), ran = root / "ran";
  testing::internal::CaptureStdout();
  EXPECT_EQ(*watcherOf(root, "echo broken >&2; exit 3", "touch " + ran.string()).run(), cli::kCheckFailed);
  EXPECT_FALSE(fs::exists(ran)) << "a check of the old library";
  EXPECT_EQ(*watcherOf(root, "true", "touch " + ran.string() + "; echo why >&2; exit 3").run(), 3);
  EXPECT_TRUE(fs::exists(ran));
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              testing::AllOf(testing::HasSubstr("broken\n"), testing::HasSubstr("the build ended with 3: echo broken"),
                             testing::HasSubstr("why\n")));
}

TEST(PluginWatch, AFolderWithoutSourcesIsRefused) {
  const fs::path root = projectOf("plugin_nothing");
  fs::create_directories(root / "empty");
  const auto watcher = PluginWatcher::create(
      {.libraries = {(root / "build/librelu.so").string()}, .build = "true", .source = (root / "empty").string()});
  ASSERT_FALSE(watcher);
  EXPECT_THAT(watcher.error().message(), testing::HasSubstr("empty: no C, C++, GLSL or case file there"));
}

}  // namespace
}  // namespace opkit::harness
