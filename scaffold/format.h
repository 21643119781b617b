// Format: formats rendered text in the style of the tree.
#pragma once

#include <string>

#include "scaffold/plan.h"

namespace opkit::scaffold {

/// Removes runs of empty lines; formats C++ with clang-format for `path` if installed, since long names change the line
/// breaks of a template.
std::string formatted(const Tree& tree, const std::string& path, const std::string& text);

}  // namespace opkit::scaffold
