// Forced kernels: `bench --kernel` times a kernel that another one precedes.
#pragma once

#include "engine/op/op_registry.h"
#include "harness/cases/case_file.h"

namespace opkit::harness {

/// A copy of `registry` in which the kernel comes first for the operators of `catalogue` on the backends; its cases
/// must run it, so that a kernel that refuses a case fails it. `kernel` is "PROVIDER/KERNEL", as tables print it, or a
/// provider for its kernel without a name, which is then called "PROVIDER/unnamed". InvalidArgument lists the kernels
/// if an operator has none of this name on a backend.
Result<OpRegistry> forceKernel(const std::string& kernel, const std::vector<std::string>& backends,
                               const OpRegistry& registry, Catalogue& catalogue);

}  // namespace opkit::harness
