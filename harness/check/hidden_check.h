// hidden: what a mask, a length or another input hides may hold anything. A part of `check`.
#pragma once

#include "engine/op/hidden.h"
#include "harness/check/variants.h"

namespace opkit::harness {

/// The hidden elements of the floating inputs of a case, by the card. Unsupported, with the reason, if there are none.
/// REQUIRES that the case was prepared without an error.
Result<HiddenElements> hiddenElements(const OpDef& def, const PreparedCase& c);

/// A copy with `value` in place of the elements that are hidden.
Result<Tensor> withHidden(const Tensor& tensor, const std::vector<bool>& hidden, double value);

/// Fills the hidden elements of the case with infinity and with NaN. A fresh Session must give the bits that it gives
/// without; operators that sum must be within the bounds. With NaN, every variant of `devices` (null: none) and every
/// other kernel (`judgeKernels`) must be within the bounds too. Internal also where the oracle itself reads such an
/// element. Unsupported where nothing is hidden.
Status checkHidden(const VariantContext& context, DeviceVariants* devices,
                   const std::function<Status(const PreparedCase&)>& judgeKernels);

}  // namespace opkit::harness
