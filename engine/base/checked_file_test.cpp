#include "engine/base/checked_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <streambuf>

namespace opkit {
namespace {

std::string fresh(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  std::filesystem::remove(path);
  return path;
}

std::string textOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Gives a text, and then fails as a disk or the memory does.
class FailingBuffer final : public std::streambuf {
 public:
  FailingBuffer(std::string text, std::function<void()> fail) : text_(std::move(text)), fail_(std::move(fail)) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

 private:
  int_type underflow() override {
    fail_();
    return traits_type::eof();
  }
  std::string text_;
  std::function<void()> fail_;
};

TEST(LineReader, TellsAFailedReadFromTheEnd) {
  const auto read = [](const std::string& text, const std::function<void()>& fail) {
    FailingBuffer buffer(text, fail);
    std::istream stream(&buffer);
    LineReader lines(stream, "f");
    size_t count = 0;
    for (; lines.next(); ++count) EXPECT_EQ(lines.where(), fmt::format("f:{}", count + 1));
    return std::pair(count, lines.status().message());
  };
  EXPECT_EQ(read("a\n\nb", [] {}), std::pair(size_t{3}, std::string()));
  EXPECT_EQ(read("a\nb\nhalf", [] { errno = EIO, throw std::ios_base::failure("read"); }),
            std::pair(size_t{2}, std::string("f: line 3 cannot be read: Input/output error")));
  EXPECT_EQ(read("a\nlong", [] { throw std::bad_alloc(); }),
            std::pair(size_t{1}, std::string("f: line 2 cannot be read: Cannot allocate memory")));
}

TEST(ReadText, SaysWhatFailed) {
  // Address 0 of a process cannot be read.
  EXPECT_EQ(readText("/proc/self/mem").error().message(), "cannot read '/proc/self/mem': Input/output error");
  EXPECT_EQ(readText("/no/such").error().message(), "cannot read '/no/such': No such file or directory");
  EXPECT_FALSE(readText("/proc/self/status")->empty());
}

TEST(LineFile, AppendsLines) {
  const std::string path = fresh("lines");
  for (int i = 0; i < 2; ++i) {
    auto file = LineFile::open(path);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_TRUE(file->append("one").isOk());
    EXPECT_TRUE(file->append("two").isOk());
    EXPECT_TRUE(file->close().isOk());
  }
  EXPECT_EQ(textOf(path), "one\ntwo\none\ntwo\n");
}

TEST(LineFile, EndsTheLineThatAnotherLeftUnfinished) {
  const std::string path = fresh("unfinished");
  std::ofstream(path) << "whole\ncu";
  auto file = LineFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->append("next").isOk());
  EXPECT_EQ(textOf(path), "whole\ncu\nnext\n");
}

TEST(LineFile, SaysWhatCannotBeWritten) {
  EXPECT_EQ(LineFile::open("/no/such/folder/x").error().message(),
            "cannot write '/no/such/folder/x': No such file or directory");
  auto full = LineFile::open("/dev/full");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->append("x").message(), "cannot write '/dev/full': No space left on device");
}

TEST(LineFile, TakesBackALineThatDidNotFit) {
  // A limit on the file's size simulates a disk that fills in the middle of a line.
  const std::string path = fresh("too_large");
  auto file = LineFile::open(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append("whole").isOk());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = file->append("does not fit");
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_NE(status.message().find("File too large"), std::string::npos) << status.message();
  EXPECT_EQ(textOf(path), "whole\n");
}

}  // namespace
}  // namespace opkit
