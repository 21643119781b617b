// DeviceProfile: the behaviour of a Vulkan device for NaN, denormals and built-in functions where the specification
// leaves a choice. Measured and stored with results, so that a failure of one device can be distinguished from one of
// all. Bounds do not depend on it.
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
