// For tests that need a device. Without one they are skipped with the reason. If the environment promises devices (CI,
// or OPKIT_REQUIRE_VULKAN=1) they fail, since a skipped test shows nothing. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "engine/backend/backend_registry.h"

namespace opkit {

/// Whether a missing device is a failure here.
inline bool devicesArePromised() {
  const auto isSet = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value && std::string_view(value) != "0" && std::string_view(value) != "false";
  };
  return isSet("OPKIT_REQUIRE_VULKAN") || isSet("CI");
}

}  // namespace opkit

/// For a test or SetUp(): ends it unless the Result `runtime` holds a Runtime.
#define OPKIT_NEEDS_DEVICE(runtime)                                              \
  do {                                                                           \
    if (const auto& opkitRuntime = (runtime); !opkitRuntime) {                   \
      if (opkit::devicesArePromised()) FAIL() << opkitRuntime.error().message(); \
      GTEST_SKIP() << opkitRuntime.error().message();                            \
    }                                                                            \
  } while (false)
