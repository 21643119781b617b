// KnownExtents: what a pass before lowering can be sure of about shapes: the trailing extents of each tensor, for every
// shape that the model's inputs may take. Shapes follow from declared inputs and constants by the shape rules; where an
// extent is open, a few operators still pass the others on. An input without a declared extent tells nothing, not even
// its rank: in stages and subgraphs the values decide. Plain data after construction; thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "engine/model/model.h"

namespace opkit::ops::shape {

class KnownExtents {
 public:
  /// REQUIRES nodes in order of their inputs.
  KnownExtents(const Model& model, const OpRegistry& registry);

  /// The extent of the axis `fromEnd` places before the last one; kDynamic where it is not known.
  int64_t extent(TensorId tensor, size_t fromEnd = 0) const;

 private:
  struct Known {
    Shape trailing;        // kDynamic: an axis of unknown extent
    bool isWhole = false;  // no axis precedes them
    std::optional<DType> dtype = std::nullopt;
    const Tensor* constant = nullptr;

    bool isDescribed() const;
    int64_t extent(size_t fromEnd) const;  // 1 before the first axis, as broadcasting reads it
  };

  static Known described(const TensorDesc& desc, const Tensor* constant = nullptr);
  static Known broadcast(const Known& a, const Known& b);
  const Known& of(const ModelNode& node, size_t input) const;
  bool inferWhole(const ModelNode& node, const OpRegistry& registry);
  Known partly(const ModelNode& node) const;
  Known reshaped(const ModelNode& node) const;
  Known transposed(const ModelNode& node) const;
  Known product(const ModelNode& node) const;

  IndexedVector<TensorId, Known> known_;
};

}  // namespace opkit::ops::shape
