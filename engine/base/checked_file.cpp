#include "engine/base/checked_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "engine/base/read_whole.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

bool isRegular(int descriptor) {
  struct stat facts {};
  return ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}

/// The last byte of a regular file; a newline if it is empty, or no regular file. Nothing, with errno set, if it cannot
/// be read.
std::optional<char> lastByteOf(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  if (!S_ISREG(facts.st_mode) || facts.st_size == 0) return '\n';
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char last = '\n';
  const bool isRead = file.isOpen() && ::lseek(file.get(), -1, SEEK_END) >= 0 && ::read(file.get(), &last, 1) == 1;
  return isRead ? std::optional(last) : std::nullopt;
}

const char* kindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  return S_ISSOCK(mode) ? "a socket" : "a pipe or a device";
}

constexpr int kMostLinks = 40;  // of one path; as the kernel

std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

Result<std::string> readText(const std::string& path) { return readWhole<std::string>(path); }

Result<std::ifstream> openLines(const std::string& path, std::string_view expected) {
  std::string why = whyUnreadable(path);
  errno = 0;
  std::ifstream file(path);
  if (why.empty() && !file.is_open()) why = std::strerror(errno);
  if (why.empty()) return file;
  return Status::invalidArgument("{}: cannot be read: {}; expected {}", path, why, expected);
}

bool LineReader::next() {
  errno = 0;
  if (!std::getline(stream_, line_)) return false;
  ++number_;
  return true;
}

Status LineReader::status() const {
  if (!stream_.bad()) return Status::ok();
  return Status::invalidArgument("{}: line {} cannot be read: {}", name_, number_ + 1,
                                 std::strerror(errno == 0 ? ENOMEM : errno));
}

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

bool Descriptor::close() { return ::close(std::exchange(value_, -1)) == 0; }

Result<Descriptor> openToRead(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // else a pipe waits for its writer here
  const int cause = errno;
  struct stat facts {};
  // A socket cannot be opened, nor can a terminal where there is none: "No such device or address".
  const bool isAbsent = !file.isOpen() && (cause == ENXIO || cause == ENODEV) && ::stat(path.c_str(), &facts) == 0;
  if (!isAbsent && (!file.isOpen() || ::fstat(file.get(), &facts) != 0))
    return Status::invalidArgument("cannot read '{}': {}", path, std::strerror(file.isOpen() ? errno : cause));
  if (!S_ISREG(facts.st_mode))
    return Status::invalidArgument("cannot read '{}': it is {}, not a file", path, kindOf(facts.st_mode));
  return file;
}

std::string whyUnreadable(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::strerror(errno);
  if (S_ISDIR(facts.st_mode) || S_ISSOCK(facts.st_mode))
    return fmt::format("it is {}, not a file", kindOf(facts.st_mode));
  if (S_ISFIFO(facts.st_mode))  // which can be opened once: its writer ends when it is closed
    return ::access(path.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return file.isOpen() ? "" : std::strerror(errno);
}

bool namesDescriptor(const std::string& path) {
  fs::path place = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path folder = fs::canonical(place.has_parent_path() ? place.parent_path() : fs::path("."), error);
    if (folder.string().starts_with("/proc/")) return true;  // /dev/fd is a link itself
    if (!fs::is_symlink(fs::symlink_status(place, error))) return false;
    place = place.parent_path() / fs::read_symlink(place, error);
  }
  return false;
}

Result<std::string> placeOf(const std::string& path) {
  fs::path place = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, error)); ++links) {
    const fs::path target = fs::read_symlink(place, error);
    if (error || links == kMostLinks)
      return Status::invalidArgument("cannot write '{}': {}", path, std::strerror(error ? error.value() : ELOOP));
    place = place.parent_path() / target;  // an absolute target stands alone
  }
  return place.string();
}

bool writeAll(int descriptor, std::span<const uint8_t> bytes, size_t* written) {
  const size_t size = bytes.size();
  bool good = true;
  while (good && !bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    good = count > 0;
    if (good) bytes = bytes.subspan(static_cast<size_t>(count));
  }
  if (written) *written = size - bytes.size();
  return good;
}

Result<LineFile> LineFile::open(const std::string& path) {
  LineFile file(path, Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)));
  if (!file.file_.isOpen()) return file.failure();
  const std::optional<char> last = lastByteOf(path);
  if (!last) return file.failure();
  if (*last != '\n') OPKIT_TRY(file.append(""));
  return file;
}

Status LineFile::failure() const {
  return Status::invalidArgument("cannot write '{}': {}", path_, std::strerror(errno));
}

Status LineFile::append(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  size_t written = 0;
  if (writeAll(file_.get(), bytesOf(text), &written)) return Status::ok();
  const Status status = failure();
  // Not if another process has appended since.
  const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
  struct stat facts {};
  if (written > 0 && isRegular(file_.get()) && ::fstat(file_.get(), &facts) == 0 && facts.st_size == end &&
      ::ftruncate(file_.get(), end - static_cast<off_t>(written)) != 0)
    return status.withContext("a line was cut");
  return status;
}

Status LineFile::close() {
  if (!file_.isOpen() || file_.close()) return Status::ok();
  return failure();
}

}  // namespace opkit
