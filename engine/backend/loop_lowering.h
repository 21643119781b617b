// LoopLowering: the way from a node to its LoopRegion, for the loop kernels of backends.
//
// A backend that can run loops puts one Creator of provider "loop" behind its other kernels of every operator with
// OpDef::loop. Where a kernel of its own is worth having, it stands before the loop; everywhere else the loop is the
// kernel. Values; not shared between threads.
#pragma once

#include <optional>

#include "engine/backend/creator.h"

namespace opkit {

inline constexpr const char* kLoopProvider = "loop";

/// For which nodes a loop is wanted; else Unsupported with the reason.
using LoopCondition = std::function<Status(const CreateArgs&)>;

class LoopLowering {
 public:
  /// For an Execution: remembers the operator and the values of the inputs that its loop depends on.
  explicit LoopLowering(const CreateArgs& args);

  /// The loop for these shapes, in as few dimensions as possible. Unsupported where the operator has no such form,
  /// Internal where its loop is wrong (checkLoop).
  Result<LoopRegion> lower(TensorList inputs, TensorList outputs) const;
  /// Whether the loop was made with the values of this input, so that its kernel need not read it.
  bool knows(size_t input) const { return input < contents_.size() && contents_[input].has_value(); }

  /// The same for a Creator that has no Execution yet. Unsupported also where an input whose values are needed is not
  /// constant.
  static Result<LoopRegion> lower(const CreateArgs& args);

 private:
  const OpDef* def_;  // of the registry, which outlives Executions
  std::vector<uint8_t> params_;
  std::vector<std::optional<Tensor>> contents_;
};

/// InvalidArgument when the operator has a loop whose indices are among `contents`, the inputs' values that are known
/// before a run, and one is out of range. For planning: what is known to be wrong is said there, on every backend.
Status checkKnownIndices(const CreateArgs& args, std::span<const Tensor* const> contents);

/// The error for an index outside [-extent, extent), the same on every backend.
Status badIndex(const std::string& type, int64_t extent, int64_t found);
/// Maps an index in [-extent, extent) to [0, extent); badIndex otherwise.
Result<int64_t> resolveIndex(const std::string& type, int64_t index, int64_t extent);

/// InvalidArgument that names the first index that is out of range, in the order of the iterations; OK when there is
/// none. `values` is the host tensor of the indices.
Status checkIndices(const LoopRegion& loop, const Tensor& values, const std::string& type);

}  // namespace opkit
