#include "scaffold/transaction.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "engine/base/checked_file.h"
#include "engine/base/guard.h"
#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "scaffold/disk.h"
#include "scaffold/record.h"

namespace opkit::scaffold {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr const char* kFolder = ".opkit";
constexpr const char* kPending = ".opkit/pending";
constexpr const char* kDone = ".opkit/done";

/// One change as the journal holds it. Texts are hashes: "" where there is no file.
struct Change {
  std::string path;
  std::string before, after;
};

struct Journal {
  std::vector<std::string> folders;  // that the plan makes, outermost first; like paths, relative to the root
  std::vector<Change> changes;
};

/// "" if there is no such file.
Result<std::string> hashOnDisk(const fs::path& path) {
  OPKIT_ASSIGN(const fs::file_type type, typeOf(path));
  if (type == fs::file_type::not_found) return std::string();
  if (type == fs::file_type::directory)
    return Status::invalidArgument("cannot write '{}': it is a folder", path.string());
  OPKIT_ASSIGN(const std::string text, readText(path.string()));
  return hashOf(text);
}

Status writeText(const fs::path& path, const std::string& text) {
  return writeFile(path.string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

/// The place of a path of the tree. Refuses one that leads outside, by itself or through a link.
Result<fs::path> placeOf(const fs::path& root, const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(root, error);
  const fs::path folder = error ? fs::path() : fs::weakly_canonical((root / path).parent_path(), error);
  if (error) return fileError("look at", root / path, error);
  const fs::path inside = folder.lexically_relative(whole);
  if (!isInside(path) || inside.empty() || *inside.begin() == "..")
    return Status::invalidArgument("{} lies outside the tree {}", path, whole.string());
  return folder / fs::path(path).filename();
}

/// Holds .opkit of a tree, which it makes if need be, against other processes until it is destroyed.
class Lock {
 public:
  static Result<Lock> take(const fs::path& root) {
    Lock lock(root / kFolder);
    const Status status = lock.hold();
    if (status.isOk()) return lock;
    if (lock.isMade_) lock.leave();
    return status;
  }

  /// Removes the folder, unless it holds records. Allocates nothing.
  void leave() const { removeIfEmpty(path_); }

 private:
  explicit Lock(fs::path path) : path_(std::move(path)) {}

  Status hold() {
    for (;;) {
      OPKIT_TRY(open());
      if (!folder_.isOpen()) continue;  // the last holder has removed it meanwhile
      if (::flock(folder_.get(), LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) return Status::ok();  // it knows no locks
        return fileError("lock", path_);
      }
      OPKIT_ASSIGN(const bool isDone, isInPlace());
      if (isDone) return Status::ok();
    }
  }

  Status open() {
    OPKIT_ASSIGN(const bool wasThere, isThere(path_));
    OPKIT_TRY(makeFolder(path_));
    isMade_ = !wasThere;
    folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return folder_.isOpen() || errno == ENOENT ? Status::ok() : fileError("open", path_);
  }

  /// Whether the folder that is held is still the one of the tree.
  Result<bool> isInPlace() const {
    struct stat held {
    }, found{};
    if (::fstat(folder_.get(), &held) != 0) return fileError("look at", path_);
    if (::stat(path_.c_str(), &found) != 0) {
      if (errno == ENOENT) return false;
      return fileError("look at", path_);
    }
    return held.st_ino == found.st_ino && held.st_dev == found.st_dev;
  }

  fs::path path_;
  bool isMade_ = false;
  Descriptor folder_;
};

/// Not by one JSON value: the destructor of a nested one ends the program if memory is refused.
std::string journalText(const Journal& journal) {
  const auto quoted = [](const std::string& text) { return json(text).dump(); };
  std::string folders, changes;
  for (const std::string& folder : journal.folders)
    folders += fmt::format("{}{}", folders.empty() ? "" : ", ", quoted(folder));
  for (const Change& change : journal.changes)
    changes += fmt::format("{}\n  {{\"path\": {}, \"before\": {}, \"after\": {}}}", changes.empty() ? "" : ",",
                           quoted(change.path), quoted(change.before), quoted(change.after));
  return fmt::format("{{\n \"folders\": [{}],\n \"changes\": [{}]\n}}\n", folders, changes);
}

/// Nothing if the plan had not been written when the process was killed: then no file of the tree was changed.
Result<std::optional<Journal>> readJournal(const fs::path& folder) {
  const fs::path path = folder / "plan.json";
  OPKIT_ASSIGN(const bool isWritten, isThere(path));
  if (!isWritten) return std::optional<Journal>();
  OPKIT_ASSIGN(const std::string text, readText(path.string()));
  const json document = parseJson(text);
  const Status damaged =
      Status::invalidArgument("'{}' is damaged; delete its folder to keep the tree as it is", path.string());
  Journal journal;
  try {
    document.at("folders").get_to(journal.folders);
    for (const json& change : document.at("changes"))
      journal.changes.push_back({change.at("path"), change.at("before"), change.at("after")});
  } catch (const json::exception&) {
    return damaged;
  }
  if (!std::ranges::all_of(journal.folders, isInside) || !std::ranges::all_of(journal.changes, isInside, &Change::path))
    return damaged;
  return std::optional(std::move(journal));
}

/// The journal on disk, and the steps that it records.
class Transaction {
 public:
  Transaction(fs::path root, Journal journal) : root_(std::move(root)), journal_(std::move(journal)) {}

  /// Everything that must be there before the tree changes.
  Status prepare(const Plan& plan) const {
    for (const char* folder : {"new", "old"}) OPKIT_TRY(makeFolder(root_ / kPending / folder));
    for (size_t i = 0; i < plan.size(); ++i) {
      OPKIT_TRY(stage(plan[i], i));
      if (interrupted()) return Status::internal("interrupted");  // from here on it is quicker to finish than to undo
    }
    return writeText(root_ / kPending / "plan.json", journalText(journal_));
  }

  Status perform() const {
    for (const std::string& folder : journal_.folders) OPKIT_TRY(makeFolder(root_ / folder));
    for (size_t i = 0; i < journal_.changes.size(); ++i) {
      OPKIT_ASSIGN(const fs::path target, placeOf(root_, journal_.changes[i].path));
      OPKIT_TRY(journal_.changes[i].after.empty() ? removeFile(target) : moveFile(newFile(i), target));
    }
    return moveFile(root_ / kPending, root_ / kDone);
  }

  /// Puts back every file, unless one is neither what the plan found nor what it wrote. Goes on behind a file that
  /// cannot be put back: the journal stays then.
  Status undo() const {
    OPKIT_TRY(checkUntouched());
    Status first = Status::ok();
    for (size_t i = journal_.changes.size(); i-- > 0;)
      if (const Status status = putBack(i); first.isOk()) first = status;
    OPKIT_TRY(first);
    for (auto folder = journal_.folders.rbegin(); folder != journal_.folders.rend(); ++folder)
      removeIfEmpty(root_ / *folder);
    return removeAll(root_ / kPending);
  }

  /// Removes the journal and the folders that deleted files left empty.
  Status complete() const {
    for (const Change& change : journal_.changes)
      if (change.after.empty())
        for (fs::path at = fs::path(change.path).parent_path(); !at.empty() && removeIfEmpty(root_ / at);)
          at = at.parent_path();
    return removeAll(root_ / kDone);
  }

 private:
  fs::path newFile(size_t i) const { return root_ / kPending / "new" / std::to_string(i); }
  fs::path oldFile(size_t i) const { return root_ / kPending / "old" / std::to_string(i); }

  Status stage(const FileChange& change, size_t i) const {
    OPKIT_ASSIGN(const fs::path target, placeOf(root_, change.path));
    OPKIT_ASSIGN(const std::string found, hashOnDisk(target));
    if (found != journal_.changes[i].before)
      return Status::invalidArgument("{} changed while it was looked at; run the command again", change.path);
    OPKIT_TRY(checkDevice(target.parent_path()));
    if (change.before) OPKIT_TRY(keepFile(target, oldFile(i)));
    if (!change.after) return Status::ok();
    OPKIT_TRY(writeText(newFile(i), *change.after));
    if (!change.before) return Status::ok();
    std::error_code error;
    const fs::perms mode = fs::status(target, error).permissions();
    if (!error) fs::permissions(newFile(i), mode, error);
    return error ? fileError("keep the mode of", target, error) : Status::ok();
  }

  /// A file cannot be renamed onto another file system.
  Status checkDevice(fs::path folder) const {
    struct stat here {
    }, there{};
    while (::stat(folder.c_str(), &there) != 0) {
      if (errno != ENOENT) return fileError("look at", folder);
      folder = folder.parent_path();
    }
    const fs::path journal = root_ / kFolder;
    if (::stat(journal.c_str(), &here) != 0) return fileError("look at", journal);
    if (here.st_dev == there.st_dev) return Status::ok();
    return Status::invalidArgument("'{}' lies on another file system than '{}': nothing was changed", folder.string(),
                                   journal.string());
  }

  Status checkUntouched() const {
    for (const Change& change : journal_.changes) {
      OPKIT_ASSIGN(const fs::path target, placeOf(root_, change.path));
      OPKIT_ASSIGN(const std::string found, hashOnDisk(target));
      if (found != change.before && found != change.after)
        return Status::invalidArgument(
            "{} changed since a command was killed here: delete '{}' to keep the tree as it is, or put back its files "
            "first, which {}/old holds by the numbers of plan.json",
            change.path, (root_ / kPending).string(), kPending);
    }
    return Status::ok();
  }

  Status putBack(size_t i) const {
    const Change& change = journal_.changes[i];
    OPKIT_ASSIGN(const fs::path target, placeOf(root_, change.path));
    OPKIT_ASSIGN(const std::string found, hashOnDisk(target));
    if (found == change.before) return Status::ok();
    if (change.before.empty()) return removeFile(target);
    OPKIT_TRY(moveFile(oldFile(i), target));
    std::error_code ignored;
    fs::last_write_time(target, fs::file_time_type::clock::now(), ignored);  // a build may have seen the other text
    return Status::ok();
  }

  fs::path root_;
  Journal journal_;
};

/// The journal of a plan. Refuses a path outside the tree, and one that the plan names twice.
Result<Journal> journalOf(const fs::path& root, const Plan& plan) {
  Journal journal;
  std::set<fs::path> places;
  for (const FileChange& change : plan) {
    OPKIT_ASSIGN(const fs::path place, placeOf(root, change.path));
    if (!places.insert(place).second) return Status::internal("the plan changes {} twice", change.path);
    std::vector<std::string> missing;
    for (fs::path at = fs::path(change.path).parent_path(); change.after && !at.empty(); at = at.parent_path()) {
      OPKIT_ASSIGN(const bool there, isThere(root / at));
      if (there) break;
      if (std::ranges::find(journal.folders, at.string()) == journal.folders.end()) missing.push_back(at.string());
    }
    journal.folders.insert(journal.folders.end(), missing.rbegin(), missing.rend());
    journal.changes.push_back(
        {change.path, change.before ? hashOf(*change.before) : "", change.after ? hashOf(*change.after) : ""});
  }
  return journal;
}

/// The folders of `root` that are not there yet, innermost first.
Result<std::vector<fs::path>> missingFolders(const fs::path& root) {
  std::vector<fs::path> missing;
  for (fs::path at = root; !at.empty(); at = at.parent_path()) {
    OPKIT_ASSIGN(const bool there, isThere(at));
    if (there) break;
    missing.push_back(at);
  }
  return missing;
}

/// See finishKilledCommand. The caller holds the lock.
Result<std::string> finishHere(const fs::path& root) {
  OPKIT_ASSIGN(const bool isDone, isThere(root / kDone));
  if (isDone) {
    OPKIT_ASSIGN(const auto journal, readJournal(root / kDone));
    OPKIT_TRY(Transaction(root, journal.value_or(Journal())).complete());
    return std::string("completed a command that was killed");
  }
  OPKIT_ASSIGN(const bool isPending, isThere(root / kPending));
  if (!isPending) return std::string();
  OPKIT_ASSIGN(const auto journal, readJournal(root / kPending));
  OPKIT_TRY(journal ? Transaction(root, *journal).undo() : removeAll(root / kPending));
  return std::string(journal ? "undid a command that was killed" : "");
}

Status applyHere(const fs::path& root, const Plan& plan) {
  OPKIT_ASSIGN(const Journal journal, journalOf(root, plan));
  const Transaction transaction(root, journal);
  if (const Status prepared = guarded([&] { return transaction.prepare(plan); }); !prepared.isOk()) {
    static_cast<void>(guarded([&] { return removeAll(root / kPending); }).isOk());  // else the next command does
    return prepared;
  }
  if (const Status performed = guarded([&] { return transaction.perform(); }); !performed.isOk()) {
    const Status undone = guarded([&] { return transaction.undo(); });
    if (undone.isOk()) return performed;
    return Status::invalidArgument("{}; it is half done, since {}: the next command undoes it", performed.message(),
                                   undone.message());
  }
  // It is done; the next command removes the journal.
  static_cast<void>(guarded([&] { return transaction.complete(); }).isOk());
  return Status::ok();
}

/// Calls `work` while no other process does, and no signal ends this one.
template <typename Work>
auto withLock(const fs::path& root, const Work& work) -> decltype(work()) {
  OPKIT_ASSIGN(const Lock lock, Lock::take(root));
  const GracefulInterrupt graceful(GracefulInterrupt::Patience::Unlimited);
  const auto result = guarded(work);
  lock.leave();
  return result;
}

Result<fs::path> absoluteRoot(const std::string& root) {
  std::error_code error;
  const fs::path absolute = fs::absolute(root, error).lexically_normal();
  if (error) return Status::invalidArgument("cannot find the current folder: {}", error.message());
  return absolute;
}

}  // namespace

Result<std::string> finishKilledCommand(const std::string& root) {
  OPKIT_ASSIGN(const fs::path tree, absoluteRoot(root));
  OPKIT_ASSIGN(const bool isDone, isThere(tree / kDone));
  OPKIT_ASSIGN(const bool isPending, isThere(tree / kPending));
  if (!isDone && !isPending) return std::string();
  return withLock(tree, [&] { return finishHere(tree); });
}

Status applyPlan(const std::string& root, const Plan& plan) {
  Plan changes;
  std::ranges::copy_if(plan, std::back_inserter(changes), [](const FileChange& change) { return !change.isNoOp(); });
  if (changes.empty()) return Status::ok();
  OPKIT_ASSIGN(const fs::path tree, absoluteRoot(root));
  OPKIT_ASSIGN(const std::vector<fs::path> missing, missingFolders(tree));
  const Status status = withLock(tree, [&]() -> Status {
    OPKIT_ASSIGN(const std::string finished, finishHere(tree));
    return applyHere(tree, changes);
  });
  for (const fs::path& folder : missing)
    if (!status.isOk()) removeIfEmpty(folder);
  return status;
}

}  // namespace opkit::scaffold
