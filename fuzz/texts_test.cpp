// Damaged texts are refused in one line or used; they never crash, hang, or take more memory than they justify.
//
// By day 200 mutants of each kind, fewer of those that plan changes of a tree. OPKIT_TEXTS asks for more and OPKIT_DAY
// for others; the part `texts` of the night does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/host_memory.h"
#include "fuzz/last_words.h"
#include "fuzz/memory_limit.h"
#include "fuzz/text_kinds.h"

namespace opkit::fuzz {
namespace {

constexpr unsigned kLongestSeconds = 20;  // for one mutant; a second would do
constexpr size_t kMostFaults = 20;
constexpr size_t kHostMemory = size_t{64} << 20;

uint64_t fromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

/// An attempt on a source tree takes 20 to 60 ms.
size_t countByDay(const std::string& kind) { return kind.ends_with("record") ? 20 : kind == "spec" ? 50 : 200; }

class Texts : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { setHostMemoryLimit(kHostMemory); }
  /// A crash or a hang ends the process: LastWords then says how to repeat the mutant.
  Trial attemptMutant(const Mutant& mutant, const std::string& words) const {
    aboutToTry(words, mutant.bytes, std::filesystem::temp_directory_path());
    alarm(kLongestSeconds);
    Trial trial = attempt(kind_, mutant.bytes);
    alarm(0);
    return trial;
  }

  static std::string emptyFolder() {
    std::string folder = testing::TempDir() + "texts-XXXXXX";
    OPKIT_CHECK(mkdtemp(folder.data()));
    return folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = emptyFolder();
  const TextKind kind_ = textKind(GetParam(), folder_);
};

TEST_P(Texts, SeedsAreWhole) {
  for (const Bytes& seed : kind_.seeds) EXPECT_EQ(attempt(kind_, seed).status.message(), "");
}

TEST_P(Texts, MutantsAreRefusedInOneLineOrUsed) {
  const MemoryLimit limit;
  const size_t most = fromEnvironment("OPKIT_TEXTS", countByDay(GetParam())),
               seconds = fromEnvironment("OPKIT_TEXTS_SECONDS", 3600);
  const uint64_t day = fromEnvironment("OPKIT_DAY", 0);
  const double end = nowNs() * 1e-9 + static_cast<double>(seconds);
  std::mt19937_64 random(day);
  size_t count = 0, refused = 0, faults = 0;
  for (; count < most && faults < kMostFaults && nowNs() * 1e-9 < end; ++count) {
    const Mutant mutant = kind_.mutate(kind_.seeds[count % kind_.seeds.size()], random);
    const std::string words = fmt::format("OPKIT_DAY={} {} mutant {}: {}", day, GetParam(), count, mutant.what);
    const Trial trial = attemptMutant(mutant, words);
    refused += !trial.status.isOk();
    const std::string fault = faultOf(trial);
    faults += !fault.empty();
    EXPECT_EQ(fault, "") << words;
  }
  if (count < most && faults == 0) fmt::print("{}: {} of {} mutants in {} s\n", GetParam(), count, most, seconds);
  // Some damage must be refused and some must be accepted, or the test shows nothing.
  EXPECT_GT(refused, count / 20);
  EXPECT_LT(refused, count - count / 20);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Texts, testing::ValuesIn(textKindNames()), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace opkit::fuzz
