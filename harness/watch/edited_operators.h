// The operators that an edited file is part of: read from the source tree and from git.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/op/op_registry.h"

namespace opkit::harness {

/// "ops/gemm/gemm_thin_vulkan.h" of each line that includes a header of the tree.
std::set<std::string> headersIn(const std::string& path);

/// The operators in whose folders a source includes the header of the shader, directly or through other headers; empty
/// if the engine runs it for any operator.
std::vector<std::string> operatorsOf(const std::string& shader, const std::string& root, const OpRegistry& registry);

/// Files below `root` that differ from the last commit, untracked ones too. Empty if `root` is not the root of a git
/// tree, or git is not installed.
std::vector<std::string> uncommittedFiles(const std::string& root);

/// The operators whose kernels or cases these paths are part of: files of their folders but tests, what those include,
/// and shaders. Of shaders that the engine runs for any operator, and of its code that dispatches them: the operators
/// whose traced cases run them, that move data (raster), or that are loops. Other files of the engine are part of every
/// operator and count for none.
std::set<std::string> operatorsOfFiles(const std::vector<std::string>& paths, const std::string& root,
                                       const OpRegistry& registry);

}  // namespace opkit::harness
