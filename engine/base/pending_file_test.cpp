#include "engine/base/pending_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace opkit {
namespace {

namespace fs = std::filesystem;

class PendingFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "opkit-pending-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/page.html";
    std::ofstream(path_) << "old";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string text() const { return *readText(path_); }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }
  static bool write(const PendingFile& file, std::string_view text) {
    return writeAll(file.descriptor(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  std::string folder_, path_;
};

TEST_F(PendingFileTest, ReplacesOrLeavesTheOldFile) {
  {
    PendingFile given(path_);
    ASSERT_TRUE(given.isOpen());
    EXPECT_TRUE(write(given, "half"));
  }
  EXPECT_EQ(text(), "old");
  EXPECT_EQ(files(), 1u);
  PendingFile kept(path_);
  EXPECT_TRUE(write(kept, "new") && kept.replace());
  EXPECT_EQ(text(), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(PendingFileTest, TheNextWriterRemovesWhatAKilledOneLeft) {
  const pid_t child = fork();
  if (child == 0) {
    const PendingFile file(path_);
    if (write(file, "half")) ::raise(SIGKILL);
    ::_exit(1);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFSIGNALED(state));
  EXPECT_EQ(files(), 2u);
  PendingFile next(path_);
  EXPECT_TRUE(write(next, "new") && next.replace());
  EXPECT_EQ(text(), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(PendingFileTest, WritersOfOneFileAtOnceHaveFilesOfTheirOwn) {
  PendingFile first(path_), second(path_);
  EXPECT_EQ(files(), 3u);
  EXPECT_TRUE(write(second, "second") && second.replace());
  EXPECT_EQ(text(), "second");
  EXPECT_TRUE(write(first, "first") && first.replace());
  EXPECT_EQ(text(), "first");
  EXPECT_EQ(files(), 1u);
}

TEST_F(PendingFileTest, LeavesLinksAndFoldersOfItsNameAlone) {
  std::ofstream(folder_ + "/precious") << "precious";
  fs::create_symlink(folder_ + "/precious", path_ + ".opkit-0.tmp");
  fs::create_directory(path_ + ".opkit-1.tmp");
  PendingFile file(path_);
  EXPECT_TRUE(write(file, "new") && file.replace());
  EXPECT_EQ(text(), "new");
  EXPECT_EQ(*readText(folder_ + "/precious"), "precious");
  EXPECT_EQ(files(), 4u);
}

TEST_F(PendingFileTest, WithoutAFolderTheCauseIsInErrno) {
  const PendingFile none(folder_ + "/none/page.html");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(none.isOpen());
}

}  // namespace
}  // namespace opkit
