// LoopLowering: turns a node into its LoopRegion, for the loop kernels of backends.
//
// A backend that can run loops appends one Creator of provider "loop" to its kernels of every operator with
// OpDef::loop. Hand-written kernels come before the loop; without them the loop is the kernel. Values; not shared
// between threads.
#pragma once

#include <optional>

#include "engine/backend/creator.h"

namespace opkit {

inline constexpr const char* kLoopProvider = "loop";

/// OK if a loop is wanted for the node; else Unsupported with the reason.
using LoopCondition = std::function<Status(const CreateArgs&)>;

class LoopLowering {
 public:
  /// For an Execution: remembers the operator and the values of the inputs that its loop depends on.
  explicit LoopLowering(const CreateArgs& args);

  /// The loop for these shapes, in as few dimensions as possible. Unsupported if the operator has no such form,
  /// Internal if its loop is wrong (checkLoop).
  Result<LoopRegion> lower(TensorList inputs, TensorList outputs) const;
  /// Whether the loop was made with the values of this input, so that its kernel need not read it.
  bool knows(size_t input) const;

  /// The same for a Creator that has no Execution yet. Unsupported also if the loop needs the values of an input that
  /// is not constant.
  static Result<LoopRegion> lower(const CreateArgs& args);

 private:
  const OpDef* def_;  // owned by the registry, which outlives Executions
  std::vector<uint8_t> params_;
  std::vector<std::optional<Tensor>> contents_;
};

/// InvalidArgument if the loop of the operator takes its indices from `contents` (the input values known before a run)
/// and one is out of range. For planning, so that every backend reports known errors there.
Status checkKnownIndices(const CreateArgs& args, std::span<const Tensor* const> contents);

/// InvalidArgument names the first index out of range, in the order of the iterations. `values` is the host tensor of
/// the indices.
Status checkIndices(const LoopRegion& loop, const Tensor& values, const std::string& type);

}  // namespace opkit
