// takesNoKernels: operators that no backend asks a kernel for. A pure function.
#pragma once

#include <string_view>

#include "engine/op/op_def.h"

namespace opkit {

/// The reason why no kernel of the operator is ever asked; empty if kernels run it.
std::string_view takesNoKernels(const OpDef& def);

}  // namespace opkit
