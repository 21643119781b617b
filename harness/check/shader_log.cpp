#include "harness/check/shader_log.h"

#include <fmt/format.h>
#include <xxhash.h>

#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif

namespace opkit::harness {

std::shared_ptr<ShaderLog> ShaderLog::attach([[maybe_unused]] Runtime& runtime) {
#ifdef OPKIT_HAS_VULKAN
  auto* vulkan = vulkan::asVulkan(&runtime);
  if (!vulkan) return nullptr;
  auto log = std::make_shared<ShaderLog>();  // shared: the Runtime calls it as long as it lives
  vulkan->setShaderSource([log](const vulkan::ShaderCode& code) {
    log->add(code.name, code.spirv);
    return code.spirv;
  });
  return log;
#else
  return nullptr;
#endif
}

void ShaderLog::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_.clear();
}

void ShaderLog::add(const std::string& name, std::span<const uint32_t> words) {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_.try_emplace(name, words);
}

std::string ShaderLog::hash() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t hash = 0;
  for (const auto& [name, words] : used_) {
    hash = XXH3_64bits_withSeed(name.data(), name.size(), hash);
    hash = XXH3_64bits_withSeed(words.data(), words.size_bytes(), hash);
  }
  return used_.empty() ? "" : fmt::format("{:016x}", hash);
}

size_t ShaderLog::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t sum = 0;
  for (const auto& [name, words] : used_) sum += words.size_bytes();
  return sum;
}

std::set<std::string> ShaderLog::shaders() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> names;
  for (const auto& [name, words] : used_) names.insert(name.substr(0, name.find(' ')));
  return names;
}

std::set<std::string> ShaderLog::variants() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> names;
  for (const auto& [name, words] : used_) names.insert(name);
  return names;
}

}  // namespace opkit::harness
