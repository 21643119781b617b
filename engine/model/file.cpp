// Whole-file reading and writing.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/checked_file.h"
#include "engine/base/pending_file.h"
#include "engine/base/read_whole.h"
#include "engine/model/model.h"

namespace opkit {
namespace {

std::string systemMessage() { return std::strerror(errno); }

/// writeFile's new file takes the place of an old one: a symbolic link to it keeps leading there, and further names of
/// it (hard links) keep the old bytes. Gives the new one the owner, the group and the mode of the old one, as far as
/// the system lets this process. A group that is not kept gets no more rights than everybody.
void takeOver(int descriptor, const struct stat& old) {
  struct stat own {};
  if (::fstat(descriptor, &own) != 0) return;
  mode_t mode = old.st_mode & 07777;
  const bool keepsGroup = own.st_gid == old.st_gid || ::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid) == 0;
  const bool keepsOwner = own.st_uid == old.st_uid || ::fchown(descriptor, old.st_uid, static_cast<gid_t>(-1)) == 0;
  if (!keepsOwner) mode &= ~static_cast<mode_t>(S_ISUID);
  if (!keepsGroup) mode = (mode & ~static_cast<mode_t>(S_ISGID | S_IRWXG)) | (mode & S_IRWXO) << 3;
  static_cast<void>(::fchmod(descriptor, mode));  // a file system without modes gives every file the same one
}

}  // namespace

Result<std::vector<uint8_t>> readFile(const std::string& path) { return readWhole<std::vector<uint8_t>>(path); }

Status writeFile(const std::string& path, std::span<const uint8_t> bytes) {
  return writeFile(path, std::vector{bytes});
}

Status writeFile(const std::string& path, const std::vector<std::span<const uint8_t>>& parts) {
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  const auto writeTo = [&parts](int descriptor) {
    return std::ranges::all_of(parts, [&](std::span<const uint8_t> part) { return writeAll(descriptor, part); });
  };
  const auto failure = [&path] { return Status::invalidArgument("cannot write '{}': {}", path, systemMessage()); };
  if (exists && (!S_ISREG(facts.st_mode) || namesDescriptor(path))) {  // /dev/stdout, a pipe
    Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    return file.isOpen() && writeTo(file.get()) && file.close() ? Status::ok() : failure();
  }
  OPKIT_ASSIGN(const std::string place, placeOf(path));
  // Only its owner may read the new file until it has the mode of the old one.
  PendingFile file(place, exists ? 0600 : 0666);
  if (file.isOpen() && exists) takeOver(file.descriptor(), facts);
  return file.isOpen() && writeTo(file.descriptor()) && file.replace() ? Status::ok() : failure();
}

}  // namespace opkit
