// FolderLock: one process at a time writes case folders into a folder.
#pragma once

#include <string>

#include "engine/base/checked_file.h"
#include "engine/base/status.h"

namespace opkit::harness {

/// The right to write into a folder. It ends with its owner and with the workers that were forked meanwhile, however
/// they end. A file system without locks locks nothing.
class FolderLock {
 public:
  /// InvalidArgument: another process has it, or the folder cannot be opened.
  static Result<FolderLock> tryTake(const std::string& folder);
  /// Waits for it.
  static Result<FolderLock> take(const std::string& folder);

 private:
  explicit FolderLock(Descriptor folder) : folder_(std::move(folder)) {}
  static Result<FolderLock> lock(const std::string& folder, int operation);

  Descriptor folder_;
};

}  // namespace opkit::harness
