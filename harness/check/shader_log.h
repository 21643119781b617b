// ShaderLog: the shaders that sessions on a Runtime use, for the results of a case. Without Vulkan it stays empty.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "engine/backend/backend_registry.h"

namespace opkit::harness {

/// Thread-safe. One log at a time may be attached to a Runtime, and no other source of shaders.
class ShaderLog {
 public:
  /// Null if the Runtime has no shaders.
  static std::shared_ptr<ShaderLog> attach(Runtime& runtime);

  /// Forgets what was used.
  void clear();
  /// 16 hexadecimal digits over names and SPIR-V of what was used since clear(); empty if nothing was.
  std::string hash() const;
  size_t bytes() const;
  /// Of what was used since clear(): "gemm/gemm_thin", without the variant.
  std::set<std::string> shaders() const;
  /// Of what was used since clear(): "gemm/gemm_thin STORAGE=f16".
  std::set<std::string> variants() const;

 private:
  void add(const std::string& name, std::span<const uint32_t> words);

  mutable std::mutex mutex_;
  std::map<std::string, std::span<const uint32_t>> used_;  // by variant; words of the build live for ever
};

}  // namespace opkit::harness
