#include "engine/backend/cache_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/base/guard.h"
#include "engine/model/model.h"

namespace opkit {
namespace {

// magic, format, length of the key, length of the payload, checksum of both; then key and payload.
struct Header {
  char magic[8] = {'O', 'P', 'K', 'C', 'A', 'C', 'H', 'E'};
  uint64_t format = 1;
  uint64_t keyBytes = 0;
  uint64_t payloadBytes = 0;
  uint64_t checksum = 0;
};

uint64_t checksum(const std::string& key, std::span<const std::byte> payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), XXH3_64bits(key.data(), key.size()));
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

}  // namespace

std::optional<std::filesystem::path> cacheFolder(const std::string& option) {
  std::string chosen = option;
  if (const char* asked = variable("OPKIT_CACHE_DIR"); chosen.empty() && asked) chosen = asked;
  if (chosen == "off") return std::nullopt;
  if (!chosen.empty()) return chosen;
  if (const char* xdg = variable("XDG_CACHE_HOME")) return std::filesystem::path(xdg) / "opkit";
  if (const char* home = variable("HOME")) return std::filesystem::path(home) / ".cache" / "opkit";
  return std::nullopt;
}

CacheRead readCacheFile(const std::filesystem::path& path, const std::string& key) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const auto bad = [&](const char* why) {
    return CacheRead{std::nullopt, fmt::format("{}: {}; it is ignored and will be replaced", path.string(), why)};
  };
  const auto file = readFile(path.string());
  if (!file) return bad("the cache file cannot be read");
  const std::span<const std::byte> bytes = std::as_bytes(std::span(*file));
  const Header expected;
  Header header;
  if (bytes.size() < sizeof(Header)) return bad("the cache file is cut short");
  std::memcpy(&header, bytes.data(), sizeof(Header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0) return bad("not a cache file of OpKit");
  if (header.format != expected.format) return bad("the cache file has another format");
  const size_t rest = bytes.size() - sizeof(Header);
  if (header.keyBytes > rest || header.payloadBytes != rest - header.keyBytes)
    return bad("the cache file is cut short");
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof(Header);
  const std::string found(text, header.keyBytes);
  const std::span<const std::byte> payload(bytes.data() + sizeof(Header) + header.keyBytes, header.payloadBytes);
  if (header.checksum != checksum(found, payload)) return bad("the cache file is damaged");
  if (found != key) return {};
  return {std::vector<std::byte>(payload.begin(), payload.end()), ""};
}

Status writeCacheFile(const std::filesystem::path& path, const std::string& key, std::span<const std::byte> payload) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  Header header;
  header.keyBytes = key.size();
  header.payloadBytes = payload.size();
  header.checksum = checksum(key, payload);
  std::vector<uint8_t> bytes(sizeof(header) + key.size() + payload.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::copy(key.begin(), key.end(), bytes.begin() + sizeof(header));
  std::transform(payload.begin(), payload.end(), bytes.end() - static_cast<std::ptrdiff_t>(payload.size()),
                 [](std::byte byte) { return std::to_integer<uint8_t>(byte); });
  const Status status = writeFile(path.string(), bytes);
  return status.isOk() ? status : Status::unsupported("the cache is not kept: {}", status.message());
}

// Not fmt::print: destructors warn too, and fmt::print throws if stderr cannot be written.
void warnAboutCache(const std::string& message) {
  std::fputs(fmt::format("opkit: warning: {}\n", message).c_str(), stderr);
}

void keepCache(const std::function<Status()>& save) noexcept {
  const Status status = guarded([&]() -> Status {
    const Status saved = save();
    if (!saved.isOk()) warnAboutCache(saved.message());
    return Status::ok();
  });
  if (!status.isOk()) std::fputs("opkit: warning: no memory to keep a cache\n", stderr);
}

}  // namespace opkit
