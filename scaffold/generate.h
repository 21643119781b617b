// Generate: makes the plan of a new operator from a spec and a tree. Nothing is written.
#pragma once

#include "scaffold/kinds.h"
#include "scaffold/plan.h"
#include "scaffold/templates.h"

namespace opkit::scaffold {

/// The changes that add the operator: separate files, or rows in a family's files. Existing files with the same text
/// are empty changes. InvalidArgument if a name is not usable or taken; with `force`, files that exist with another
/// text are overwritten instead of refused.
Result<Plan> planNew(const Tree& tree, const Templates& templates, const Spec& spec, bool force);

/// The context that the templates of a completed spec see; for tests and for single files.
kainjow::mustache::data contextOf(const Spec& spec);

/// "softmax", "op_cpu.cpp" -> "ops/softmax/softmax_cpu.cpp"; shaders go to shaders/.
std::string targetOf(const std::string& op, const std::string& file);

}  // namespace opkit::scaffold
