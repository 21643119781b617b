// Plan: the changes of a command, held in memory until all are validated.
//
// A plan is a list of file changes relative to the tree's root. It prints as a unified diff that `git apply` and `patch
// -p1` accept, and is applied as a whole or not at all. Not thread-safe.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::scaffold {

struct FileChange {
  std::string path;                   // relative to the root, with '/'
  std::optional<std::string> before;  // nothing: the file does not exist
  std::optional<std::string> after;   // nothing: the file is deleted
  std::string inserted = {};          // the block inserted into another operator's file, if that is the change
  bool isNoOp() const { return before == after; }
};

using Plan = std::vector<FileChange>;

/// The plan as a unified diff with three lines of context; empty if nothing changes.
std::string unifiedDiff(const Plan& plan);
/// The same for the change of one file.
std::string unifiedDiff(const FileChange& change);

/// A part of the tree that is there and cannot be read: no plan is made of the rest.
struct TreeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A source tree on disk. Its readers throw TreeError.
class Tree {
 public:
  explicit Tree(std::string root) : root_(std::move(root)) {}
  /// The tree that holds `folder` (a parent with engine/op/op_def.h and ops/); InvalidArgument if there is none.
  static Result<Tree> find(const std::string& folder);

  const std::string& root() const { return root_; }
  std::string absolute(const std::string& path) const { return root_ + "/" + path; }
  bool exists(const std::string& path) const;
  /// Nullopt if the file does not exist.
  std::optional<std::string> read(const std::string& path) const;
  /// Names in a folder, sorted; empty if there is no such folder.
  std::vector<std::string> list(const std::string& folder) const;
  /// Paths of every file below a folder, sorted.
  std::vector<std::string> filesBelow(const std::string& folder) const;

  /// Writes the plan as a whole or not at all: applyPlan of scaffold/transaction.h.
  Status apply(const Plan& plan) const;

 private:
  std::string root_;
};

}  // namespace opkit::scaffold
