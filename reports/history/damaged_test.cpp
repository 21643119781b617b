// Histories that SQLite calls intact and that contradict themselves: one line, never a crash.
#include <random>

#include "reports/history/judged.h"
#include "reports/history/store.h"
#include "reports/history/vanished.h"
#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

class DamagedTest : public OpReportTest {
 protected:
  void SetUp() override {
    OpReportTest::SetUp();
    const std::string text = RunText{.id = "a", .kind = "check"}.text() +
                             RunText{.id = "b", .started = "2026-01-02T00:00:00Z", .digest = "bb00000000000000"}.text();
    ASSERT_EQ(run("add --history " + history_ + " " + file(text)), 0);
    whole_ = contents(history_);
  }

  void restore() { std::ofstream(history_, std::ios::binary) << whole_; }

  /// Reads everything; returns the error, or "".
  std::string read() const {
    const auto store = Store::open(history_, Database::Mode::Read);
    if (!store) return store.error().message();
    std::vector<Environment> environments;
    if (const auto series = store->series({}, environments); !series) return series.error().message();
    if (const auto newest = store->newest(); !newest) return newest.error().message();
    if (const auto judged = judgeStore(*store); !judged) return judged.error().message();
    const auto vanished = readVanished(store->database());
    return vanished ? "" : vanished.error().message();
  }

  std::string whole_;
};

TEST_F(DamagedTest, RowsThatContradictEachOtherAreOneLine) {
  EXPECT_EQ(read(), "");
  const std::pair<const char*, const char*> damages[] = {
      {"UPDATE run SET night = 99 WHERE name = 'a'", "a row of 'run' refers to a row that is not there"},
      {"UPDATE run SET id = -1 WHERE name = 'a'", "an id of 'run' is no number from 1 to 67108864"},
      {"UPDATE night SET id = 1 << 40 WHERE id = 1", "an id of 'night' is no number from 1 to 67108864"},
      {"UPDATE subject SET item = 99", "a row of 'subject' refers to a row that is not there"},
      {"UPDATE subject SET device = 0", "a row of 'subject' refers to a row that is not there"},
      {"UPDATE series SET subject = 99 WHERE id = 1", "a row of 'series' refers to a row that is not there"},
      {"UPDATE calibration SET run = 77 WHERE run = 1", "a row of 'calibration' refers to a row that is not there"},
      {"UPDATE outcome SET conclusion = 99", "a row of 'outcome' refers to a row that is not there"},
      {"UPDATE outcome SET variant = 5 WHERE variant = 0 AND subject = 1", "the variants of an outcome have gaps"},
      {"UPDATE seen SET variant = 4 WHERE subject = 1", "a row of 'seen' has no outcome"},
      {"UPDATE lines SET bytes = 1 << 50", "the kept lines of a run are damaged"},
      {"UPDATE lines SET text = x'00'", "the kept lines of a run are damaged"},
  };
  for (const auto& [sql, expected] : damages) {
    restore();
    ASSERT_TRUE(Database::open(history_, Database::Mode::Write)->execute(sql).isOk()) << sql;
    EXPECT_NE(read().find(expected), std::string::npos) << sql << ": " << read();
  }
  for (const char* sql :
       {"UPDATE value SET run = 99 WHERE series = 1", "UPDATE value SET run = -7 WHERE series = 1",
        "UPDATE seen SET run = 99 WHERE run = 2", "UPDATE seen SET subject = -1 WHERE subject = 1",
        "UPDATE seen SET subject = 1 << 40 WHERE subject = 1",
        "UPDATE seen SET subject = 99 WHERE subject = 1"}) {  // rows of runs and cases that are not there are not read
    restore();
    ASSERT_TRUE(Database::open(history_, Database::Mode::Write)->execute(sql).isOk()) << sql;
    EXPECT_EQ(read(), "") << sql;
  }
}

TEST_F(DamagedTest, NothingIsAddedToADamagedHistory) {
  ASSERT_TRUE(Database::open(history_, Database::Mode::Write)->execute("UPDATE run SET night = 99").isOk());
  const std::string before = contents(history_);
  std::string said;
  EXPECT_EQ(run("add --history " + history_ + " " + file(RunText{.id = "c"}.text()), &said), 2);
  EXPECT_NE(said.find("the database is damaged"), std::string::npos) << said;
  EXPECT_TRUE(contents(history_) == before);
}

TEST_F(DamagedTest, ChangedBytesEndNoProgram) {
  size_t refused = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::string bytes = whole_;
    for (uint32_t i = 0; i <= seed % 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    std::ofstream(history_, std::ios::binary) << bytes;
    SCOPED_TRACE(seed);
    refused += !read().empty();
  }
  EXPECT_GT(refused, 20u);
}

TEST_F(DamagedTest, RunsAheadOfTheClockAreRefusedOrLeftOut) {
  const std::string later =
      RunText{.id = "z", .night = "far", .started = "2100-01-01T00:00:00Z", .digest = "cc"}.text();
  const std::string before = contents(history_),
                    build = "build --history " + history_ + " --output " + folder_ + "/p.html";
  std::string said;
  EXPECT_EQ(run("add --history " + history_ + " " + file(later), &said), 2);
  EXPECT_NE(said.find("run z is dated 2100-01-01T00:00:00Z, more than a day ahead of this machine's clock; nothing was "
                      "added (--accept-clock adds it"),
            std::string::npos)
      << said;
  EXPECT_TRUE(contents(history_) == before);
  ASSERT_EQ(run("add --accept-clock --history " + history_ + " " + file(later), &said), 0) << said;
  const std::string good = RunText{.id = "c", .started = "2026-01-03T00:00:00Z", .kind = "check"}.text();
  const std::string broken =
      RunText{.id = "d", .started = "2026-01-04T00:00:00Z", .kind = "check", .status = "fail"}.text();
  ASSERT_EQ(run("add --history " + history_ + " " + file(later) + " " + file(good), &said), 0) << "known: " << said;
  ASSERT_EQ(run("add --history " + history_ + " " + file(broken), &said), 0) << said;
  for (const std::string& command : {"detect --history " + history_, build})
    for (const char* expected :
         {"night far is dated ahead of this machine's clock; its runs are left out", "2026-01-0"}) {
      run(command, &said);
      EXPECT_NE(said.find(expected), std::string::npos) << said;
    }
  EXPECT_NE(said.find("2 for the worse"), std::string::npos) << said;
  ASSERT_EQ(run("history --history " + history_, &said), 0);
  EXPECT_NE(said.find("4 nights"), std::string::npos) << said;
}

TEST_F(DamagedTest, NamesThatSqliteKnowsAreFiles) {
  const std::string one = file(RunText{.id = "d"}.text());
  for (const char* name : {":memory:", "file:x?mode=memory"}) {
    std::string said;
    ASSERT_EQ(run(fmt::format("add --history '{}' {}", name, one), &said, "cd " + folder_ + " &&"), 0) << said;
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/" + name)) << name;
  }
}

}  // namespace
}  // namespace opkit::reports
