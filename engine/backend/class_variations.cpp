#include "engine/backend/class_variations.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace opkit {
namespace {

DeviceClass classOf(const char* name) {
  const auto classes = deviceClasses();
  return *std::ranges::find_if(classes, [&](const DeviceClass& known) { return std::string_view(known.name) == name; });
}

/// `base` with one figure changed.
template <class T>
DeviceClass with(DeviceClass base, T DeviceClass::*figure, T value) {
  base.*figure = value;
  return base;
}

std::vector<ClassVariation> variations(const char* name, uint32_t smallTeam, uint32_t largeTeam, uint32_t smallTile,
                                       int64_t fewGroups, int64_t manyGroups) {
  const DeviceClass base = classOf(name);
  return {
      {"as the class", base, "The standard."},
      // Rows: largestTeam, rowSteps, rowColumns, rowTileBytes.
      {"small teams", with(base, &DeviceClass::largestTeam, smallTeam),
       "Folds have fewer steps, and more groups fit on a compute unit."},
      {"large teams", with(base, &DeviceClass::largestTeam, largeTeam),
       "Few long rows have more loads in flight at once."},
      {"one element per pass", with(base, &DeviceClass::rowSteps, 1u),
       "Four times as many invocations walk a row: better if rows are short and few."},
      {"two elements per pass", with(base, &DeviceClass::rowSteps, 2u), "Between the two."},
      {"eight columns", with(base, &DeviceClass::rowColumns, 8u),
       "Strided rows whose columns fill one sector: more groups, of longer teams."},
      {"small row tiles", with(base, &DeviceClass::rowTileBytes, smallTile),
       "Twice as many groups share the memory of a compute unit."},
      // Elements and copies: elementWidth, sectorBytes.
      {"one element per invocation", with(base, &DeviceClass::elementWidth, 1u),
       "Four times as many invocations: better for tensors that do not fill the device."},
      {"copies without tiles", with(base, &DeviceClass::sectorBytes, 0u),
       "Large caches make up for scattered accesses, without barriers."},
      // Everything that is divided until the device is full: groupsToFill.
      {"few groups", with(base, &DeviceClass::groupsToFill, fewGroups),
       "A device with a quarter of the compute units: parts of rows and blocks of windows stay larger."},
      {"many groups", with(base, &DeviceClass::groupsToFill, manyGroups),
       "A device that needs more groups to hide its memory's latency."},
  };
}

}  // namespace

std::span<const ClassVariation> variationsOf(const DeviceClass& deviceClass) {
  static const std::vector<ClassVariation> software = {{"as the class", classOf("software"), "The standard."}};
  static const std::vector<ClassVariation> discrete = variations("discrete", 128, 512, 16 << 10, 132, 1056);
  static const std::vector<ClassVariation> integrated = variations("integrated", 64, 256, 8 << 10, 16, 128);
  const std::string_view name = deviceClass.name;
  return name == "discrete" ? discrete : name == "integrated" ? integrated : software;
}

}  // namespace opkit
