#include "harness/export/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

namespace opkit::harness {

Result<FolderLock> FolderLock::tryTake(const std::string& folder) { return lock(folder, LOCK_EX | LOCK_NB); }

Result<FolderLock> FolderLock::take(const std::string& folder) { return lock(folder, LOCK_EX); }

Result<FolderLock> FolderLock::lock(const std::string& folder, int operation) {
  Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.isOpen()) return Status::invalidArgument("cannot open the folder '{}': {}", folder, std::strerror(errno));
  int failed = 0;
  do failed = ::flock(open.get(), operation);
  while (failed != 0 && errno == EINTR);
  if (failed != 0 && errno == EWOULDBLOCK)
    return Status::invalidArgument("another process writes into the folder '{}'", folder);
  return FolderLock(std::move(open));
}

}  // namespace opkit::harness
