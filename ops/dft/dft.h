// Shared by the card of FourierTransform, its kernels, DFT and STFT: where the rows of a transform lie.
#pragma once

#include "engine/op/op_def.h"
#include "ops/dft/dft_parts.h"

namespace opkit::ops::dft {

/// The longest transform.
inline constexpr int64_t kMostPoints = int64_t{1} << 28;

/// The rows of a FourierTransform, numbered outer * inner. Distances count scalars; a complex number is two of them.
struct FourierPlan {
  /// Where rows and their elements lie in a tensor.
  struct Places {
    int64_t outer = 0;  // between rows of the outer number
    int64_t inner = 0;
    int64_t step = 0;   // between the elements of a row
    int64_t parts = 1;  // scalars of an element: 1 is real, 2 complex

    int64_t rowAt(int64_t row, int64_t innerRows) const { return row / innerRows * outer + row % innerRows * inner; }
  };

  int64_t length = 1;   // points of a transform
  int64_t given = 0;    // elements of a row of x that count; the others are zeros
  int64_t results = 0;  // elements of a row of y
  int64_t outerRows = 0;
  int64_t innerRows = 1;
  Places x, y;
  bool inverse = false;
  bool onesided = false;
  Shape shape;  // of y

  int64_t rows() const { return outerRows * innerRows; }
  bool isRealIn() const { return x.parts == 1; }
  bool isRealOut() const { return y.parts == 1; }
};

/// InvalidArgument unless x is [..., 1] or [..., 2] and the parameters fit it. `window` may be null.
Result<FourierPlan> planFourier(const FourierTransformParamsT& params, const Shape& x, const Shape* window);
/// The same for a node, with its window if it has one.
Result<FourierPlan> planFourier(const FourierTransformParamsT& params, std::span<const Tensor* const> inputs);

/// The value of scalar input `i`, or `fallback` if it is absent. InvalidArgument unless it is one integer; `name` is
/// for the message.
Result<int64_t> scalarOr(const ShapeArgs& args, size_t i, const char* name, int64_t fallback);

/// Operations of the transforms: 5 n log2 n, half of that if one side is real.
double flopsOf(const FourierPlan& plan);

}  // namespace opkit::ops::dft
