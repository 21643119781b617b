// A new plugin: a project outside the tree with one operator, its kernels and its cases.
#pragma once

#include "scaffold/plan.h"
#include "scaffold/templates.h"

namespace opkit::scaffold {

/// The files of the project in `folder` (created if missing). `language` is "c" or "cpp"; `domain` qualifies the
/// operator, com.example::HardShrink for "hard_shrink". InvalidArgument for names that cannot be used, and for files
/// that exist with another text (without `force`).
Result<Plan> planPlugin(const Tree& folder, const Templates& templates, const std::string& name,
                        const std::string& domain, const std::string& language, bool force);

}  // namespace opkit::scaffold
