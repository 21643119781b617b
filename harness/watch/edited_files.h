// The shaders that an edited file is for, and the operators whose kernels run a shader: read from the source tree.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/op/op_registry.h"

namespace opkit::harness {

struct EditedFile {
  std::string path;  // below the source tree: "shaders/gemm/gemm_thin.comp", "shaders/include/rows.glsl"
  /// "gemm/gemm_thin": itself, those that include it, or those that the C++ of a kernel dispatches.
  std::set<std::string> shaders;

  bool isCode() const { return path.ends_with(".cpp"); }
};

/// Of these paths below `root`, shaders, the files that shaders include and C++ that includes the header of a shader. A
/// .glsl that no shader includes has no shaders.
std::vector<EditedFile> editedFiles(const std::string& root, const std::set<std::string>& paths);

/// The operators in whose folders a source includes the header of the shader, directly or through other headers; empty
/// if the engine runs it for any operator.
std::vector<std::string> operatorsOf(const std::string& shader, const std::string& root, const OpRegistry& registry);

}  // namespace opkit::harness
