// Whole-file reading and writing.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "engine/base/checked_file.h"
#include "engine/base/interrupt.h"
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
  static std::atomic<unsigned> counter = 0;
  const std::string target = inPlace ? path : fmt::format("{}.{}-{}.tmp", path, ::getpid(), counter++);
  std::optional<TemporaryFile> temporary;
  if (!inPlace) temporary.emplace(target);
  Descriptor file(::open(target.c_str(), O_WRONLY | O_CLOEXEC | (inPlace ? 0 : O_CREAT | O_EXCL), 0666));
  const auto write = [&](std::span<const uint8_t> part) { return writeAll(file.get(), part); };
  const bool written = file.isOpen() && std::ranges::all_of(parts, write) && file.close() &&
                       (inPlace || ::rename(target.c_str(), path.c_str()) == 0);
  if (!written) return Status::invalidArgument("cannot write '{}': {}", path, systemMessage());
  if (temporary) temporary->keep();
  return Status::ok();
}

}  // namespace opkit
