// Plan: what a command would change, held in memory until all of it is known to be right.
//
// A plan is a list of file changes relative to the tree's root. It prints as a unified diff that `git apply` and
// `patch -p1` accept, and is applied in one go or not at all. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::scaffold {

struct FileChange {
  std::string path;                   // relative to the root, with '/'
  std::optional<std::string> before;  // nothing: the file does not exist
  std::optional<std::string> after;   // nothing: the file is deleted
  std::string inserted = {};          // the block that is put into somebody else's file, when that is the change
  bool isNoOp() const { return before == after; }
};

using Plan = std::vector<FileChange>;

/// The plan as a unified diff with three lines of context; empty when nothing changes.
std::string unifiedDiff(const Plan& plan);
/// The change of one file, likewise.
std::string unifiedDiff(const FileChange& change);

/// A source tree on disk.
class Tree {
 public:
  explicit Tree(std::string root) : root_(std::move(root)) {}
  /// The tree that holds `folder` (a parent with engine/op/op_def.h and ops/); InvalidArgument when there is none.
  static Result<Tree> find(const std::string& folder);

  const std::string& root() const { return root_; }
  std::string absolute(const std::string& path) const { return root_ + "/" + path; }
  bool exists(const std::string& path) const;
  /// Nothing when the file does not exist.
  std::optional<std::string> read(const std::string& path) const;
  /// Names in a folder, sorted; empty when there is none.
  std::vector<std::string> list(const std::string& folder) const;
  /// Paths of every file below a folder, sorted.
  std::vector<std::string> filesBelow(const std::string& folder) const;

  /// Writes the plan. On any failure nothing is changed: new contents are staged beside their targets first, and what
  /// was already moved into place is put back. InvalidArgument when a file is not what the plan was made from.
  Status apply(const Plan& plan) const;

 private:
  std::string root_;
};

}  // namespace opkit::scaffold
