#include "engine/op/loop_region.h"

#include "engine/op/loops.h"

namespace opkit {
namespace {

/// The elements that a view may touch.
struct Reach {
  int64_t low;
  int64_t high;

  void extend(const Shape& size, const DimVector& strides) {
    for (size_t d = 0; d < size.size(); ++d) (strides[d] < 0 ? low : high) += strides[d] * (size[d] - 1);
  }
  void extend(const LoopIndices& indices) {
    for (const LoopIndices::Term& term : indices.terms) extend({std::max<int64_t>(term.extent, 1)}, {term.stride});
  }
  Status check(const char* what, int64_t elements) const {
    if (low >= 0 && high < elements) return Status::ok();
    return Status::internal("loop: the {} must stay in [0, {}), it reaches from {} to {}", what, elements, low, high);
  }
};

Status checkSource(int source, std::span<const TensorDesc* const> inputs) {
  if (source >= 0 && static_cast<size_t>(source) < inputs.size() && inputs[static_cast<size_t>(source)])
    return Status::ok();
  return Status::internal("loop: it reads source {}, there are {}", source, inputs.size());
}

Status checkBase(const LoopRegion& loop, std::span<const TensorDesc* const> inputs, const TensorDesc& output) {
  OPKIT_TRY(checkSource(loop.base, inputs));
  const TensorDesc& base = *inputs[static_cast<size_t>(loop.base)];
  if (base.elements() == output.elements() && base.dtype == output.dtype) return Status::ok();
  return Status::internal("loop: the base {} must be like the output {}", base.toString(), output.toString());
}

/// True if all views have the right number of steps and strides.
Status checkForm(const LoopRegion& loop) {
  const size_t commandRank = loop.command == LoopRegion::Command::Product      ? 3
                             : loop.command == LoopRegion::Command::RunningSum ? 1
                                                                               : loop.size.size();
  const size_t operands = loop.command == LoopRegion::Command::Product ? 2 : 1;
  const auto fits = [&](const LoopView& view) {
    return view.steps.size() == loop.iterations.size() && view.strides.size() == commandRank;
  };
  bool ok = loop.size.size() == commandRank && loop.operands.size() == operands && fits(loop.target);
  for (const LoopView& operand : loop.operands) ok = ok && fits(operand);
  ok = ok && (loop.indices.terms.empty() || loop.indices.steps.size() == loop.iterations.size());
  if (ok && loop.command == LoopRegion::Command::Product &&
      (loop.operands[0].strides[1] != 0 || loop.operands[1].strides[0] != 0 || loop.target.strides[2] != 0))
    return Status::internal("loop: matrices of a product must have stride 0 along the dimension that they do not have");
  if (ok) return Status::ok();
  return Status::internal("loop: {} operands of {} dimensions in {} iterations have other steps or strides", operands,
                          commandRank, toString(loop.iterations));
}

}  // namespace

int64_t targetElements(const LoopRegion& loop) {
  return loop.command == LoopRegion::Command::Product ? loop.size[0] * loop.size[1] : elementCount(loop.size);
}

Status checkLoop(const LoopRegion& loop, std::span<const TensorDesc* const> inputs, const TensorDesc& output) {
  OPKIT_TRY(checkForm(loop));
  const int64_t iterations = elementCount(loop.iterations);
  const bool scatters = loop.command == LoopRegion::Command::Scatter;
  if (scatters) OPKIT_TRY(checkBase(loop, inputs, output));
  if (!scatters && iterations * targetElements(loop) != output.elements())
    return Status::internal("loop: {} iterations of {} elements do not make {}", iterations, targetElements(loop),
                            output.toString());
  for (const LoopView& operand : loop.operands) OPKIT_TRY(checkSource(operand.source, inputs));
  if (!loop.indices.terms.empty()) OPKIT_TRY(checkSource(loop.indices.source, inputs));
  if (output.elements() == 0 || (scatters && iterations * targetElements(loop) == 0)) return Status::ok();
  Reach target{loop.target.offset, loop.target.offset};
  target.extend(loop.iterations, loop.target.steps);
  target.extend(loop.size, loop.target.strides);
  if (scatters) target.extend(loop.indices);
  OPKIT_TRY(target.check("target", output.elements()));
  if (elementCount(loop.size) == 0) return Status::ok();  // a product without depth reads nothing
  for (size_t k = 0; k < loop.operands.size(); ++k) {
    const LoopView& view = loop.operands[k];
    Reach reach{view.offset, view.offset};
    reach.extend(loop.iterations, view.steps);
    reach.extend(loop.size, view.strides);
    if (k == 0 && !scatters) reach.extend(loop.indices);
    const TensorDesc& input = *inputs[static_cast<size_t>(view.source)];
    // Without valid indices nothing is read.
    if (input.elements() > 0 || loop.indices.terms.empty()) OPKIT_TRY(reach.check("operand", input.elements()));
  }
  for (const LoopIndices::Term& term : loop.indices.terms) {
    Reach reach{term.offset, term.offset};
    reach.extend(loop.iterations, loop.indices.steps);
    OPKIT_TRY(reach.check("indices", inputs[static_cast<size_t>(loop.indices.source)]->elements()));
  }
  return Status::ok();
}

LoopRegion mergeLoop(const LoopRegion& loop) {
  LoopRegion merged = loop;
  std::vector<DimVector> steps{loop.target.steps};
  for (const LoopView& operand : loop.operands) steps.push_back(operand.steps);
  if (!loop.indices.terms.empty()) steps.push_back(loop.indices.steps);
  Loops outer = mergeLoops(loop.iterations, steps);
  merged.iterations = std::move(outer.size);
  merged.target.steps = std::move(outer.strides[0]);
  for (size_t k = 0; k < merged.operands.size(); ++k) merged.operands[k].steps = std::move(outer.strides[k + 1]);
  if (!loop.indices.terms.empty()) merged.indices.steps = std::move(outer.strides.back());
  if (!movesBoxes(loop.command)) return merged;
  Loops inner = mergeLoops(loop.size, {loop.target.strides, loop.operands[0].strides});
  merged.size = std::move(inner.size);
  merged.target.strides = std::move(inner.strides[0]);
  merged.operands[0].strides = std::move(inner.strides[1]);
  return merged;
}

Status badIndex(const std::string& type, int64_t extent, int64_t found) {
  return Status::invalidArgument("{}: indices must be in [{}, {}), got {}", type, -extent, extent, found);
}

}  // namespace opkit
