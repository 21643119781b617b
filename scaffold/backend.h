// A new backend: a copy of engine/backend/null under another name; the build finds it.
#pragma once

#include "scaffold/plan.h"

namespace opkit::scaffold {

/// The files of engine/backend/<name>/. InvalidArgument if the name is not a lower-case word, is a keyword or is taken,
/// or a file exists with another text (without `force`).
Result<Plan> planBackend(const Tree& tree, const std::string& name, bool force);

}  // namespace opkit::scaffold
