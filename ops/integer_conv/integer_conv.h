// Shared by the files of ConvInteger and QLinearConv: a convolution whose weights are the rows of a product.
#pragma once

#include "ops/conv/conv.h"
#include "ops/integer_conv/integer_conv_parts.h"
#include "ops/integer_matmul/integer_matmul.h"

namespace opkit::ops::integer_conv {

struct IntegerConvPlan {
  conv::ConvPlan conv;
  integer_matmul::Lines wZeroPoint, wScale;  // by output channel
};

/// `shapes` are those of the inputs, null where one is absent. InvalidArgument if they do not fit each other;
/// Unsupported with a clamp.
Result<IntegerConvPlan> planIntegerConv(const conv::ConvParamsT& params, const integer_matmul::Roles& roles,
                                        std::span<const Shape* const> shapes);

}  // namespace opkit::ops::integer_conv
