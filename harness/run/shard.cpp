#include "harness/run/shard.h"

#include <charconv>

namespace opkit::harness {

Result<Shard> Shard::parse(const std::string& text) {
  if (text.empty()) return Shard{};
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  const auto second = slash ? std::from_chars(first.ptr + 1, end, shard.count) : first;
  if (!slash || second.ec != std::errc() || second.ptr != end || shard.index < 1 || shard.index > shard.count)
    return Status::invalidArgument("--shard expects I/N with 1 <= I <= N, got '{}'", text);
  return shard;
}

std::string Shard::toString() const { return isWhole() ? "" : fmt::format("part {} of {}", index, count); }

}  // namespace opkit::harness
