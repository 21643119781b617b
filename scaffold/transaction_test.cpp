// Plans are applied as a whole or not at all: when a step fails, when a signal comes, when the process is killed.
#include "scaffold/transaction.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "engine/base/checked_file.h"
#include "engine/base/interrupt.h"
#include "scaffold/generate.h"
#include "scaffold/testing/forms.h"
#include "scaffold/testing/scratch_tree.h"

namespace {
/// Called before each rename, link, mkdir and removal of the process, those of the journal included; an error number
/// fails the call.
std::function<int()> beforeStep;
bool fails() {
  errno = beforeStep ? beforeStep() : 0;
  return errno != 0;
}
/// The same before each look at a file or folder, and before each opening.
std::function<int()> beforeLook;
bool failsToLook() {
  errno = beforeLook ? beforeLook() : 0;
  return errno != 0;
}
/// How many requests of memory until one is refused, once; 0: none is.
size_t untilRefused = 0;
}  // namespace

// All memory of this program comes from here.
void* operator new(size_t bytes) {
  if (untilRefused > 0 && --untilRefused == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

// In place of the C library's, for the engine and for std::filesystem alike.
extern "C" int rename(const char* from, const char* to) noexcept {
  return fails() ? -1 : ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}
extern "C" int link(const char* from, const char* to) noexcept {
  return fails() ? -1 : ::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
extern "C" int mkdir(const char* path, mode_t mode) noexcept { return fails() ? -1 : ::mkdirat(AT_FDCWD, path, mode); }
extern "C" int unlinkat(int folder, const char* path, int flags) noexcept {  // std::filesystem::remove_all
  return fails() ? -1 : static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}
extern "C" int rmdir(const char* path) noexcept { return ::unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
extern "C" int remove(const char* path) noexcept {
  const int result = ::unlinkat(AT_FDCWD, path, 0);
  return result == 0 || (errno != EISDIR && errno != EPERM) ? result : ::rmdir(path);
}
extern "C" int stat(const char* path, struct stat* facts) noexcept {
  return failsToLook() ? -1 : ::fstatat(AT_FDCWD, path, facts, 0);
}
extern "C" int lstat(const char* path, struct stat* facts) noexcept {
  return failsToLook() ? -1 : ::fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW);
}
extern "C" int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return failsToLook() ? -1 : ::openat(AT_FDCWD, path, flags, mode);
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
      found[path] = entry.is_symlink()     ? "link to " + std::filesystem::read_symlink(entry.path()).string()
                    : entry.is_directory() ? "folder"
                                           : text(path);
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
    scratch.write("ops/gone/deep/gone.cpp", "gone");
    scratch.write("shared.cpp", "shared");
    std::filesystem::create_symlink("../../shared.cpp", scratch.at("ops/old/link.cpp"));
    before = after = scratch.listing();
    after["ops/old/old.cpp"] = "new";
    for (const char* path : {"ops/gone/deep/gone.cpp", "ops/gone/deep", "ops/gone", "ops/old/link.cpp"})
      after.erase(path);
    for (const char* folder : {"ops/made", "ops/made/deep"}) after[folder] = "folder";
    after["ops/made/deep/made.cpp"] = "made";
    after["ops/made/other.cpp"] = "";
  }
  Folder scratch;
  Plan plan{{"ops/old/old.cpp", "old", "new"},
            {"ops/old/link.cpp", "shared", std::nullopt},
            {"ops/gone/deep/gone.cpp", "gone", std::nullopt},
            {"ops/made/deep/made.cpp", std::nullopt, "made"},
            {"ops/old/same.cpp", std::nullopt, std::nullopt},
            {"ops/made/other.cpp", std::nullopt, ""}};
  std::map<std::string, std::string> before, after;
};

/// Applies the plan in a process of its own that calls `step` with the number of each step, from 0 on; its wait status.
int appliedApart(const Fixture& fixture, const std::function<int(int)>& step) {
  const pid_t child = fork();
  if (child == 0) {
    std::fclose(stderr);
    std::signal(SIGHUP, SIG_DFL);  // under nohup(1) it is ignored
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

constexpr int kMostSteps = 80;  // the plan takes fewer

TEST(Transaction, MakesEveryChange) {
  const Fixture fixture;
  EXPECT_EQ(appliedApart(fixture, [](int) { return 0; }), 0);
  EXPECT_EQ(fixture.scratch.listing(), fixture.after);
}

TEST(Transaction, IsUndoneOrCompletedAfterAKillBeforeAnyStep) {
  size_t undone = 0, completed = 0;
  int killed = 0;
  for (;; ++killed) {
    const Fixture fixture;
    const int state = appliedApart(fixture, [&](int number) { return number == killed ? raise(SIGKILL) : 0; });
    if (state == 0) break;
    ASSERT_LT(killed, kMostSteps);
    ASSERT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL) << state;
    const auto finished = finishKilledCommand(fixture.scratch.root());
    ASSERT_TRUE(finished) << killed << ": " << finished.error().message();
    auto tree = fixture.scratch.listing();
    if (finished->empty()) tree.erase(".opkit");  // nothing was begun; git ignores the empty folder
    const bool isAfter = tree == fixture.after;
    EXPECT_TRUE(isAfter || tree == fixture.before) << "killed before step " << killed;
    (isAfter ? completed : undone) += 1;
    EXPECT_EQ(finishKilledCommand(fixture.scratch.root()).value(), "");
  }
  EXPECT_GT(undone, 10u);
  EXPECT_GT(completed, 0u);
}

TEST(Transaction, ChangesNothingWhenAnyStepFails) {
  int steps = 0;
  {
    const Fixture fixture;
    beforeStep = [&] { return ++steps, 0; };
    ASSERT_TRUE(applyPlan(fixture.scratch.root(), fixture.plan).isOk());
    beforeStep = nullptr;
  }
  size_t failed = 0;
  for (int wrong = 0; wrong < steps; ++wrong) {
    const Fixture fixture;
    const int state = appliedApart(fixture, [&](int number) { return number == wrong ? EIO : 0; });
    ASSERT_TRUE(WIFEXITED(state)) << state;
    const auto tree = fixture.scratch.listing();
    if (WEXITSTATUS(state) == 0) {
      // What failed is only the removal of an empty folder or of the journal.
      auto rest = tree;
      std::erase_if(rest, [](const auto& entry) { return entry.first.starts_with(".opkit"); });
      for (const char* folder : {"ops/gone", "ops/gone/deep"}) rest.erase(folder);
      EXPECT_EQ(rest, fixture.after) << "step " << wrong << " fails";
    } else {
      ++failed;
      EXPECT_EQ(tree, fixture.before) << "step " << wrong << " fails";
    }
  }
  EXPECT_GT(failed, 10u);
}

TEST(Transaction, NamesTheCauseOfALookThatFails) {
  auto fixture = std::make_unique<Fixture>();
  size_t failed = 0;
  for (int wrong = 0, number = 0; number >= wrong; ++wrong) {
    number = 0;
    beforeLook = [&] { return number++ == wrong ? EIO : 0; };
    const Status status = applyPlan(fixture->scratch.root(), fixture->plan);
    beforeLook = nullptr;
    if (status.isOk()) {  // looked again, or at the journal to remove
      fixture = std::make_unique<Fixture>();
      continue;
    }
    ++failed;
    ASSERT_NE(status.message().find("Input/output error"), std::string::npos) << wrong << ": " << status.message();
    ASSERT_EQ(fixture->scratch.listing(), fixture->before) << "look " << wrong << " fails";
  }
  EXPECT_GT(failed, 50u);
}

/// Applies the plan while the request of memory of that number is refused; `isOver` if there are fewer.
void refuse(size_t number, std::unique_ptr<Fixture>& fixture, bool& isOver) {
  const std::string root = fixture->scratch.root();
  Status status = Status::ok();
  untilRefused = number;
  try {
    status = applyPlan(root, fixture->plan);
  } catch (const std::bad_alloc&) {
    status = Status::outOfMemory("thrown");
  }
  isOver = std::exchange(untilRefused, 0) > 0;
  const auto tree = fixture->scratch.listing();
  if (tree == fixture->before) return;
  EXPECT_TRUE(tree == fixture->after || (status.isOk() && tree.contains(".opkit/done")))  // the next command removes it
      << "request " << number << ": " << status.message();
  fixture = std::make_unique<Fixture>();
}

TEST(Transaction, LeavesNothingWhenMemoryIsRefused) {
  auto fixture = std::make_unique<Fixture>();
  size_t number = 1;
  for (bool isOver = false; !isOver; ++number) refuse(number, fixture, isOver);
  EXPECT_GT(number, 100u);
}

TEST(Transaction, IsWholeWhenASignalComes) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    size_t undone = 0, made = 0;
    for (int at = 0; at < 60; at += 5) {
      const Fixture fixture;
      const int state = appliedApart(fixture, [&](int number) { return number == at ? raise(signal) : 0; });
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
  appliedApart(fixture, [&](int) { return readText(changed).value() == "new" ? raise(SIGKILL) : 0; });
  ASSERT_EQ(fixture.scratch.text("ops/old/old.cpp"), "new");
  ASSERT_EQ(fixture.scratch.text("ops/gone/deep/gone.cpp"), "gone");
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
  for (const char* text : {"", "{", "[]", R"({"folders":1,"changes":[]})", R"({"folders":[],"changes":[{"path":1}]})",
                           R"({"folders":["/tmp"],"changes":[]})", R"({"folders":["../x"],"changes":[]})",
                           R"({"folders":[],"changes":[{"path":"../x","before":"","after":"1"}]})",
                           R"({"folders":[],"changes":[{"path":"/x","before":"1","after":""}]})"}) {
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

TEST(Transaction, RefusesAPathTwice) {
  const Fixture fixture;
  const Plan plan{{"a.txt", std::nullopt, "one"}, {"./a.txt", std::nullopt, "two"}};
  EXPECT_EQ(applyPlan(fixture.scratch.root(), plan).message(), "the plan changes ./a.txt twice");
  EXPECT_EQ(fixture.scratch.listing(), fixture.before);
}

TEST(Transaction, GivesWhatItPutsBackANewTime) {
  const Fixture fixture;
  namespace fs = std::filesystem;
  const fs::path path = fixture.scratch.at("ops/old/old.cpp");
  const auto lastYear = fs::file_time_type::clock::now() - std::chrono::hours(24 * 365);
  fs::last_write_time(path, lastYear);
  leaveHalfDone(fixture);
  ASSERT_TRUE(finishKilledCommand(fixture.scratch.root()));
  EXPECT_GT(fs::last_write_time(path), lastYear + std::chrono::hours(24)) << "a build may have seen the other text";
}

TEST(Transaction, DeletesNoFileOfOthers) {
  const Fixture fixture;
  std::filesystem::create_symlink("nowhere", fixture.scratch.at("ops/made"));  // where the plan wants a folder
  const auto before = fixture.scratch.listing();
  EXPECT_FALSE(applyPlan(fixture.scratch.root(), fixture.plan).isOk());
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
