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

}  // namespace

Result<std::vector<uint8_t>> readFile(const std::string& path) { return readWhole<std::vector<uint8_t>>(path); }

Status writeFile(const std::string& path, std::span<const uint8_t> bytes) {
  return writeFile(path, std::vector{bytes});
}

Status writeFile(const std::string& path, const std::vector<std::span<const uint8_t>>& parts) {
  struct stat facts {};
  const bool inPlace = ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);  // /dev/stdout, a pipe
  const auto writeTo = [&parts](int descriptor) {
    return std::ranges::all_of(parts, [&](std::span<const uint8_t> part) { return writeAll(descriptor, part); });
  };
  const auto failure = [&path] { return Status::invalidArgument("cannot write '{}': {}", path, systemMessage()); };
  if (inPlace) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file.isOpen() && writeTo(file.get()) && file.close() ? Status::ok() : failure();
  }
  PendingFile file(path);
  return file.isOpen() && writeTo(file.descriptor()) && file.replace() ? Status::ok() : failure();
}

}  // namespace opkit
