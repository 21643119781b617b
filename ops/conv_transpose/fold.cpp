// Fold: blocks of an image, one per column, added where they lie. Col2Im is the same with other inputs.
#include "engine/op/decomposition.h"
#include "engine/op/shape_rules.h"
#include "ops/conv_transpose/conv_transpose.h"

namespace opkit::ops::conv_transpose {
namespace {

using List = std::vector<int64_t>;

Status checkList(const char* name, const List& list, size_t count, int64_t least) {
  if (list.size() != count) return Status::invalidArgument("{} must list {} values, got {}", name, count, list.size());
  for (const int64_t value : list)
    if (value < least || value > kMaxElements)
      return Status::invalidArgument("{} must be in [{}, {}], got {}", name, least, kMaxElements, value);
  return Status::ok();
}

Status checkFold(const FoldParamsT& params) {
  const size_t axes = params.image.size();
  if (axes < 1 || axes > kMaxSpatialAxes)
    return Status::unsupported("the image must have 1 to {} spatial axes, got {}", kMaxSpatialAxes, axes);
  OPKIT_TRY(checkList("image", params.image, axes, 0));
  OPKIT_TRY(checkList("positions", params.positions, axes, 0));
  OPKIT_TRY(checkList("kernel", params.kernel, axes, 1));
  OPKIT_TRY(checkList("strides", params.strides, axes, 1));
  OPKIT_TRY(checkList("dilations", params.dilations, axes, 1));
  return checkList("pads", params.pads, axes, -kMaxElements);
}

}  // namespace

Result<std::vector<TensorDesc>> foldRule(const ShapeArgs& args) {
  const auto params = args.params<FoldParams>();
  OPKIT_TRY(checkFold(params));
  const Shape& columns = args.shape(0);
  const int64_t taps = elementCount(params.kernel), positions = elementCount(params.positions);
  if (columns.size() != 3 || columns[1] % taps != 0 || columns[2] != positions)
    return Status::invalidArgument("columns must be [batch, channels * {}, {}], got {}", taps, positions,
                                   toString(columns));
  OPKIT_TRY(requireParameter(args, 1, "bias", {columns[1] / taps}));
  Shape shape{columns[0], columns[1] / taps};
  shape.insert(shape.end(), params.image.begin(), params.image.end());
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

double additions(const ShapeArgs& args, std::span<const TensorDesc>) {
  return static_cast<double>(args.input(0).elements());
}

namespace {

List orOnes(const List& list, size_t count) { return list.empty() ? List(count, 1) : list; }

/// The parameters of the Fold that does what a Col2Im says.
Result<FoldParamsT> foldOf(const ShapeArgs& args) {
  const auto params = args.params<Col2ImParams>();
  OPKIT_TRY(requireList(args, 1, "image_shape"));
  OPKIT_TRY(requireList(args, 2, "block_shape"));
  FoldParamsT fold;
  fold.image = args.integers(1);
  fold.kernel = args.integers(2);
  const size_t axes = fold.image.size();
  fold.strides = orOnes(params.strides, axes);
  fold.dilations = orOnes(params.dilations, axes);
  const List pads = params.pads.empty() ? List(2 * axes, 0) : params.pads;
  OPKIT_TRY(checkList("pads", pads, 2 * axes, 0));
  fold.pads.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  fold.positions.assign(axes, 0);
  OPKIT_TRY(checkFold(fold));
  for (size_t d = 0; d < axes; ++d) {
    const int64_t covered = fold.dilations[d] * (fold.kernel[d] - 1) + 1;
    const int64_t room = fold.image[d] + pads[d] + pads[d + axes] - covered;
    if (room < 0)
      return Status::invalidArgument("the padded image must hold a block of {} along axis {}, got {}", covered, d,
                                     room + covered);
    fold.positions[d] = room / fold.strides[d] + 1;
  }
  return fold;
}

}  // namespace

Result<std::vector<TensorDesc>> col2ImRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const FoldParamsT fold, foldOf(args));
  const ParamBytes bytes = packParams(fold);
  return foldRule({bytes, args.inputs.first(1), args.contents.first(1), 1});
}

Status decomposeCol2Im(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  OPKIT_ASSIGN(const FoldParamsT fold, foldOf(args));
  parts.setOutput(0, parts.add("Fold", {parts.input(0)}, packParams(fold)));
  return Status::ok();
}

std::vector<FoldAxis> foldAxes(const FoldParamsT& params) {
  std::vector<FoldAxis> axes(kMaxSpatialAxes - params.image.size());
  for (size_t d = 0; d < params.image.size(); ++d)
    axes.push_back({params.image[d], params.positions[d], params.kernel[d], params.strides[d], params.dilations[d],
                    params.pads[d]});
  return axes;
}

}  // namespace opkit::ops::conv_transpose
