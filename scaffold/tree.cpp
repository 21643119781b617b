#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "engine/base/checked_file.h"
#include "engine/base/interrupt.h"
#include "engine/model/model.h"
#include "scaffold/plan.h"

namespace opkit::scaffold {
namespace {

namespace fs = std::filesystem;
constexpr const char* kStaged = ".op-scaffold-new";

std::optional<std::string> textOf(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  auto text = readText(path.string());
  if (!text) throw std::runtime_error(text.error().message());  // a file that is there is never taken for an absent one
  return *std::move(text);
}

Status writeText(const fs::path& path, const std::string& text) {
  return writeFile(path.string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

/// Applies one plan; undoes it unless commit() is reached.
class Transaction {
 public:
  explicit Transaction(const Tree& tree) : tree_(tree) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    std::error_code ignored;
    if (!committed_) {
      for (auto change = moved_.rbegin(); change != moved_.rend(); ++change) restore(**change);
      for (const fs::path& staged : staged_) fs::remove(staged, ignored);
      for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) fs::remove(*folder, ignored);
    }
  }

  Status stage(const FileChange& change) {
    const fs::path target = tree_.absolute(change.path);
    if (tree_.read(change.path) != change.before || (!change.before && fs::exists(target)))
      return Status::invalidArgument("{} changed while it was looked at; run the command again", change.path);
    if (!change.after) return Status::ok();
    OPKIT_TRY(makeFolders(target.parent_path()));
    const fs::path staged = target.string() + kStaged;
    staged_.push_back(staged);
    return writeText(staged, *change.after);
  }

  Status move(const FileChange& change) {
    const fs::path target = tree_.absolute(change.path);
    std::error_code error;
    if (change.after)
      fs::rename(target.string() + kStaged, target, error);
    else
      fs::remove(target, error);
    if (error) return Status::invalidArgument("cannot change {}: {}", change.path, error.message());
    moved_.push_back(&change);
    return Status::ok();
  }

  void commit() {
    committed_ = true;
    for (const FileChange* change : moved_)
      if (!change->after) removeEmptyFolders(fs::path(tree_.absolute(change->path)).parent_path());
  }

 private:
  Status makeFolders(const fs::path& relative) {
    const fs::path folder = fs::absolute(relative);  // ends at the root, where a relative path ends in nothing
    std::vector<fs::path> missing;
    for (fs::path at = folder; !fs::exists(at); at = at.parent_path()) missing.push_back(at);
    for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
      std::error_code error;
      if (!fs::create_directory(*at, error))
        return Status::invalidArgument("cannot make the folder {}: {}", at->string(), error.message());
      folders_.push_back(*at);
    }
    if (!fs::is_directory(folder)) return Status::invalidArgument("{} is not a folder", folder.string());
    return Status::ok();
  }
  void restore(const FileChange& change) const {
    std::error_code ignored;
    if (change.before)
      static_cast<void>(writeText(tree_.absolute(change.path), *change.before).isOk());
    else
      fs::remove(tree_.absolute(change.path), ignored);
  }
  void removeEmptyFolders(fs::path folder) const {
    std::error_code error;
    for (; folder != fs::path(tree_.root()) && fs::is_empty(folder, error) && !error; folder = folder.parent_path())
      if (!fs::remove(folder, error)) return;
  }

  const Tree& tree_;
  std::vector<fs::path> staged_;
  std::vector<fs::path> folders_;  // made, outermost first
  std::vector<const FileChange*> moved_;
  bool committed_ = false;
};

}  // namespace

Result<Tree> Tree::find(const std::string& folder) {
  std::error_code error;
  const fs::path start = fs::weakly_canonical(folder, error);
  for (fs::path at = start;; at = at.parent_path()) {
    if (fs::exists(at / "engine/op/op_def.h", error) && fs::is_directory(at / "ops", error)) return Tree(at.string());
    if (at == at.parent_path()) break;
  }
  return Status::invalidArgument("{} is not inside a source tree of OpKit; run there or give --root DIR",
                                 start.string());
}

bool Tree::exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(absolute(path), error);
}

std::optional<std::string> Tree::read(const std::string& path) const { return textOf(absolute(path)); }

std::vector<std::string> Tree::list(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(absolute(folder), error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Tree::filesBelow(const std::string& folder) const {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(absolute(folder), error))
    if (entry.is_regular_file()) paths.push_back(entry.path().lexically_relative(root_).generic_string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status Tree::apply(const Plan& plan) const {
  const GracefulInterrupt graceful(GracefulInterrupt::Patience::Unlimited);
  Transaction transaction(*this);
  for (const FileChange& change : plan) {
    if (!change.isNoOp()) OPKIT_TRY(transaction.stage(change));
    if (interrupted()) return Status::internal("interrupted");  // from here on it is quicker to finish than to undo
  }
  for (const FileChange& change : plan)
    if (!change.isNoOp()) OPKIT_TRY(transaction.move(change));
  transaction.commit();
  return Status::ok();
}

}  // namespace opkit::scaffold
