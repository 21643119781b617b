// The shaders that an edited file is for, read from the source tree.
#pragma once

#include <set>
#include <string>
#include <vector>

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

}  // namespace opkit::harness
