// dataForm: the form of harness/cases.md that gives random contents like those of a tensor.
#pragma once

#include <string>

#include "engine/tensor/tensor.h"

namespace opkit::harness {

/// Every value of a host tensor: {"values":[..]}.
std::string exactForm(const Tensor& tensor);

/// The range of the finite values, one value if all are equal, "" if the lane should decide. `known` values do not
/// depend on data: of a few integers (indices, zero points) every value stays. REQUIRES a tensor of numbers.
std::string randomForm(const Tensor& tensor, bool known);

}  // namespace opkit::harness
