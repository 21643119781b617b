#include "engine/base/pending_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace opkit {
namespace {

constexpr int kMostWriters = 100;  // of one file at a time

/// True if `name` still names the open file.
bool isNamed(int descriptor, const std::string& name) {
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(name.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

}  // namespace

PendingFile::PendingFile(std::string path, mode_t mode) : path_(std::move(path)), mode_(mode) {
  for (int number = 0; number < kMostWriters; ++number) {
    const std::string name = fmt::format("{}.opkit-{}.tmp", path_, number);
    Attempt attempt = Attempt::Again;
    for (int tries = 0; attempt == Attempt::Again && tries < kMostWriters; ++tries) attempt = create(name);
    if (attempt == Attempt::Done || attempt == Attempt::Failed) return;
  }
  errno = EEXIST;
}

PendingFile::Attempt PendingFile::create(const std::string& name) {
  struct stat facts {};
  if (::lstat(name.c_str(), &facts) == 0) return S_ISREG(facts.st_mode) ? removeStale(name) : Attempt::Taken;
  temporary_ = std::make_unique<TemporaryFile>(name);  // first, so that a signal leaves nothing
  Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_));
  const int error = errno;
  const bool isOthers = !file.isOpen() && error == EEXIST;
  // Another writer may take a file that is not locked yet for a stale one. Some file systems have no locks.
  const bool isLost = file.isOpen() && ((::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
                                        !isNamed(file.get(), name));
  if (isOthers || isLost) temporary_->keep();
  if (isOthers || isLost) return Attempt::Again;
  errno = error;
  if (!file.isOpen()) return Attempt::Failed;
  lock_ = Descriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  if (lock_.isOpen()) file_ = std::move(file);
  return lock_.isOpen() ? Attempt::Done : Attempt::Failed;
}

/// Again if the file was removed; Taken if its writer lives.
PendingFile::Attempt PendingFile::removeStale(const std::string& name) {
  const Descriptor file(::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.isOpen()) return errno == ENOENT ? Attempt::Again : Attempt::Taken;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return Attempt::Taken;
  if (isNamed(file.get(), name) && ::unlink(name.c_str()) != 0) return Attempt::Taken;
  return Attempt::Again;
}

bool PendingFile::replace() {
  if (!file_.close() || ::rename(temporary_->path().c_str(), path_.c_str()) != 0) return false;
  temporary_->keep();
  return true;
}

}  // namespace opkit
