// CacheFile: bytes that outlive the process, with a key that says what they are good for.
//
// A cache must never hurt: a file that is missing, cut short, altered, of another format or of another key (device,
// driver or build: no surprise after an update) reads as nothing, with a warning where the file is damaged; a file is
// replaced whole, by renaming. Thread-safe, also between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::vulkan {

/// The folder that `option` (RuntimeOptions::cacheDir) and the environment ask for; nothing when caching is off.
std::optional<std::filesystem::path> cacheFolder(const std::string& option);

struct CacheRead {
  std::optional<std::vector<std::byte>> payload;
  std::string warning;  // why a damaged file was ignored; else empty
};

/// What writeCacheFile wrote under the same key.
CacheRead readCacheFile(const std::filesystem::path& path, const std::string& key);
/// Makes the folder if needed. Unsupported names the path and what the system said.
Status writeCacheFile(const std::filesystem::path& path, const std::string& key, std::span<const std::byte> payload);

/// One line on stderr.
void warnAboutCache(const std::string& message);

}  // namespace opkit::vulkan
