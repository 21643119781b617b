// A further kernel of an operator that has one on the backend: it begins as a copy and comes before the others.
#pragma once

#include "scaffold/plan.h"
#include "scaffold/templates.h"

namespace opkit::scaffold {

struct FurtherKernel {
  std::string type;     // of the operator
  std::string backend;  // cpu or vulkan
  std::string name;     // snake_case
};

/// The source, the copied shaders and a case that the kernel must run, with their record. InvalidArgument for an
/// unknown operator or backend, an operator without kernels of its own there, a name that cannot be used, and for
/// files that exist.
Result<Plan> planFurtherKernel(const Tree& tree, const Templates& templates, const FurtherKernel& kernel);

/// The changes that undo it. Without `force`, InvalidArgument names a file that was edited since. With it, such a file
/// is removed, but a case that was edited stays.
Result<Plan> planRemoveFurtherKernel(const Tree& tree, const FurtherKernel& kernel, bool force);

}  // namespace opkit::scaffold
