#include "engine/base/guard.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

namespace opkit {
namespace {

/// The Status that guarded() returns for a body that throws.
template <class Throw>
Status thrown(Throw body) {
  return guarded([&]() -> Status {
    body();
    return Status::ok();
  });
}

TEST(Guard, ExceptionsOfTheStandardLibraryBecomeOneLine) {
  EXPECT_EQ(thrown([] { throw std::bad_alloc(); }).code(), StatusCode::OutOfMemory);
  EXPECT_EQ(thrown([] { std::vector<char>().reserve(std::numeric_limits<size_t>::max()); }).code(),
            StatusCode::OutOfMemory);
  const Status file = thrown([] { static_cast<void>(std::filesystem::file_size("/nowhere/at/all")); });
  EXPECT_EQ(file.code(), StatusCode::InvalidArgument);
  EXPECT_NE(file.message().find("/nowhere/at/all"), std::string::npos) << file.message();
  EXPECT_EQ(file.message(), "'/nowhere/at/all': No such file or directory");
  const std::string noPosition = thrown([] { static_cast<void>(std::string("a").substr(5)); }).message();
  EXPECT_EQ(noPosition, "unexpected: a number or a position is out of range");
  EXPECT_EQ(thrown([] { static_cast<void>(std::stoi("a")); }).message(), "unexpected: a text is no number");
  const Status json = thrown([] { static_cast<void>(nlohmann::json(1).get<std::string>()); });
  EXPECT_EQ(json.code(), StatusCode::Corrupt);
  EXPECT_EQ(json.message(), "a value of JSON is not what was expected: type must be string, but is number");
  const Status system =
      thrown([] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)); });
  EXPECT_EQ(system.code(), StatusCode::Internal);
  EXPECT_NE(system.message().find("temporarily unavailable"), std::string::npos) << system.message();
  EXPECT_EQ(thrown([] { throw std::runtime_error("two\nlines"); }).message(), "unexpected: two lines");
  EXPECT_EQ(thrown([] { throw 5; }).code(), StatusCode::Internal);
}

TEST(Guard, WhatIsAnsweredPasses) {
  EXPECT_TRUE(thrown([] {}).isOk());
  const Result<int> five = guarded([]() -> Result<int> { return 5; });
  ASSERT_TRUE(five);
  EXPECT_EQ(*five, 5);
  const Result<int> none = guarded([]() -> Result<int> { throw std::bad_alloc(); });
  EXPECT_EQ(none.error().code(), StatusCode::OutOfMemory);
}

TEST(Guard, MainEndsWithTwoAndOneLine) {
  EXPECT_EQ(guardedMain("op-test", [] { return 3; }), 3);
  testing::internal::CaptureStderr();
  EXPECT_EQ(guardedMain("op-test", []() -> int { throw std::runtime_error("no\nluck"); }), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "op-test: unexpected: no luck\n");
}

struct WantsMemoryAtItsEnd {
  ~WantsMemoryAtItsEnd() noexcept { throwLackOfMemory(); }
  static void throwLackOfMemory() { throw std::bad_alloc(); }
};

struct ThrowsAtItsEnd {
  ~ThrowsAtItsEnd() noexcept { throwNumber(); }
  static void throwNumber() { throw 5; }
};

TEST(GuardDeathTest, MemoryThatADestructorLacksIsOneLineToo) {
  const auto refused = [] {
    std::exit(guardedMain("op-test", [] {
      const WantsMemoryAtItsEnd value;
      return 0;
    }));
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(2), "^op-test: the host is out of memory\n$");
  const auto wrong = [] {
    std::exit(guardedMain("op-test", [] {
      const ThrowsAtItsEnd value;
      return 0;
    }));
  };
  EXPECT_EXIT(wrong(), testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace opkit
