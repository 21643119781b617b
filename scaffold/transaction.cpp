#include "scaffold/transaction.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/base/checked_file.h"
#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"
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
  std::vector<std::string> folders;  // that the plan makes, outermost first
  std::vector<Change> changes;
};

Status fileError(const char* what, const fs::path& path, const std::error_code& error) {
  return Status::invalidArgument("cannot {} '{}': {}", what, path.string(), error.message());
}

/// "" if there is no such file.
Result<std::string> hashOnDisk(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return std::string();
  if (fs::is_directory(status)) return Status::invalidArgument("cannot write '{}': it is a folder", path.string());
  OPKIT_ASSIGN(const std::string text, readText(path.string()));
  return hashOf(text);
}

Status writeText(const fs::path& path, const std::string& text) {
  return writeFile(path.string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

Status removeFile(const fs::path& path) {
  std::error_code error;
  return fs::remove(path, error) || !error ? Status::ok() : fileError("delete", path, error);
}

Status removeAll(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? fileError("delete", path, error) : Status::ok();
}

Status moveFile(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? fileError("change", to, error) : Status::ok();
}

/// The same file under a second name, with its mode; a copy where the file system knows no links.
Status keepFile(const fs::path& file, const fs::path& copy) {
  std::error_code error;
  fs::create_hard_link(file, copy, error);
  if (error) fs::copy_file(file, copy, error);
  return error ? fileError("keep", file, error) : Status::ok();
}

/// Holds .opkit of a tree, which it makes if need be, against other processes until it is destroyed.
class Lock {
 public:
  static Result<Lock> take(const fs::path& root) {
    for (;;) {
      Lock lock;
      OPKIT_TRY(lock.open(root / kFolder));
      struct stat held {
      }, found{};
      if (!lock.folder_.isOpen()) continue;
      if (::flock(lock.folder_.get(), LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        return Status::invalidArgument("cannot lock '{}': {}", (root / kFolder).string(), std::strerror(errno));
      }
      // The last holder may have removed the folder meanwhile.
      if (::fstat(lock.folder_.get(), &held) == 0 && ::stat((root / kFolder).c_str(), &found) == 0 &&
          held.st_ino == found.st_ino && held.st_dev == found.st_dev)
        return lock;
    }
  }

 private:
  Status open(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return fileError("make the folder", folder, error);
    folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder_.isOpen() || errno == ENOENT) return Status::ok();
    return Status::invalidArgument("cannot open '{}': {}", folder.string(), std::strerror(errno));
  }

  Descriptor folder_;
};

std::string journalText(const Journal& journal) {
  json changes = json::array();
  for (const Change& change : journal.changes)
    changes.push_back({{"path", change.path}, {"before", change.before}, {"after", change.after}});
  return json{{"folders", journal.folders}, {"changes", changes}}.dump(1) + "\n";
}

/// Nothing if the plan had not been written when the process was killed: then no file of the tree was changed.
Result<std::optional<Journal>> readJournal(const fs::path& folder) {
  const fs::path path = folder / "plan.json";
  std::error_code error;
  if (!fs::exists(path, error)) return std::optional<Journal>();
  OPKIT_ASSIGN(const std::string text, readText(path.string()));
  const json document = parseJson(text);
  Journal journal;
  try {
    document.at("folders").get_to(journal.folders);
    for (const json& change : document.at("changes"))
      journal.changes.push_back({change.at("path"), change.at("before"), change.at("after")});
  } catch (const json::exception&) {
    return Status::invalidArgument("'{}' is damaged; delete its folder to keep the tree as it is", path.string());
  }
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
    for (const std::string& folder : journal_.folders) OPKIT_TRY(makeFolder(folder));
    for (size_t i = 0; i < journal_.changes.size(); ++i) {
      const fs::path target = root_ / journal_.changes[i].path;
      OPKIT_TRY(journal_.changes[i].after.empty() ? removeFile(target) : moveFile(newFile(i), target));
    }
    return moveFile(root_ / kPending, root_ / kDone);
  }

  /// Puts back every file, unless one is neither what the plan found nor what it wrote.
  Status undo() const {
    OPKIT_TRY(checkUntouched());
    for (size_t i = journal_.changes.size(); i-- > 0;) {
      const Change& change = journal_.changes[i];
      std::error_code error;
      if (!change.before.empty())
        OPKIT_TRY(fs::exists(oldFile(i), error) ? moveFile(oldFile(i), root_ / change.path) : Status::ok());
      else if (!fs::exists(newFile(i), error))
        OPKIT_TRY(removeFile(root_ / change.path));
    }
    for (auto folder = journal_.folders.rbegin(); folder != journal_.folders.rend(); ++folder) {
      std::error_code ignored;
      fs::remove(*folder, ignored);  // not if another program has put a file there
    }
    return removeAll(root_ / kPending);
  }

  /// Removes the journal and the folders that deleted files left empty.
  Status complete() const {
    for (const Change& change : journal_.changes)
      if (change.after.empty()) removeEmptyFolders((root_ / change.path).parent_path());
    return removeAll(root_ / kDone);
  }

 private:
  fs::path newFile(size_t i) const { return root_ / kPending / "new" / std::to_string(i); }
  fs::path oldFile(size_t i) const { return root_ / kPending / "old" / std::to_string(i); }

  static Status makeFolder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? fileError("make the folder", folder, error) : Status::ok();
  }

  Status stage(const FileChange& change, size_t i) const {
    const fs::path target = root_ / change.path;
    OPKIT_ASSIGN(const std::string found, hashOnDisk(target));
    if (found != journal_.changes[i].before)
      return Status::invalidArgument("{} changed while it was looked at; run the command again", change.path);
    if (change.before) OPKIT_TRY(keepFile(target, oldFile(i)));
    if (!change.after) return Status::ok();
    OPKIT_TRY(writeText(newFile(i), *change.after));
    if (!change.before) return Status::ok();
    std::error_code error;
    fs::permissions(newFile(i), fs::status(target, error).permissions(), error);
    return error ? fileError("keep the mode of", target, error) : Status::ok();
  }

  Status checkUntouched() const {
    for (const Change& change : journal_.changes) {
      OPKIT_ASSIGN(const std::string found, hashOnDisk(root_ / change.path));
      if (found != change.before && found != change.after)
        return Status::invalidArgument(
            "{} changed since a command was killed here: delete {} to keep the tree as it is, or put back the files "
            "that it names from {}/old",
            change.path, (root_ / kPending).string(), kPending);
    }
    return Status::ok();
  }

  void removeEmptyFolders(fs::path folder) const {
    std::error_code error;
    for (; folder != root_ && fs::is_empty(folder, error) && !error; folder = folder.parent_path())
      if (!fs::remove(folder, error)) return;
  }

  fs::path root_;
  Journal journal_;
};

/// The journal of a plan. Refuses a path that leads outside the tree.
Result<Journal> journalOf(const fs::path& root, const Plan& plan) {
  Journal journal;
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(root, error);
  for (const FileChange& change : plan) {
    const fs::path folder = fs::weakly_canonical((root / change.path).parent_path(), error);
    const fs::path inside = folder.lexically_relative(whole);
    if (error || fs::path(change.path).is_absolute() || inside.empty() || *inside.begin() == "..")
      return Status::invalidArgument("{} lies outside the tree {}", change.path, whole.string());
    std::vector<std::string> missing;
    if (change.after)
      for (fs::path at = folder; at != whole && !fs::exists(at, error); at = at.parent_path())
        if (std::ranges::find(journal.folders, at.string()) == journal.folders.end()) missing.push_back(at.string());
    journal.folders.insert(journal.folders.end(), missing.rbegin(), missing.rend());
    journal.changes.push_back(
        {change.path, change.before ? hashOf(*change.before) : "", change.after ? hashOf(*change.after) : ""});
  }
  return journal;
}

/// The folders of `root` that are not there yet, innermost first.
std::vector<fs::path> missingFolders(const fs::path& root) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = root; !at.empty() && !fs::exists(at, error); at = at.parent_path()) missing.push_back(at);
  return missing;
}

/// See finishKilledCommand. The caller holds the lock.
Result<std::string> finishHere(const fs::path& root) {
  std::error_code error;
  if (fs::exists(root / kDone, error)) {
    OPKIT_ASSIGN(const auto journal, readJournal(root / kDone));
    OPKIT_TRY(Transaction(root, journal.value_or(Journal())).complete());
    return std::string("completed a command that was killed");
  }
  if (!fs::exists(root / kPending, error)) return std::string();
  OPKIT_ASSIGN(const auto journal, readJournal(root / kPending));
  OPKIT_TRY(journal ? Transaction(root, *journal).undo() : removeAll(root / kPending));
  return std::string(journal ? "undid a command that was killed" : "");
}

Status applyHere(const fs::path& root, const Plan& plan) {
  OPKIT_ASSIGN(const Journal journal, journalOf(root, plan));
  const Transaction transaction(root, journal);
  if (const Status prepared = transaction.prepare(plan); !prepared.isOk()) {
    static_cast<void>(removeAll(root / kPending).isOk());  // else the next command does
    return prepared;
  }
  if (const Status performed = transaction.perform(); !performed.isOk()) {
    const Status undone = transaction.undo();
    return undone.isOk() ? performed : performed.withContext(fmt::format("half done, {}", undone.message()));
  }
  static_cast<void>(transaction.complete().isOk());  // it is done; the next command removes the journal
  return Status::ok();
}

Status applyLocked(const fs::path& root, const Plan& plan) {
  OPKIT_ASSIGN(const Lock lock, Lock::take(root));
  const GracefulInterrupt graceful(GracefulInterrupt::Patience::Unlimited);
  OPKIT_ASSIGN(const std::string finished, finishHere(root));
  const Status status = applyHere(root, plan);
  std::error_code ignored;
  fs::remove(root / kFolder, ignored);  // not if it holds records
  return status;
}

}  // namespace

Result<std::string> finishKilledCommand(const std::string& root) {
  const fs::path tree = fs::absolute(root).lexically_normal();
  std::error_code error;
  if (!fs::exists(tree / kPending, error) && !fs::exists(tree / kDone, error)) return std::string();
  OPKIT_ASSIGN(const Lock lock, Lock::take(tree));
  const GracefulInterrupt graceful(GracefulInterrupt::Patience::Unlimited);
  return finishHere(tree);
}

Status applyPlan(const std::string& root, const Plan& plan) {
  Plan changes;
  std::ranges::copy_if(plan, std::back_inserter(changes), [](const FileChange& change) { return !change.isNoOp(); });
  if (changes.empty()) return Status::ok();
  const fs::path tree = fs::absolute(root).lexically_normal();
  const std::vector<fs::path> missing = missingFolders(tree);
  const Status status = applyLocked(tree, changes);
  std::error_code ignored;
  for (const fs::path& folder : missing)
    if (!status.isOk()) fs::remove(folder, ignored);
  return status;
}

}  // namespace opkit::scaffold
