// DeviceProfile: what a Vulkan device does with NaN, denormals and the built-in functions, where the specification lets
// it choose. Measured, never assumed; recorded beside results, so that a failure on one device can be told from one on
// all. It excuses nothing: comparisons are the same on every device.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace opkit::harness {

struct DeviceProfile {
  /// Yes or no: "keeps denormals", "max(NaN, 1) is NaN".
  struct Trait {
    std::string name;
    bool present = false;
  };
  /// The worst error of a built-in over a range, in ULP of fp32.
  struct Builtin {
    std::string name;  // "exp in [-20, 20]"
    double ulp = 0;
  };
  std::vector<Trait> traits;
  std::vector<Builtin> builtins;
  uint64_t loopIterations = UINT64_MAX;  // DeviceCaps::loopIterations

  std::string toText() const;
  nlohmann::json toJson() const;
};

/// Runs a few hundred numbers on the device of a Vulkan runtime.
Result<DeviceProfile> measureProfile(Runtime& runtime);

}  // namespace opkit::harness
