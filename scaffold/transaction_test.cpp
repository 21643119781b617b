// Plans are applied as a whole or not at all: when a step fails, when a signal comes, when the process is killed.
#include "scaffold/transaction.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/base/checked_file.h"
#include "engine/base/interrupt.h"
#include "scaffold/generate.h"
#include "scaffold/testing/forms.h"
#include "scaffold/testing/scratch_tree.h"

namespace {
/// Called before each rename, link, mkdir and removal of the process; an error number fails the call.
std::function<int()> beforeStep;
bool fails() {
  errno = beforeStep ? beforeStep() : 0;
  return errno != 0;
}
}  // namespace

// In place of the C library's, for the engine and for std::filesystem alike.
extern "C" int rename(const char* from, const char* to) noexcept {
  return fails() ? -1 : ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}
extern "C" int link(const char* from, const char* to) noexcept {
  return fails() ? -1 : ::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
extern "C" int mkdir(const char* path, mode_t mode) noexcept { return fails() ? -1 : ::mkdirat(AT_FDCWD, path, mode); }
extern "C" int remove(const char* path) noexcept {
  if (fails()) return -1;
  if (::unlinkat(AT_FDCWD, path, 0) == 0) return 0;
  return errno == EISDIR || errno == EPERM ? ::unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : -1;
}

namespace opkit::scaffold {
namespace {

/// An empty folder.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "opkit-transaction-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(root_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& root() const { return root_; }
  std::string at(const std::string& path) const { return root_ + "/" + path; }
  std::string text(const std::string& path) const { return readText(at(path)).value(); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    std::ofstream(at(path), std::ios::binary) << text;
  }
  /// The text of each file, and each folder.
  std::map<std::string, std::string> listing() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      const std::string path = entry.path().lexically_relative(root_).string();
      found[path] = entry.is_directory() ? "folder" : text(path);
    }
    return found;
  }

 private:
  std::string root_;
};

/// A tree with an operator, and a plan that changes, makes and deletes files of it and a folder of its own.
struct Fixture {
  Fixture() {
    scratch.write("ops/old/old.cpp", "old");
    scratch.write("ops/old/kept.cpp", "kept");
    scratch.write("ops/gone/gone.cpp", "gone");
    before = after = scratch.listing();
    after["ops/old/old.cpp"] = "new";
    after.erase("ops/gone/gone.cpp");
    after.erase("ops/gone");
    for (const char* folder : {"ops/made", "ops/made/deep"}) after[folder] = "folder";
    after["ops/made/deep/made.cpp"] = "made";
    after["ops/made/other.cpp"] = "";
  }
  Folder scratch;
  Plan plan{{"ops/old/old.cpp", "old", "new"},
            {"ops/gone/gone.cpp", "gone", std::nullopt},
            {"ops/made/deep/made.cpp", std::nullopt, "made"},
            {"ops/old/same.cpp", std::nullopt, std::nullopt},
            {"ops/made/other.cpp", std::nullopt, ""}};
  std::map<std::string, std::string> before, after;
};

/// Applies the plan in a process of its own that calls `step` with the number of each step, from 0 on; its wait status.
int applied(const Fixture& fixture, const std::function<int(int)>& step) {
  const pid_t child = fork();
  if (child == 0) {
    std::fclose(stderr);
    catchInterrupts("op-scaffold");
    int number = 0;
    beforeStep = [&] { return step(number++); };
    const Status status = applyPlan(fixture.scratch.root(), fixture.plan);
    _exit(interrupted() ? 128 + interruptSignal() : status.isOk() ? 0 : 2);
  }
  int state = 0;
  waitpid(child, &state, 0);
  return state;
}

constexpr int kMostSteps = 40;  // the plan takes fewer

TEST(Transaction, MakesEveryChange) {
  const Fixture fixture;
  EXPECT_EQ(applied(fixture, [](int) { return 0; }), 0);
  EXPECT_EQ(fixture.scratch.listing(), fixture.after);
}

TEST(Transaction, IsUndoneOrCompletedAfterAKillBeforeAnyStep) {
  size_t undone = 0, completed = 0;
  for (int killed = 0; killed < kMostSteps; ++killed) {
    const Fixture fixture;
    const int state = applied(fixture, [&](int number) { return number == killed ? raise(SIGKILL) : 0; });
    if (state == 0) break;
    ASSERT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL) << state;
    const auto finished = finishKilledCommand(fixture.scratch.root());
    ASSERT_TRUE(finished) << killed << ": " << finished.error().message();
    auto tree = fixture.scratch.listing();
    tree.erase(".opkit");  // an empty folder, which git ignores
    const bool isAfter = tree == fixture.after;
    EXPECT_TRUE(isAfter || tree == fixture.before) << "killed before step " << killed;
    (isAfter ? completed : undone) += 1;
    EXPECT_EQ(finishKilledCommand(fixture.scratch.root()).value(), "");
  }
  EXPECT_GT(undone, 10u);
  EXPECT_GT(completed, 0u);
}

TEST(Transaction, ChangesNothingWhenAnyStepFails) {
  size_t failed = 0;
  for (int wrong = 0; wrong < kMostSteps; ++wrong) {
    const Fixture fixture;
    const int state = applied(fixture, [&](int number) { return number == wrong ? EIO : 0; });
    ASSERT_TRUE(WIFEXITED(state)) << state;
    const auto tree = fixture.scratch.listing();
    if (WEXITSTATUS(state) == 0) {
      // What failed is only the removal of an empty folder or of the journal, or there is no such step.
      auto rest = tree;
      std::erase_if(rest, [](const auto& entry) { return entry.first.starts_with(".opkit"); });
      rest.erase("ops/gone");
      EXPECT_EQ(rest, fixture.after) << "step " << wrong << " fails";
    } else {
      ++failed;
      EXPECT_EQ(tree, fixture.before) << "step " << wrong << " fails";
    }
  }
  EXPECT_GT(failed, 10u);
}

TEST(Transaction, IsWholeWhenASignalComes) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    size_t undone = 0, made = 0;
    for (int at = 0; at < 30; at += 3) {
      const Fixture fixture;
      const int state = applied(fixture, [&](int number) { return number == at ? raise(signal) : 0; });
      ASSERT_TRUE(WIFEXITED(state)) << state;
      EXPECT_TRUE(WEXITSTATUS(state) == 128 + signal || WEXITSTATUS(state) == 0) << state;
      const auto tree = fixture.scratch.listing();
      EXPECT_TRUE(tree == fixture.before || tree == fixture.after) << "signal " << signal << " at step " << at;
      (tree == fixture.before ? undone : made) += 1;
    }
    EXPECT_GT(undone, 0u);
    EXPECT_GT(made, 0u);
  }
}

/// Killed when `ops/old/old.cpp` is new and the rest is not.
void leaveHalfDone(const Fixture& fixture) {
  const std::string changed = fixture.scratch.at("ops/old/old.cpp");
  applied(fixture, [&](int) { return readText(changed).value() == "new" ? raise(SIGKILL) : 0; });
  ASSERT_EQ(fixture.scratch.text("ops/old/old.cpp"), "new");
  ASSERT_EQ(fixture.scratch.text("ops/gone/gone.cpp"), "gone");
}

TEST(Transaction, IsUndoneAfterTheUndoWasKilledToo) {
  int killed = 0;
  for (bool wasKilled = true; wasKilled && killed < kMostSteps; ++killed) {
    const Fixture fixture;
    leaveHalfDone(fixture);
    const pid_t child = fork();
    if (child == 0) {
      int number = 0;
      beforeStep = [&] { return number++ == killed ? raise(SIGKILL) : 0; };
      static_cast<void>(finishKilledCommand(fixture.scratch.root()));
      _exit(0);
    }
    int state = 0;
    waitpid(child, &state, 0);
    wasKilled = WIFSIGNALED(state);
    EXPECT_TRUE(finishKilledCommand(fixture.scratch.root()));
    auto tree = fixture.scratch.listing();
    tree.erase(".opkit");
    EXPECT_EQ(tree, fixture.before) << "killed before step " << killed;
  }
  EXPECT_GT(killed, 3);
  EXPECT_LT(killed, kMostSteps);
}

TEST(Transaction, KeepsAnEditOfAHalfDoneFile) {
  const Fixture fixture;
  leaveHalfDone(fixture);
  fixture.scratch.write("ops/old/old.cpp", "mine");
  const auto before = fixture.scratch.listing();
  const auto finished = finishKilledCommand(fixture.scratch.root());
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message().find("ops/old/old.cpp changed since a command was killed here: delete "),
            std::string::npos);
  EXPECT_FALSE(applyPlan(fixture.scratch.root(), {{"a.txt", std::nullopt, "text"}}).isOk());
  EXPECT_EQ(fixture.scratch.listing(), before);
  std::filesystem::remove_all(fixture.scratch.at(".opkit/pending"));  // as the message says
  EXPECT_TRUE(applyPlan(fixture.scratch.root(), {{"a.txt", std::nullopt, "text"}}).isOk());
  EXPECT_EQ(fixture.scratch.text("ops/old/old.cpp"), "mine");
}

TEST(Transaction, ANewPlanComesAfterTheUndoneOne) {
  const Fixture fixture;
  leaveHalfDone(fixture);
  ASSERT_EQ(applyPlan(fixture.scratch.root(), {{"ops/old/old.cpp", "old", "newer"}}).message(), "");
  auto expected = fixture.before;
  expected["ops/old/old.cpp"] = "newer";
  EXPECT_EQ(fixture.scratch.listing(), expected);
}

TEST(Transaction, NamesADamagedJournal) {
  const Fixture fixture;
  leaveHalfDone(fixture);
  for (const char* text :
       {"", "{", "[]", R"({"folders":1,"changes":[]})", R"({"folders":[],"changes":[{"path":1}]})"}) {
    fixture.scratch.write(".opkit/pending/plan.json", text);
    const auto finished = finishKilledCommand(fixture.scratch.root());
    ASSERT_FALSE(finished) << text;
    EXPECT_NE(finished.error().message().find("plan.json' is damaged; delete its folder"), std::string::npos) << text;
  }
}

TEST(Transaction, WaitsForAnotherProcess) {
  const Fixture fixture;
  std::array<int, 2> stopped, gate;
  ASSERT_EQ(pipe(stopped.data()), 0);
  ASSERT_EQ(pipe(gate.data()), 0);
  char byte = 0;
  const pid_t other = fork();
  if (other == 0) {  // stops once its journal is complete, until the gate opens
    bool hasStopped = false;
    beforeStep = [&] {
      if (hasStopped || !std::filesystem::exists(fixture.scratch.at(".opkit/pending/plan.json"))) return 0;
      hasStopped = true;
      return ::write(stopped[1], "x", 1) == 1 && ::read(gate[0], &byte, 1) == 1 ? 0 : EIO;
    };
    _exit(applyPlan(fixture.scratch.root(), fixture.plan).isOk() ? 0 : 2);
  }
  ASSERT_EQ(::read(stopped[0], &byte, 1), 1);
  std::thread opener([&] {
    usleep(50000);
    EXPECT_EQ(::write(gate[1], "x", 1), 1);
  });
  EXPECT_EQ(finishKilledCommand(fixture.scratch.root()).value(), "");  // it was at work, not killed
  EXPECT_EQ(fixture.scratch.text("ops/made/deep/made.cpp"), "made");
  opener.join();
  int state = 0;
  waitpid(other, &state, 0);
  EXPECT_EQ(state, 0);
}

TEST(Transaction, RefusesAPathOutsideTheTree) {
  const Fixture fixture;
  const std::string outside = testing::TempDir() + "outside";
  std::filesystem::create_directories(outside);
  std::filesystem::create_directory_symlink(outside, fixture.scratch.at("ops/away"));
  const auto before = fixture.scratch.listing();
  for (const std::string& path :
       {outside + "/x", std::string("../x"), std::string("ops/../../x"), std::string("ops/away/x")}) {
    const Status status = applyPlan(fixture.scratch.root(), {{path, std::nullopt, "text"}});
    EXPECT_NE(status.message().find(" lies outside the tree "), std::string::npos) << path << ": " << status.message();
  }
  EXPECT_EQ(fixture.scratch.listing(), before);
}

TEST(Transaction, KeepsTheModeOfAFile) {
  const Fixture fixture;
  const std::string path = fixture.scratch.at("ops/old/old.cpp");
  ASSERT_EQ(chmod(path.c_str(), 0750), 0);
  ASSERT_TRUE(applyPlan(fixture.scratch.root(), fixture.plan).isOk());
  struct stat facts {};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0750u);
}

TEST(Apply, ChangesNothingWhenAFileCannotBeWritten) {
  const ScratchTree scratch;
  const auto plan = planNew(scratch.tree(), Templates(), Spec{.name = "Thing", .kind = "rowwise"}, false);
  ASSERT_TRUE(plan);
  scratch.write("shaders/thing", "a file where a folder is needed");
  const auto before = scratch.snapshot();
  EXPECT_FALSE(scratch.tree().apply(*plan).isOk());
  EXPECT_EQ(scratch.snapshot(), before);
  EXPECT_FALSE(std::filesystem::exists(scratch.root() + "/ops/thing"));
}

TEST(Apply, PutsBackWhatWasMovedWhenALaterMoveFails) {
  const ScratchTree scratch;
  scratch.write("a.txt", "old");
  const Plan plan{{"a.txt", "old", "new"}, {"folder.txt", std::nullopt, "text"}};
  // Staging sees no such file; the rename finds a folder in its way.
  std::filesystem::create_directories(scratch.root() + "/folder.txt/inside");
  EXPECT_FALSE(scratch.tree().apply(plan).isOk());
  EXPECT_EQ(*scratch.tree().read("a.txt"), "old");
}

TEST(Apply, MakesTheFoldersOfARelativeRoot) {
  const ScratchTree scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.root());
  const Status status = Tree("new_folder").apply({{"a/b.txt", std::nullopt, "text"}});
  std::filesystem::current_path(before);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(scratch.tree().read("new_folder/a/b.txt"), "text");
}

TEST(Apply, RefusesAFileThatChangedMeanwhile) {
  const ScratchTree scratch;
  scratch.write("a.txt", "other");
  EXPECT_EQ(scratch.tree().apply({{"a.txt", "old", "new"}}).message(),
            "a.txt changed while it was looked at; run the command again");
}

}  // namespace
}  // namespace opkit::scaffold
