// A backend whose memory and kernels are a plugin's; it has no raster kernel, so operators that only move data fall
// back to the CPU, as does everything its kernel refuses.
#pragma once

#include "engine/backend/backend_registry.h"
#include "engine/plugin/contents.h"

namespace opkit::plugin {

/// Memory of a plugin's device.
class PluginBuffer : public Buffer {
 public:
  PluginBuffer(size_t sizeBytes, void* memory) : Buffer(sizeBytes), memory_(memory) {}
  void* memory() const { return memory_; }

 private:
  void* memory_;
};

/// The kind to register. Its Runtimes keep `owner` alive.
BackendKind backendKindOf(const std::string& plugin, const std::shared_ptr<const BackendSpec>& spec,
                          const std::weak_ptr<const void>& owner);

}  // namespace opkit::plugin
