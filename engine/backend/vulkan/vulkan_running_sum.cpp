#include "engine/backend/vulkan/vulkan_running_sum.h"

#include <algorithm>
#include <bit>

#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/row_split.h"
#include "engine/base/divide.h"
#include "shaders/loop/loop_running_sum_rows.h"

namespace opkit::vulkan {
namespace {

using Shader = shaders::LoopRunningSumRows;

constexpr int64_t kRun = 9;               // kRun of the shader
constexpr uint32_t kScanBytes = 8 << 10;  // of shared memory: the scan beside the terms
constexpr int64_t kMostParts = 256;       // each reads the sums of those before it
constexpr int64_t kFewGroups = 4;         // times fewer than fill the device: worth a second dispatch
enum Stage : uint32_t { kWhole, kSums, kParts };

/// Whether both views are [rows / inner, terms, inner] of a whole tensor, forwards or backwards.
bool coversRows(const LoopRegion& loop) {
  const LoopView &x = loop.operands[0], &y = loop.target;
  const int64_t stride = x.strides[0], inner = std::abs(stride), terms = loop.size[0];
  if (x.offset != y.offset || x.steps != y.steps || x.strides != y.strides || inner == 0 || terms == 0) return false;
  if (x.offset != (stride < 0 ? (terms - 1) * inner : 0)) return false;
  const Shape& size = loop.iterations;
  if (inner > 1 && (size.empty() || size.back() != inner || x.steps.back() != 1)) return false;
  const size_t outer = size.size() - (inner > 1 ? 1 : 0);
  return outer == 0 || (outer == 1 && x.steps[0] == terms * inner);
}

/// A team that walks rows in tiles of kRun terms for each invocation; tileElements is 0 if no tile fits.
RowTeam tileTeam(const RowWork& work, const DeviceCaps& device) {
  RowTeam team = RowTeam::of(
      {.rows = work.rows, .extent = work.extent, .distance = work.distance, .elementBytes = work.elementBytes}, device);
  team.localSize = std::min({RowTeam::kMost, std::bit_floor(device.workGroup), device.deviceClass->largestTeam});
  const int64_t bytes = std::min<int64_t>(device.deviceClass->rowTileBytes, int64_t{device.sharedBytes} - kScanBytes);
  while (team.localSize > team.columns && team.localSize * kRun * work.keptBytes > bytes) team.localSize /= 2;
  team.size = std::max(1u, team.localSize / team.columns);
  team.localSize = team.size * team.columns;
  team.tileElements = team.localSize * kRun * work.keptBytes <= bytes ? team.localSize * kRun : 0;
  return team;
}

class RowSums {
 public:
  RowSums(const LoopRegion& loop, const Tensor& x, const Tensor& y, Encoder& encoder)
      : x_(x),
        y_(y),
        encoder_(encoder),
        sumType_(arithmeticOf(y.desc.dtype)),
        work_{.rows = elementCount(loop.iterations),
              .extent = loop.size[0],
              .passes = 2,
              .distance = std::abs(loop.operands[0].strides[0]),
              .elementBytes = static_cast<int64_t>(sizeOf(y.desc.dtype)),
              .keptBytes = static_cast<int64_t>(sizeOf(sumType_))},
        push_{.rows = work_.rows,
              .terms = work_.extent,
              .inner = work_.distance,
              .reverse = loop.operands[0].strides[0] < 0,
              .exclusive = loop.exclusive,
              .parts = 1,
              .partLength = work_.extent},
        isProduct_(loop.combine == Combine::Multiply) {}

  Result<bool> encode() {
    const RowTeam keeps = RowTeam::of(work_, encoder_.caps());
    if (keeps.keeps == RowTeam::Keeps::Blocks) {
      OPKIT_TRY(dispatch(keeps, work_, y_, kWhole));
      return true;
    }
    const RowTeam team = tileTeam(work_, encoder_.caps());
    const int64_t tile = team.size * kRun;
    if (team.tileElements == 0 || isCutOff(tile)) return false;
    const int64_t groups = ceilDiv(work_.rows, team.columns), wanted = encoder_.caps().deviceClass->groupsToFill;
    const int64_t parts = std::min({kMostParts, ceilDiv(wanted, groups), work_.extent / tile});
    if (parts <= 1 || groups * kFewGroups >= wanted) {
      OPKIT_TRY(dispatch(team, work_, y_, kWhole));
      return true;
    }
    push_.partLength = ceilDiv(ceilDiv(work_.extent, parts), tile) * tile;
    push_.parts = ceilDiv(work_.extent, push_.partLength);
    OPKIT_ASSIGN(const Tensor* sums, encoder_.scratch({sumType_, {2, static_cast<int64_t>(push_.parts), work_.rows}}));
    RowWork split = work_;
    split.rows *= push_.parts;
    OPKIT_TRY(dispatch(team, split, *sums, kSums));
    OPKIT_TRY(dispatch(team, split, *sums, kParts));
    return true;
  }

 private:
  /// Whether the device ends the loop over the tiles of a row, or the sum of a part, early.
  bool isCutOff(int64_t tile) const {
    return static_cast<uint64_t>(2 * ceilDiv(work_.extent, tile) * kRun + 2 * kMostParts) >
           encoder_.caps().loopIterations;
  }

  Status dispatch(const RowTeam& team, const RowWork& work, const Tensor& sums, Stage stage) {
    return encoder_.dispatch<Shader>({*Shader::storageOf(y_.desc.dtype)}, {.x = &x_, .y = &y_, .partSums = &sums},
                                     push_, Items{team.teams(work), team.size},
                                     {.localSizeX = team.localSize,
                                      .team = team.size,
                                      .rowSteps = team.layoutWord(),
                                      .keepsRows = team.keeps == RowTeam::Keeps::Blocks,
                                      .stage = stage,
                                      .isProduct = isProduct_});
  }

  const Tensor& x_;
  const Tensor& y_;
  Encoder& encoder_;
  DType sumType_;
  RowWork work_;
  Shader::PushConstants push_;
  bool isProduct_;
};

}  // namespace

Result<bool> encodeRowSums(const LoopRegion& loop, const Tensor& x, const Tensor& y, Encoder& encoder) {
  if (encoder.caps().deviceClass->rowTileBytes == 0 || !coversRows(loop)) return false;
  return RowSums(loop, x, y, encoder).encode();
}

}  // namespace opkit::vulkan
