// The backends on which a test of an operator runs its models.
#pragma once

#include <string>
#include <vector>

namespace opkit {

/// The oracle, the CPU and, in builds with Vulkan, the device.
inline std::vector<std::string> testBackends() {
#ifdef OPKIT_HAS_VULKAN
  return {"reference", "cpu", "vulkan"};
#else
  return {"reference", "cpu"};
#endif
}

}  // namespace opkit
