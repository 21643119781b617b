// Folding: computes nodes at a resize instead of in each run. A node can be folded if all its inputs are known.
//
// Values from constants alone are always folded, and kept for all resizes. So are values that a shape depends on. Other
// values are folded as long as that is little work, or if the session's backend has no kernel for the node; its kernels
// compute the rest. Little work is the oracle's, which is exact and slow; much work is done by the CPU's kernels.
#pragma once

#include <functional>

#include "engine/backend/backend.h"

namespace opkit {

/// The source of a known value. A value with two sources has the later one.
enum class Origin : uint8_t {
  Constants,
  Shapes,  // of inputs
  Inputs,  // values of inputs that shapes depend on
};

/// Limit for one tensor. A few damaged bytes of a constant can request any size, at every resize.
inline constexpr size_t kMostFoldedBytes = size_t{1} << 30;
/// Limit for the work of one plan on values that depend on shapes and that no shape needs. About 10 ms of the oracle.
inline constexpr double kMostFoldedWork = 1 << 18;
/// From here on the CPU's kernels fold a node.
inline constexpr double kMuchWork = 1 << 16;

/// A node with known inputs, null where absent.
struct KnownNode {
  const OpDef& def;
  std::span<const uint8_t> params;
  std::span<const TensorDesc* const> inputs;
  std::span<const Tensor* const> values;  // of a shape-only node not needed
  std::span<const TensorDesc> outputs;

  ShapeArgs shapeArgs() const { return {params, inputs, values, outputs.size()}; }
  /// Operations, or elements if those are more.
  double work() const;
};

struct FoldingOptions {
  Backend* backend = nullptr;  // the session's; null: all known nodes are folded
  ProviderPolicy providers = {};
  bool mayRefuse = false;                           // the session does not run each node that some backend can run
  std::function<Result<Backend*>()> cpu = nullptr;  // makes the CPU's kernels available; null: the oracle does all work
};

class Folding {
 public:
  /// The references must outlive it.
  Folding(Backend& reference, FoldingOptions options) : reference_(reference), options_(std::move(options)) {}

  /// Whether the node is to be folded. `needed`: a shape depends on its values. `spent` is the work on such values in
  /// this plan so far. An operator that is made of others is not folded if its parts can be decided on.
  bool takes(const KnownNode& node, Origin origin, bool needed, double& spent) const;
  /// Whether a node must be folded although some inputs are left to a run: a kernel that does not exist would compute
  /// it. Their values are null in `node`.
  bool takesBack(const KnownNode& node, Origin origin) const;
  /// The node's outputs on the host. OutOfMemory if one exceeds kMostFoldedBytes.
  Result<std::vector<Tensor>> compute(const KnownNode& node) const;

 private:
  bool hasKernel(const KnownNode& node) const;
  bool runs(const CreateArgs& args, std::span<const Tensor* const> values) const;

  Backend& reference_;
  FoldingOptions options_;
};

}  // namespace opkit
