// Sorts rows on Vulkan, for TopK and for operators that need rows in order.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/rows.h"

namespace opkit::ops::top_k {

enum Kind : uint32_t { kUnsigned, kSigned, kFloat, kHalf };  // of the bits, as in top_k_rank.glsl

/// Passes that the loops of an invocation of top_k_sort.comp make, at most: 55 steps over a tile of 1,024.
inline constexpr int64_t kSortPasses = 400;

Kind kindOf(DType dtype);
/// The least power of two that is at least `least`.
int64_t powerOfTwo(int64_t least);

/// Ranks and positions of the candidates, [rows, perRow].
struct Candidates {
  const Tensor* ranks = nullptr;
  const Tensor* places = nullptr;
  int64_t perRow = 0;
};

/// Records the sort of the rows of `x`, the largest or the smallest first, equal elements by position. For one
/// onEncode.
class RowSort {
 public:
  RowSort(const Tensor& x, const Rows& rows, bool largest, vulkan::Encoder& encoder)
      : x_(x), rows_(rows), largest_(largest), encoder_(encoder) {}

  /// The first k of each row of the result, or more, in order.
  Result<Candidates> best(int64_t k) const;

 private:
  /// One dispatch of the sort: reads `given` elements of each row, of x or of `from`, in `slots` slots.
  struct Step {
    int64_t given, slots, tile, keep;
    uint32_t firstRun = 2;
    int64_t lastRun = 0;
    bool alternates = false;  // tiles go up and down by turns, for merges
  };

  Result<Candidates> allocate(int64_t perRow) const;
  Status sort(const Candidates* from, const Candidates& to, const Step& step) const;
  /// Each tile keeps k; fewer tiles in each round.
  Result<Candidates> select(int64_t k) const;
  /// A bitonic sort of whole rows; steps inside tiles share a dispatch.
  Result<Candidates> sortAll() const;

  const Tensor& x_;
  Rows rows_;
  bool largest_;
  vulkan::Encoder& encoder_;
};

}  // namespace opkit::ops::top_k
