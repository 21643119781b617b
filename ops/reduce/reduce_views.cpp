#include "ops/reduce/reduce_views.h"

#include <bit>

namespace opkit::ops::reduce {
namespace {

constexpr size_t kMostAxes = 31;     // bits of a mask
constexpr size_t kMostUnknown = 12;  // axes of which every set is tried: 4,096 of them
constexpr uint32_t kNoSet = ~uint32_t{0};

uint32_t maskOfAll(size_t rank) { return (uint32_t{1} << rank) - 1; }

bool gives(const Shape& input, uint32_t mask, bool keepDims, const Shape& output) {
  size_t at = 0;
  for (size_t d = 0; d < input.size(); ++d) {
    const bool isFolded = mask >> d & 1;
    if (isFolded && !keepDims) continue;
    if (at == output.size() || output[at++] != (isFolded ? 1 : input[d])) return false;
  }
  return at == output.size();
}

}  // namespace

ReduceViews::ReduceViews(const CreateArgs& args)
    : params_(args.params<ReduceParams>()), rank_(args.input(0).shape.size()) {
  if (!args.hasInput(1)) {
    const std::vector<bool> folded = *reducedAxes(params_, nullptr, rank_);
    fixed_ = 0;
    for (size_t d = 0; d < rank_; ++d) *fixed_ |= uint32_t{folded[d]} << d;
  } else if (args.constant(1)) {
    fixed_ = maskOf(*args.constant(1));
  }
}

size_t ReduceViews::leadingAxes(size_t rank) const {
  if (!fixed_ || *fixed_ == kNoSet) return 0;
  return *fixed_ == 0 ? rank : static_cast<size_t>(std::countr_zero(*fixed_));
}

void ReduceViews::plan(const Shape& input, const Shape& output) {
  views_.clear();
  const auto add = [&](uint32_t mask) {
    std::vector<bool> folded;
    for (size_t d = 0; d < rank_; ++d) folded.push_back(mask >> d & 1);
    views_.emplace_back(mask, viewOf(input, folded));
  };
  if (fixed_) return add(*fixed_);
  for (uint32_t mask = 0; mask <= maskOfAll(rank_); ++mask)
    if (gives(input, mask, params_.keep_dims, output)) add(mask);
}

uint32_t ReduceViews::maskOf(const Tensor& axes) const {
  const int64_t count = axes.desc.elements();
  if (count == 0) return params_.noop_with_empty_axes ? 0 : maskOfAll(rank_);
  uint32_t mask = 0;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const int64_t axis = axes.desc.dtype == DType::Int64 ? axes.data<int64_t>()[i] : axes.data<int32_t>()[i];
    const Result<int> normalized = normalizeAxis(axis, rank_);
    if (!normalized) return kNoSet;
    mask |= uint32_t{1} << *normalized;
  }
  return mask;
}

Result<const View*> ReduceViews::of(TensorList inputs) const {
  const uint32_t mask = fixed_ ? *fixed_ : maskOf(*inputs[1]);
  for (const auto& [planned, view] : views_)
    if (planned == mask) return &view;
  return Status::internal("the axes differ from those of the resize");
}

Status supportsAxes(const CreateArgs& args) {
  const size_t rank = args.input(0).shape.size();
  const size_t most = args.hasInput(1) && !args.constant(1) ? kMostUnknown : kMostAxes;
  if (rank > most)
    return Status::unsupported("{}: the CPU kernel takes up to {} axes, got {}", args.def.type, most, rank);
  return Status::ok();
}

}  // namespace opkit::ops::reduce
