#include "engine/backend/vulkan/row_split.h"

#include <algorithm>

#include "engine/backend/device_class.h"
#include "engine/base/divide.h"

namespace opkit::vulkan {
namespace {

constexpr int64_t kLeastElements = 1024;  // of a work group
constexpr int64_t kLeastLength = 256;     // of a part, whose result is written and read again
constexpr int64_t kAlignment = 32;        // elements: parts begin at a sector
constexpr int64_t kFewGroups = 4;         // times fewer than fill the device: worth a second dispatch

}  // namespace

RowSplit RowSplit::of(const RowWork& work, const DeviceCaps& device, int64_t mostParts) {
  const RowTeam team = RowTeam::of(work, device);
  const int64_t groups = team.teams(work) * team.size / team.localSize, wanted = device.deviceClass->groupsToFill;
  if (groups == 0 || groups * kFewGroups >= wanted) return {1, work.extent};
  const int64_t parts = std::min({ceilDiv(wanted, groups), work.rows * work.extent / groups / kLeastElements,
                                  work.extent / kLeastLength, mostParts});
  if (parts <= 1) return {1, work.extent};
  const int64_t length = ceilDiv(ceilDiv(work.extent, parts), kAlignment) * kAlignment;
  return {ceilDiv(work.extent, length), length};
}

RowWork RowSplit::folding(const RowWork& work) const {
  RowWork split = work;
  split.rows *= parts;
  split.extent = length;
  split.keptBytes = 0;
  return split;
}

RowWork RowSplit::joining(const RowWork& work) const {
  return {.rows = work.rows, .extent = parts, .passes = work.passes, .distance = work.rows};
}

DType arithmeticOf(DType dtype) {
  if (dtype == DType::Float16) return DType::Float32;
  if (sizeOf(dtype) >= 4) return dtype;
  return dtype == DType::Int8 || dtype == DType::Int16 ? DType::Int32 : DType::UInt32;
}

}  // namespace opkit::vulkan
