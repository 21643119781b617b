// RowTeam: how many invocations walk one row together, for shaders that include shaders/include/rows.glsl.
//
// One invocation suffices where rows are short or many; a long row alone would leave the device idle, and on devices
// that end long loops it would be cut off. The façade chooses from the rows and the device, so that no kernel does.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// Rows as a kernel walks them.
struct RowWork {
  int64_t rows = 0;
  int64_t extent = 0;    // elements of a row
  int64_t passes = 1;    // how often the kernel goes through a row
  int64_t distance = 1;  // between neighbouring elements of a row
};

struct RowTeam {
  static constexpr int64_t kSteps = 4;       // kRowSteps of rows.glsl
  static constexpr uint32_t kMost = 1024;  // kMaxTeam of rows.glsl

  uint32_t localSize = 64;  // for constant localSizeX
  uint32_t size = 1;        // for constant team

  /// Iterations of an invocation's loops: its share of each pass, and the steps of a fold after it.
  int64_t iterations(const RowWork& work) const;
  Items items(const RowWork& work) const { return {work.rows, size}; }
};

/// The team for the work on a device. Where the device limits loops, the smallest that stays within the limit.
RowTeam rowTeamFor(const RowWork& work, const DeviceCaps& device);

/// Unsupported by the device where not even its largest team stays within the limit of its loops.
Status requireRows(const CreateArgs& args, const RowWork& work);

}  // namespace opkit::vulkan
