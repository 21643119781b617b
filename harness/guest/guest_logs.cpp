#include "harness/guest/guest_logs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <system_error>

#include "engine/base/checked_file.h"
#include "engine/base/printable.h"

namespace opkit::harness {
namespace {

constexpr const char* kVariable = "TMPDIR";
constexpr size_t kLines = 3, kMostOfLine = 300;
constexpr off_t kTailBytes = 16 << 10;

/// The end of a file, which may be long; empty if it cannot be read.
std::string tailOf(const std::string& path) {
  const auto file = openToRead(path);
  if (!file) return "";
  const off_t size = lseek(file->get(), 0, SEEK_END);
  std::string tail(kTailBytes, '\0');
  const ssize_t got = pread(file->get(), tail.data(), tail.size(), std::max<off_t>(0, size - kTailBytes));
  tail.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return tail;
}

}  // namespace

Result<GuestLogs> GuestLogs::create() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return Status::invalidArgument("no folder for temporary files: {}", error.message());
  std::string path = (parent / "opkit_guest.XXXXXX").string();
  if (!mkdtemp(path.data()))
    return Status::invalidArgument("cannot make a folder in '{}': {}", parent.string(), std::strerror(errno));
  return GuestLogs(path);
}

GuestLogs::GuestLogs(std::filesystem::path folder) : folder_(std::move(folder)), owner_(getpid()) {
  if (const char* before = std::getenv(kVariable)) before_ = before;
  setenv(kVariable, folder_.c_str(), 1);
}

GuestLogs::GuestLogs(GuestLogs&& other) noexcept
    : folder_(std::move(other.folder_)), before_(std::move(other.before_)), owner_(other.owner_) {
  other.folder_.clear();
}

GuestLogs::~GuestLogs() {
  if (folder_.empty() || getpid() != owner_) return;
  before_ ? setenv(kVariable, before_->c_str(), 1) : unsetenv(kVariable);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string GuestLogs::lastLines(size_t job) const {
  std::deque<std::string> last;
  const std::string tail = tailOf(of(job));
  for (size_t at = 0; at < tail.size();) {
    const size_t end = std::min(tail.find('\n', at), tail.size());
    if (end > at) last.push_back(tail.substr(at, std::min(end - at, kMostOfLine)));
    if (last.size() > kLines) last.pop_front();
    at = end + 1;
  }
  std::string text;
  for (const std::string& line : last) text += "  printed  " + printable(line) + "\n";
  return text;
}

void GuestLogs::remove(size_t job) const {
  std::error_code ignored;
  std::filesystem::remove(of(job), ignored);
}

}  // namespace opkit::harness
