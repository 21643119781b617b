// Parts that several decompositions need (OpDef::decompose). Plain functions, thread-safe.
#pragma once

#include "engine/op/decomposition.h"
#include "ops/cast/cast_generated.h"
#include "ops/concat/concat_generated.h"
#include "ops/reduce/reduce_generated.h"
#include "ops/reshape/reshape_generated.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops {

/// The type that parts compute in: halves are widened first and rounded once, at the end.
inline DType widened(DType dtype) { return dtype == DType::Float16 ? DType::Float32 : dtype; }

/// `x`, of element type `from`, as `to`; x itself if they are equal.
inline Decomposition::Value castTo(Decomposition& parts, Decomposition::Value x, DType from, DType to) {
  if (from == to) return x;
  cast::CastParamsT params;
  params.to = static_cast<cast::ElementType>(to);
  return parts.add("Cast", {x}, packParams(params));
}

/// A constant i64 tensor.
inline Result<Decomposition::Value> integersOf(Decomposition& parts, const Shape& shape,
                                               const std::vector<int64_t>& values) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::fromValues({DType::Int64, shape}, values));
  return parts.constant(std::move(tensor));
}
/// A constant list i64[n], as operators take axes and shapes.
inline Result<Decomposition::Value> listOf(Decomposition& parts, const DimVector& values) {
  return integersOf(parts, {static_cast<int64_t>(values.size())}, values.toVector());
}

/// A constant scalar of `dtype`, any but f16 and bool.
template <class T>
Result<Decomposition::Value> scalarOf(Decomposition& parts, DType dtype, T value) {
  OPKIT_ASSIGN(Tensor scalar, Tensor::onHost({dtype, {}}));
  visitDType(dtype, [&](auto tag) {
    using Element = decltype(tag);
    if constexpr (!std::is_same_v<Element, Half>) scalar.data<Element>()[0] = static_cast<Element>(value);
  });
  return parts.constant(std::move(scalar));
}

/// The same elements in another shape.
inline Result<Decomposition::Value> reshaped(Decomposition& parts, Decomposition::Value x, const Shape& shape) {
  OPKIT_ASSIGN(const Decomposition::Value list, listOf(parts, shape));
  reshape::ReshapeParamsT params;
  params.allow_zero = true;
  return parts.add("Reshape", {x, list}, packParams(params));
}
/// Axis d of the result is axis perm[d] of x.
inline Decomposition::Value transposed(Decomposition& parts, Decomposition::Value x, std::vector<int> perm) {
  transpose::TransposeParamsT params;
  params.perm = std::move(perm);
  return parts.add("Transpose", {x}, packParams(params));
}
inline Decomposition::Value concatenated(Decomposition& parts, std::vector<Decomposition::Value> list, int axis) {
  concat::ConcatParamsT params;
  params.axis = axis;
  return parts.add("Concat", std::move(list), packParams(params));
}

/// "ReduceSum" or the like over `axes`; over all if there are none.
inline Decomposition::Value reduced(Decomposition& parts, const char* type, Decomposition::Value x,
                                    std::vector<int64_t> axes, bool keepDims) {
  reduce::ReduceParamsT params;
  params.axes = std::move(axes);
  params.keep_dims = keepDims;
  return parts.add(type, {x}, packParams(params));
}

}  // namespace opkit::ops
