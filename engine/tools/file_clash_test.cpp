#include "engine/tools/file_clash.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/tools/validators.h"

namespace opkit::cli {
namespace {

namespace fs = std::filesystem;

class FileClashTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(path("in")) << "{}\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// The error of a command line with --read FILE, --name NAME=FILE, --write FILE and --append FILE; "" if it is taken.
  static std::string said(const std::string& words) {
    CLI::App app("", "program");
    CLI::App* command = app.add_subcommand("run");
    std::string read, named, whole, appended;
    command->add_option("--read", read);
    command->add_option("--name", named);
    command->add_option("--write", whole)->check(outputFile());
    command->add_option("--append", appended)->check(appendedFile());
    try {
      app.parse("run " + words, false);
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return refuseClashes(app).message();
  }

  const std::string folder_ =
      testing::TempDir() + "file_clash_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FileClashTest, AFileIsReadOrWritten) {
  fs::create_symlink(path("in"), path("link"));
  fs::create_hard_link(path("in"), path("hard"));
  for (const char* name : {"in", "link", "hard", "../x/./in"}) {
    if (std::string(name).starts_with(".."))
      fs::create_directories(path("../x")),
          fs::copy_file(path("in"), path("../x/in"), fs::copy_options::overwrite_existing);
    const bool same = !std::string(name).starts_with("..");
    for (const char* option : {"--write", "--append"}) {
      const std::string words = "--read " + path("in") + " " + option + " " + path(name);
      EXPECT_EQ(said(words),
                same ? fmt::format("{}: '{}' is the file of --read too; it would be lost", option, path(name)) : "");
    }
  }
  fs::remove_all(path("../x"));
  EXPECT_EQ(said("--name x=" + path("in") + " --write " + path("in")),
            fmt::format("--write: '{}' is the file of --name too; it would be lost", path("in")));
  EXPECT_EQ(said("--read Relu --write Relu"), "") << "no file of this name exists";
}

TEST_F(FileClashTest, TwoOutputsAreTwoFiles) {
  EXPECT_NE(said("--write " + path("new") + " --append " + path("./new")), "");
  EXPECT_NE(said("--write " + path("in") + " --append " + path("in")), "");
  EXPECT_EQ(said("--write " + path("new") + " --append " + path("other")), "");
  EXPECT_EQ(said("--write /dev/null --append /dev/null"), "");
}

TEST_F(FileClashTest, OtherKindsOfFilesAreNotReplaced) {
  std::ofstream(path("history"), std::ios::binary) << std::string("SQLite format 3\0rest", 20);
  EXPECT_NE(said("--write " + path("history")).find("it is an SQLite database, which would be lost"),
            std::string::npos);
  EXPECT_NE(said("--append " + path("history")).find("expected a file of JSON lines"), std::string::npos);
  std::ofstream(path("page")) << "<html>";
  EXPECT_EQ(said("--write " + path("page")), "");
  EXPECT_NE(said("--append " + path("page")).find("expected a file of JSON lines"), std::string::npos);
  std::ofstream(path("empty")) << "";
  EXPECT_EQ(said("--append " + path("empty")), "");
  EXPECT_EQ(said("--append " + path("in")), "");
}

TEST(OutputFiles, NamesThatBecomeAlikeStayApart) {
  const auto files = OutputFiles::plan("/d", {"a:b", "a/b", "a_b", ".x", "a_b_2"}, 1, {});
  ASSERT_TRUE(files);
  using Names = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(files->renamed(), (Names{{".x", "_.x"}, {"a/b", "a_b_4"}, {"a:b", "a_b_3"}}));
}

TEST(OutputFiles, InputsAreNotReplaced) {
  const std::string folder = testing::TempDir() + "output_files";
  fs::create_directories(folder + "/step_1");
  std::ofstream(folder + "/step_1/y.npy") << "x";
  const auto plan = [&](size_t steps) {
    const auto files = OutputFiles::plan(folder, {"y"}, steps, {"model.onnx", folder + "/./step_1/y.npy"});
    return files ? "" : files.error().message();
  };
  EXPECT_EQ(plan(1), "");
  EXPECT_EQ(plan(2), fmt::format("--output: '{}/step_1/y.npy' is read too; it would be lost", folder));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace opkit::cli
