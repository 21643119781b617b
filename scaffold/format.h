// Format: rendered text as the tree's style wants it.
#pragma once

#include <string>

#include "scaffold/plan.h"

namespace opkit::scaffold {

/// Text without runs of empty lines; C++ also as clang-format lays it out for `path`, where clang-format is installed:
/// names of any length would break the lines of a template elsewhere.
std::string formatted(const Tree& tree, const std::string& path, const std::string& text);

/// A word that a POSIX shell reads as `text`; in quotes where it needs them.
std::string shellQuoted(const std::string& text);

}  // namespace opkit::scaffold
