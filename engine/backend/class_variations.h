// Variations of a device class: the same figures but for one, with reasons. Kernels that read the figures of
// DeviceClass get their alternatives from these, so that the Tuner can choose teams, widths and tiles for them too.
//
// A table, not a search: each entry is a choice that another device of the same class would prefer.
#pragma once

#include "engine/backend/device_class.h"

namespace opkit {

struct ClassVariation {
  const char* name;  // "teams of 128"
  DeviceClass figures;
  const char* reason;
};

/// The class itself, then its variations. One entry for classes whose figures are not tuned (software).
std::span<const ClassVariation> variationsOf(const DeviceClass& deviceClass);

}  // namespace opkit
