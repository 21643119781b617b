// CacheFile: bytes that outlive the process, stored with a key that says for what they are valid.
//
// A cache must never hurt. A file that is missing, truncated, altered, of another format or of another key (device,
// driver or build) reads as empty, with a warning if the file is damaged. A file is replaced as a whole, by renaming.
// Thread-safe, also between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit {

/// The folder that `option` (RuntimeOptions::cacheDir) and the environment ask for; nullopt if caching is off.
std::optional<std::filesystem::path> cacheFolder(const std::string& option);

struct CacheRead {
  std::optional<std::vector<std::byte>> payload;
  std::string warning;  // why a damaged file was ignored; else empty
};

/// Reads what writeCacheFile wrote under the same key.
CacheRead readCacheFile(const std::filesystem::path& path, const std::string& key);
/// Makes the folder if needed. Unsupported names the path and the system's error.
Status writeCacheFile(const std::filesystem::path& path, const std::string& key, std::span<const std::byte> payload);

/// One line on stderr.
void warnAboutCache(const std::string& message);
/// Calls `save`; a failure, also of memory, is a warning. For destructors.
void keepCache(const std::function<Status()>& save) noexcept;

}  // namespace opkit
