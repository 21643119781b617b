#include "engine/backend/backend_registry.h"

#include <mutex>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/found_backends.h"
#include "engine/backend/null/null_backend.h"
#include "engine/backend/reference/reference_backend.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif
#include "engine/base/guard.h"

namespace opkit {

namespace {

std::vector<BackendKind> builtinKinds() {
  return {
      {"cpu", "SIMD kernels on this processor, the oracle where there is none", cpu::devices, cpu::createRuntime},
#ifdef OPKIT_HAS_VULKAN
      {"vulkan", "compute shaders on a Vulkan device", vulkan::devices, vulkan::createRuntime},
#endif
      // clang-format off
      OPKIT_FOUND_BACKENDS
      // clang-format on
      {"reference", "every operator through its oracle in double", reference::devices, reference::createRuntime},
      {"null", "runs nothing: everything falls back to the CPU", null::devices, null::createRuntime},
  };
}

/// The kinds of this process.
struct Kinds {
  std::mutex mutex;
  std::vector<BackendKind> list = builtinKinds();
};

/// Never destroyed: static objects elsewhere may remove their backends while the process ends.
Kinds& kinds() {
  static Kinds& instance = *new Kinds;
  return instance;
}

}  // namespace

std::vector<BackendKind> backendKinds() {
  const std::lock_guard<std::mutex> lock(kinds().mutex);
  return kinds().list;
}

Status addBackendKind(BackendKind kind) {
  const std::lock_guard<std::mutex> lock(kinds().mutex);
  for (const BackendKind& known : kinds().list)
    if (known.name == kind.name) return Status::invalidArgument("there is a backend called '{}' already", kind.name);
  kinds().list.push_back(std::move(kind));
  return Status::ok();
}

void removeBackendKind(const std::string& name) {
  const std::lock_guard<std::mutex> lock(kinds().mutex);
  std::erase_if(kinds().list, [&](const BackendKind& kind) { return kind.name == name; });
}

Result<std::shared_ptr<Runtime>> createRuntime(const std::string& backend, const RuntimeOptions& options) {
  std::string known;
  for (const BackendKind& kind : backendKinds()) {
    if (kind.name == backend) return guarded([&] { return kind.createRuntime(options); });
    known += (known.empty() ? "" : ", ") + kind.name;
  }
  return Status::invalidArgument("expected a backend ({}), got '{}'", known, backend);
}

Result<Validation> parseValidation(const std::string& name) {
  if (name == "off") return Validation::Off;
  if (name == "core") return Validation::Core;
  if (name == "sync") return Validation::Sync;
  if (name == "gpu") return Validation::Gpu;
  return Status::invalidArgument("validation: expected off, core, sync or gpu, got '{}'", name);
}

}  // namespace opkit
