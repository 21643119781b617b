// PendingFile: the new content of a file, written beside it and renamed over it when it is whole.
//
// Its name, "PATH.opkit-0.tmp", is the same for every writer of PATH: what a killed one has left is removed by the
// next. A writer holds a lock on its file, so that others leave it alone and take the next number.
#pragma once

#include <memory>
#include <string>

#include "engine/base/checked_file.h"
#include "engine/base/interrupt.h"

namespace opkit {

class PendingFile {
 public:
  /// Creates the file with this mode, less the umask; isOpen() is false if that failed, with errno set.
  explicit PendingFile(std::string path, mode_t mode = 0666);
  bool isOpen() const { return file_.isOpen(); }
  int descriptor() const { return file_.get(); }
  /// Closes the file and renames it; false on failure, with errno set. Unless called, the destructor removes the file.
  bool replace();

 private:
  enum class Attempt { Done, Again, Taken, Failed };
  Attempt create(const std::string& name);
  static Attempt removeStale(const std::string& name);

  std::string path_;
  mode_t mode_;
  Descriptor file_;
  Descriptor lock_;  // the same open file: the lock lasts until the file has its final name
  std::unique_ptr<TemporaryFile> temporary_;
};

}  // namespace opkit
