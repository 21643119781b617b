#include "harness/guest/guest_logs.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <system_error>

#include "engine/base/printable.h"

namespace opkit::harness {
namespace {

constexpr const char* kVariable = "TMPDIR";
constexpr size_t kLines = 3, kMostOfLine = 300;
constexpr std::streamoff kTailBytes = 16 << 10;

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
  std::ifstream file(of(job), std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kTailBytes));
  std::deque<std::string> last;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    last.push_back(line.substr(0, kMostOfLine));
    if (last.size() > kLines) last.pop_front();
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
