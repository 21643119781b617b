// ReduceViews: the loops of a reduction for every set of axes that its output allows. The values of `axes` may be known
// only at a run, which must not allocate: a resize plans all sets that fit, a run chooses one.
#pragma once

#include "engine/backend/creator.h"
#include "ops/reduce/reduce.h"

namespace opkit::ops::reduce {

class ReduceViews {
 public:
  explicit ReduceViews(const CreateArgs& args);
  /// Plans for an input and an output of these shapes.
  void plan(const Shape& input, const Shape& output);
  /// The view for the axes of this run. Internal if they do not give the planned output.
  Result<const View*> of(TensorList inputs) const;
  /// Whether `axes` is read at each run.
  bool readsAxes() const { return !fixed_.has_value(); }
  /// The axes before the first that is folded; 0 if that is not known.
  size_t leadingAxes(size_t rank) const;

 private:
  uint32_t maskOf(const Tensor& axes) const;

  ReduceParamsT params_;
  std::optional<uint32_t> fixed_;  // bit d: axis d is folded; nothing if `axes` is not constant
  size_t rank_ = 0;
  std::vector<std::pair<uint32_t, View>> views_;
};

/// Unsupported if there are too many sets of axes to plan.
Status supportsAxes(const CreateArgs& args);

}  // namespace opkit::ops::reduce
