// BroadcastWork: the items of an elementwise kernel whose operands broadcast (shaders/include/broadcast.glsl).
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/loops.h"

namespace opkit::vulkan {

/// Multiplier and shift by which a shader divides a number below 2^31: (high half of number * multiplier + number) >>
/// shift.
struct Divisor {
  int64_t multiplier = 0;
  int64_t shift = 0;

  static Divisor of(int64_t divisor);
};

struct BroadcastWork {
  static constexpr size_t kMaxLoops = 6;
  // Rows of one invocation: 8 make the loads of an operand that repeats over rows an eighth of the others.
  static constexpr int64_t kMostRows = 8;
  // Fewer invocations leave a device with 132 compute units idle, so they take fewer rows each.
  static constexpr int64_t kLeastInvocations = 16384;

  int64_t items = 0;
  uint32_t width = 1;  // variant of the shader
  uint32_t rows = 1;   // constants of the shader
  uint32_t loops = 0;
  int64_t count = 0;  // push constants of the shader
  int64_t rowCount = 0;
  std::array<int64_t, kMaxLoops> sizes{};
  std::array<int64_t, kMaxLoops - 1> multipliers{};
  int64_t shifts = 0;
  std::vector<std::array<int64_t, kMaxLoops>> strides;  // per operand

  /// REQUIRES at most kMaxLoops loops. `vectors` is false if the kernel has no vectors of the operands' type.
  static BroadcastWork of(const Loops& loops, const DeviceCaps& device, bool vectors = true);
};

/// Dispatches shader S over the work; `push` holds the strides of the operands and what else the shader has.
template <class S>
Status dispatchBroadcast(Encoder& encoder, typename S::Variant variant, const typename S::Bindings& bindings,
                         typename S::PushConstants push, const BroadcastWork& work,
                         typename S::Constants constants = {}) {
  push.count = work.count;
  push.rowCount = work.rowCount;
  push.sizes = work.sizes;
  push.multipliers = work.multipliers;
  push.shifts = work.shifts;
  variant.width = work.width == 4 ? S::Width::V4 : S::Width::V1;
  constants.loops = work.loops;
  constants.rows = work.rows;
  return encoder.dispatch<S>(variant, bindings, push, Items{work.items}, constants);
}

}  // namespace opkit::vulkan
