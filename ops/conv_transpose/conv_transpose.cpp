// ConvTranspose: the product of the transposed weights with every input position gives a block of outputs per position;
// Fold adds the blocks where they lie.
#include "ops/conv_transpose/conv_transpose.h"

#include "engine/op/decomposition.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/cast/cast_generated.h"
#include "ops/conv_transpose/conv_transpose_parts.h"
#include "ops/reshape/reshape_generated.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::conv_transpose {
namespace {

using List = std::vector<int64_t>;
using Value = Decomposition::Value;

Status checkShapes(const ConvTransposeParamsT& params, const ShapeArgs& args) {
  const Shape &x = args.shape(0), &w = args.shape(1);
  if (x.size() < 3 || x.size() > kMaxSpatialAxes + 2)
    return Status::unsupported("the input must have 1 to {} spatial axes, got {}", kMaxSpatialAxes, toString(x));
  if (w.size() != x.size())
    return Status::invalidArgument("the weights must have the input's rank {}, got {}", x.size(), toString(w));
  if (w[0] != x[1])
    return Status::invalidArgument("the weights must have the {} channels of the input in front, got {}", x[1],
                                   toString(w));
  if (params.group < 1 || x[1] % params.group != 0)
    return Status::invalidArgument("group must divide the {} input channels, got {}", x[1], params.group);
  for (const size_t i : {size_t{1}, size_t{2}}) OPKIT_TRY(requireSameType(args, i, i == 1 ? "w" : "bias", 0));
  OPKIT_TRY(requireParameter(args, 2, "bias", {w[1] * params.group}));
  const List kernel(w.begin() + 2, w.end());
  if (!params.kernel_shape.empty() && params.kernel_shape != kernel)
    return Status::invalidArgument("kernel_shape must be {} for weights {}, got {}", toString(kernel), toString(w),
                                   toString(params.kernel_shape));
  return Status::ok();
}

/// `list`, or `fallback` repeated where it is empty.
Result<List> valuesOf(const char* name, const List& list, size_t count, int64_t fallback) {
  if (list.empty()) return List(count, fallback);
  if (list.size() != count) return Status::invalidArgument("{} must list {} values, got {}", name, count, list.size());
  for (const int64_t value : list)
    if (value < fallback || value > kMaxElements)
      return Status::invalidArgument("{} must be in [{}, {}], got {}", name, fallback, kMaxElements, value);
  return list;
}

int64_t halfOf(int64_t total) { return total >= 0 ? total / 2 : -((1 - total) / 2); }  // rounded down

Result<FoldParamsT> foldOf(const ConvTransposeParamsT& params, const Shape& x, const Shape& w) {
  const size_t axes = x.size() - 2;
  FoldParamsT fold;
  fold.positions.assign(x.begin() + 2, x.end());
  fold.kernel.assign(w.begin() + 2, w.end());
  OPKIT_ASSIGN(fold.strides, valuesOf("strides", params.strides, axes, 1));
  OPKIT_ASSIGN(fold.dilations, valuesOf("dilations", params.dilations, axes, 1));
  OPKIT_ASSIGN(const List pads, valuesOf("pads", params.pads, 2 * axes, 0));
  OPKIT_ASSIGN(const List further, valuesOf("output_padding", params.output_padding, axes, 0));
  const bool same = params.auto_pad == AutoPad::SameUpper || params.auto_pad == AutoPad::SameLower;
  List wanted;
  if (!params.output_shape.empty()) {
    OPKIT_ASSIGN(wanted, valuesOf("output_shape", params.output_shape, axes, 0));
  }
  for (size_t d = 0; d < axes; ++d) {
    const int64_t covered = fold.dilations[d] * (fold.kernel[d] - 1) + 1;
    if (fold.kernel[d] < 1 || covered > kMaxElements)
      return Status::invalidArgument("the kernel must cover 1 to {} elements, got {}", kMaxElements, covered);
    const int64_t whole = std::max<int64_t>(fold.strides[d] * (fold.positions[d] - 1), 0) + further[d] + covered;
    if (wanted.empty() && !same) {
      const bool cuts = params.auto_pad == AutoPad::NotSet;
      fold.pads.push_back(cuts ? pads[d] : 0);
      fold.image.push_back(whole - (cuts ? pads[d] + pads[d + axes] : 0));
    } else {
      fold.image.push_back(wanted.empty() ? fold.positions[d] * fold.strides[d] : wanted[d]);
      const int64_t total = whole - fold.image.back();
      fold.pads.push_back(params.auto_pad == AutoPad::SameUpper ? halfOf(total) : total - halfOf(total));
    }
    if (fold.image.back() < 0 || fold.image.back() > kMaxElements)
      return Status::invalidArgument("axis {} would have {} outputs", d, fold.image.back());
  }
  return fold;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<ConvTransposeParams>();
  OPKIT_TRY(checkShapes(params, args));
  OPKIT_ASSIGN(const FoldParamsT fold, foldOf(params, args.shape(0), args.shape(1)));
  Shape shape{args.shape(0)[0], args.shape(1)[1] * params.group};
  shape.insert(shape.end(), fold.image.begin(), fold.image.end());
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const Shape& w = args.shape(1);
  return 2.0 * static_cast<double>(args.input(0).elements()) * static_cast<double>(elementCount(w, 1, w.size()));
}

/// Adds parts that only change the form of a value.
struct Forms {
  Decomposition& parts;

  Result<Value> reshaped(Value value, const Shape& shape) {
    OPKIT_ASSIGN(Tensor list,
                 Tensor::fromValues({DType::Int64, {static_cast<int64_t>(shape.size())}}, shape.toVector()));
    reshape::ReshapeParamsT params;
    params.allow_zero = true;
    return parts.add("Reshape", {value, parts.constant(std::move(list))}, packParams(params));
  }
  Value transposed(Value value, std::vector<int32_t> order) {
    transpose::TransposeParamsT params;
    params.perm = std::move(order);
    return parts.add("Transpose", {value}, packParams(params));
  }
  Value cast(Value value, DType to) {
    cast::CastParamsT params;
    params.to = static_cast<cast::ElementType>(to);
    return parts.add("Cast", {value}, packParams(params));
  }
};

/// The blocks of a position are sums of products, of which several meet in an output: halves add them as floats.
Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const auto params = args.params<ConvTransposeParams>();
  const Shape &x = args.shape(0), &w = args.shape(1);
  OPKIT_ASSIGN(const FoldParamsT fold, foldOf(params, x, w));
  const int64_t groups = params.group, depth = x[1] / groups, rows = elementCount(w, 1, w.size());
  const int64_t positions = elementCount(fold.positions);
  const bool halves = args.input(0).dtype == DType::Float16;
  Forms forms{parts};
  const auto input = [&](size_t i) { return halves ? forms.cast(parts.input(i), DType::Float32) : parts.input(i); };
  OPKIT_ASSIGN(const Value weights, forms.reshaped(input(1), {groups, depth, rows}));
  OPKIT_ASSIGN(const Value pixels, forms.reshaped(input(0), {x[0], groups, depth, positions}));
  const Value blocks = parts.add("MatMul", {forms.transposed(weights, {0, 2, 1}), pixels});
  OPKIT_ASSIGN(const Value columns, forms.reshaped(blocks, {x[0], groups * rows, positions}));
  std::vector<Value> folded{columns};
  if (args.hasInput(2)) folded.push_back(input(2));
  const Value image = parts.add("Fold", std::move(folded), packParams(fold));
  parts.setOutput(0, halves ? forms.cast(image, DType::Float16) : image);
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add(
      {.type = "ConvTranspose",
       .summary = "the gradient of a convolution: each input adds a block of outputs, over 1 to 3 spatial axes",
       .params = paramsSchema<ConvTransposeParams>(kConvTransposeSchema),
       .inputs = {{"x", kFloats}, {"w", kFloats}, {"bias", kFloats, Port::Kind::Optional}},
       .outputs = {{"y"}},
       .numeric = NumericClass::Products,
       .inferShapes = shapeRule,
       .decompose = decompose,
       .flops = flops,
       .oracle = convTransposeReference});
  registry.add({.type = "Fold",
                .summary = "adds blocks, one per column, to the image where they lie, and a bias per channel",
                .params = paramsSchema<FoldParams>(kFoldSchema),
                .inputs = {{"columns", kNumbers}, {"bias", kNumbers, Port::Kind::Optional}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = foldRule,
                .flops = additions,
                .oracle = foldReference});
  registry.add({.type = "Col2Im",
                .summary = "adds blocks, one per column, to an image of a given shape",
                .params = paramsSchema<Col2ImParams>(kCol2imSchema),
                .inputs = {{"columns", kNumbers},
                           {"image_shape", kIndexTypes, Port::Kind::Required, true},
                           {"block_shape", kIndexTypes, Port::Kind::Required, true}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = col2ImRule,
                .decompose = decomposeCol2Im,
                .flops = additions,
                .oracle = col2ImReference});
}

}  // namespace opkit::ops::conv_transpose
