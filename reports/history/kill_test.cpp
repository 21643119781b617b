// `add` and `merge`, killed at random moments: the file is as before or as after. OPKIT_KILLS sets the number (10).
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "reports/history/store.h"
#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

constexpr int kCases = 3000;

int kills() {
  const char* const asked = std::getenv("OPKIT_KILLS");
  return asked ? std::atoi(asked) : 10;
}

class KillTest : public OpReportTest {
 protected:
  using Clock = std::chrono::steady_clock;

  /// Runs op-report and kills it after `delay`; true if it was killed before its end.
  static bool killedAfter(std::vector<std::string> arguments, Clock::duration delay) {
    const std::string program = opReport();
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    std::this_thread::sleep_for(delay);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
    return WIFSIGNALED(status);
  }

  /// The number of runs; the database must be sound.
  static int64_t runsIn(const std::string& path) {
    const auto database = Database::open(path, Database::Mode::Read);
    EXPECT_TRUE(database) << database.error().message();
    auto check = database->prepare("PRAGMA integrity_check");
    EXPECT_TRUE(check) << check.error().message();
    EXPECT_TRUE(*check->step());
    EXPECT_EQ(check->text(0), "ok");
    auto rows = database->prepare("SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM value)");
    EXPECT_TRUE(rows) << rows.error().message();
    EXPECT_TRUE(*rows->step());
    EXPECT_EQ(rows->integer(1), rows->integer(0) * kCases) << "a run is half there";
    return rows->integer(0);
  }

  std::mt19937 random_{std::random_device{}()};
};

/// Closing any descriptor of a file drops all locks of the process on it: a second connection must open none of its
/// own.
TEST_F(KillTest, ASecondReaderKeepsTheLocksOfTheFirst) {
  ASSERT_EQ(run("add --history " + history_ + " " + file(RunText{.id = "a", .cases = 3}.text())), 0);
  const auto first = Database::open(history_, Database::Mode::Read);
  ASSERT_TRUE(first && first->execute("BEGIN; CREATE TEMP TABLE t AS SELECT count(*) FROM run").isOk());
  const auto second = Database::open(history_, Database::Mode::Read);
  ASSERT_TRUE(second);
  const pid_t writer = fork();
  if (writer == 0) {
    sqlite3* handle = nullptr;
    sqlite3_open(history_.c_str(), &handle);
    _exit(sqlite3_exec(handle, "UPDATE run SET at = at", nullptr, nullptr, nullptr) == SQLITE_BUSY ? 0 : 2);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0) << "the first reader holds no lock any more";
}

TEST_F(KillTest, AHistoryIsWholeAfterAnyKillOfAdd) {
  const std::string first = file(RunText{.id = "a", .cases = kCases}.text());
  const std::string more =
      file(RunText{.id = "b", .cases = kCases}.text() + RunText{.id = "c", .cases = kCases}.text());
  const auto start = Clock::now();
  ASSERT_EQ(run("add --history " + history_ + " " + first), 0);
  ASSERT_EQ(run("add --history " + history_ + "2 " + more), 0);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  const std::string before = contents(history_);
  int killed = 0, added = 0;
  for (int i = 0; i < kills(); ++i) {
    std::filesystem::remove(history_ + "-journal");
    std::ofstream(history_, std::ios::binary) << before;
    const auto delay = std::chrono::microseconds(std::uniform_int_distribution<int64_t>(0, took)(random_));
    killed += killedAfter({"add", "--history", history_, more}, delay);
    const int64_t runs = runsIn(history_);
    EXPECT_TRUE(runs == 1 || runs == 3) << runs;
    added += runs == 3;
    ASSERT_EQ(run("add --history " + history_ + " " + more), 0) << "after a kill";
    EXPECT_EQ(runsIn(history_), 3);
  }
  RecordProperty("killed", killed);
  RecordProperty("added", added);
  EXPECT_GT(killed, 0) << "no kill came in time: the test proves nothing";
}

TEST_F(KillTest, AMergedFileIsOldOrNewAfterAnyKill) {
  const std::string one = file(RunText{.id = "a", .cases = kCases}.text());
  const std::string two = file(RunText{.id = "b", .cases = kCases}.text());
  const std::string out = folder_ + "/all.jsonl", merged = folder_ + "/merged.jsonl";
  const auto start = Clock::now();
  ASSERT_EQ(run("merge -o " + merged + " " + one + " " + two), 0);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  const std::string before = contents(one), after = contents(merged);
  int killed = 0;
  for (int i = 0; i < kills(); ++i) {
    std::ofstream(out, std::ios::binary) << before;
    const auto delay = std::chrono::microseconds(std::uniform_int_distribution<int64_t>(0, took)(random_));
    killed += killedAfter({"merge", "-o", out, one, two}, delay);
    const std::string now = contents(out);
    EXPECT_TRUE(now == before || now == after) << now.size() << " bytes";
  }
  EXPECT_GT(killed, 0) << "no kill came in time: the test proves nothing";
}

}  // namespace
}  // namespace opkit::reports
