// The compiler stage of the shader build: GLSL -> SPIR-V -> validated -> optimised, in process.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/backend/vulkan/shader_build/variants.h"

namespace opkit::shader_build {

struct Compiled {
  std::vector<uint32_t> plain;      // front-end output: every declaration is still present for reflection
  std::vector<uint32_t> optimized;  // what ships
};

enum class DebugInfo { Strip, Keep };

/// Compiles one variant of the compute shader `path` for Vulkan 1.2. `includes` are searched after the including
/// file's folder, then the names of `texts`; a path in `texts` has that text instead of the file's. Every file read is
/// added to `dependencies`. InvalidArgument carries "file:line: error: ..." lines. With DebugInfo::Keep the code tells
/// the source line of each instruction and the names of variables.
Result<Compiled> compile(const std::string& path, const std::string& source, const Defines& defines,
                         const std::vector<std::string>& includes, std::set<std::string>& dependencies,
                         const std::map<std::string, std::string>& texts = {}, DebugInfo debug = DebugInfo::Strip);

}  // namespace opkit::shader_build
