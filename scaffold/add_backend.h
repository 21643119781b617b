// Adding a backend's kernel to an operator that has none there.
#pragma once

#include "scaffold/plan.h"
#include "scaffold/templates.h"

namespace opkit::scaffold {

/// The files that give operator `type` a kernel on `backend` (cpu or vulkan), as `new` would have written them. The
/// spec comes from the record; for an operator without one, `kind` chooses the kernel to start from. InvalidArgument if
/// the kernel exists, the operator is lowered or decomposed, or no kind is known.
Result<Plan> planAddBackend(const Tree& tree, const Templates& templates, const std::string& type,
                            const std::string& backend, const std::string& kind);

}  // namespace opkit::scaffold
