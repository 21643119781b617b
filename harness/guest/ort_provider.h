// The execution providers of ONNX Runtime: which there are, and how a session gets one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/guest/guest.h"
#include "harness/guest/ort_library.h"

namespace opkit::harness::ort {

/// A device that a provider offers.
struct ProviderDevice {
  std::string provider;  // "WebGpuExecutionProvider"
  const OrtEpDevice* device = nullptr;
};

struct Provider {
  std::string name;                     // "WebGpuExecutionProvider"
  std::string shortName;                // by which sessions get a built-in one: "WebGPU"; else empty
  bool isCpu = false;                   // every session has it
  const OrtEpDevice* device = nullptr;  // the first that it offers; null: it is known by its name alone
  std::string description;              // of the device
};

/// The providers that are part of the library.
Result<std::vector<std::string>> builtInProviders(const OrtLibrary& library);
Result<std::vector<ProviderDevice>> providerDevices(const OrtLibrary& library, const OrtEnv* environment);

/// Small letters and digits of a provider's name, without "ExecutionProvider".
std::string plainName(const std::string& name);

/// The chosen provider, its library registered if it has one. InvalidArgument: the library cannot be loaded, or there
/// is no such provider; it lists those there are.
Result<Provider> findProvider(const OrtLibrary& library, OrtEnv* environment, const GuestChoice& choice);

/// Adds a provider with its settings to the options of sessions.
std::optional<OrtError> addProvider(const OrtLibrary& library, OrtEnv* environment, const Provider& provider,
                                    const GuestChoice& choice, OrtSessionOptions* options);

}  // namespace opkit::harness::ort
