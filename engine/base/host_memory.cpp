#include "engine/base/host_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>

namespace opkit {
namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kProgramBytes = size_t{1} << 30;  // of a program beside its tensors: stacks, drivers, compilers

std::atomic<size_t> inUse{0};

/// The first number of a file; nullopt if it holds none ("max") or does not exist.
std::optional<size_t> numberIn(const std::string& path) {
  std::ifstream file(path);
  size_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The number after a word of a file.
std::optional<size_t> kibibytesOf(const std::string& path, const char* wanted) {
  std::ifstream file(path);
  size_t kibibytes = 0;
  for (std::string word; file >> word;)
    if (word == wanted && file >> kibibytes) return kibibytes;
  return std::nullopt;
}

/// The minimum of `file` over the group's folder and its parents.
size_t leastAbove(const std::string& mount, std::string group, const char* file) {
  size_t least = kNone;
  while (true) {
    least = std::min(least, numberIn(mount + group + "/" + file).value_or(kNone));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

/// Lines of /proc/self/cgroup are "0::/path" (version 2) or "4:memory:/path" (version 1).
size_t controlGroupBytes(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  size_t least = kNone;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) least = std::min(least, leastAbove(root + "/sys/fs/cgroup", group, "memory.max"));
    if (("," + controllers + ",").find(",memory,") != std::string::npos)
      least = std::min(least, leastAbove(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

size_t initialLimit() {
  const char* const text = std::getenv("OPKIT_HOST_MEMORY");
  const std::string_view asked = text ? text : "";
  size_t bytes = 0;
  const auto parsed = std::from_chars(asked.data(), asked.data() + asked.size(), bytes);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == asked.data() + asked.size();
  return whole ? bytes : defaultHostMemoryLimit();
}

std::atomic<size_t>& limit() {
  static std::atomic<size_t> bytes{initialLimit()};
  return bytes;
}

}  // namespace

size_t defaultHostMemoryLimit(const std::string& root) {
  const auto kibibytes = kibibytesOf(root + "/proc/meminfo", "MemTotal:");
  const size_t least = std::min(kibibytes ? *kibibytes << 10 : kNone, controlGroupBytes(root));
  return least == kNone ? 0 : least / 4 * 3;
}

size_t hostMemoryLimit() { return limit(); }
void setHostMemoryLimit(size_t bytes) { limit() = bytes; }
size_t hostMemoryInUse() { return inUse; }

Status takeHostMemory(size_t bytes) {
  const size_t most = limit();
  size_t before = inUse;
  do {
    if (most > 0 && (bytes > most || before > most - bytes))
      return Status::outOfMemory(
          "the host would hold {} bytes of tensors and {} more, the limit is {}; try smaller shapes, or another limit "
          "(--host-memory, OPKIT_HOST_MEMORY)",
          before, bytes, most);
  } while (!inUse.compare_exchange_weak(before, before + bytes));
  return Status::ok();
}

void giveBackHostMemory(size_t bytes) { inUse -= bytes; }

void limitProcessMemory(size_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these map far more than a program uses
  rlimit limit{};
  if (bytes == 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const size_t most = std::min<size_t>(kibibytesOf("/proc/self/status", "VmData:").value_or(0) * 1024, kNone / 4) +
                      std::min(bytes, kNone / 4) / 8 * 9 + kProgramBytes;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most) return;
  limit.rlim_cur = std::min<rlim_t>(most, limit.rlim_max);
  setrlimit(RLIMIT_DATA, &limit);
#else
  static_cast<void>(bytes);
#endif
}

Status HostMemoryShare::atLeast(size_t bytes) {
  if (bytes <= bytes_) return Status::ok();
  OPKIT_TRY(takeHostMemory(bytes - bytes_));
  bytes_ = bytes;
  return Status::ok();
}

}  // namespace opkit
